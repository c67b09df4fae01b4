"""What the tests of commands share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small random model in a folder."""
    from tests.cli.toy_resolving import save_model  # torch, which not every command needs

    return save_model(tmp_path_factory.mktemp("models") / "incremental")
