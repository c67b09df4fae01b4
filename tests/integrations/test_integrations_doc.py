"""The examples of docs/integrations.md run, in order."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from streamcoref.model import checkpoint
from tests import toy_resolver

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_the_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With a small random model in the place of the bundled one."""
    for package in ("spacy", "pandas", "polars"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'streamcoref[{package}]'")
    monkeypatch.setattr(checkpoint, "BUNDLED", toy_resolver.save_model(tmp_path / "model"))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    assert len(blocks) == 6
    names: dict[str, Any] = {"__name__": "the_page"}
    for block in blocks:
        exec(compile(block, "docs/integrations.md", "exec", dont_inherit=True), names)
    assert "coref_1" in capsys.readouterr().out
    assert names["html"].startswith("<div")
    assert len(names["docs"]) == 2
    assert "my corpus, dev" in (tmp_path / "my-model" / "README.md").read_text(encoding="utf-8")


def test_the_table_names_extras_that_there_are() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = set(re.findall(r"streamcoref\[(\w+)\]", PAGE))
    assert named == {"spacy", "pandas", "polars", "ray"}
    assert named <= set(project["optional-dependencies"])


def test_every_key_of_the_config_is_described() -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'streamcoref[spacy]'")
    import streamcoref.integrations.spacy  # noqa: F401

    keys = spacy.Language.get_factory_meta("streamcoref").default_config
    table = PAGE.partition("| Key | Default |")[2].partition("\n\n")[0]
    assert set(re.findall(r"`(\w+)`", table)) >= set(keys)
