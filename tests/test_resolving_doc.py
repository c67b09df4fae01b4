"""The examples of docs/resolving.md run, in order."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from streamcoref.model import checkpoint
from streamcoref.options import ResolveOptions
from tests import toy_resolver

PAGE = (Path(__file__).parents[1] / "docs" / "resolving.md").read_text(encoding="utf-8")


def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With a small random model in the place of the bundled one."""
    monkeypatch.setattr(checkpoint, "BUNDLED", toy_resolver.save_model(tmp_path / "model"))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 12
    names: dict[str, Any] = {"__name__": "the_page"}
    for block in blocks:
        exec(compile(block, "docs/resolving.md", "exec", dont_inherit=True), names)
    shown = capsys.readouterr().out
    assert "text-2" in shown
    assert "book.sqlite: stopped and saved" in shown
    assert "ReadingProgress(" in shown


def test_every_option_is_described() -> None:
    for name in ResolveOptions.model_fields:
        assert f"| `{name}` |" in PAGE
