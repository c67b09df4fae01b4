"""The Python of docs/checkpoints.md runs, on the small checkpoint of these tests."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from streamcoref.convert import Imported
from streamcoref.model.checkpoint import load_checkpoint
from tests.conftest import ROOT

TINY = Path(__file__).parent / "data" / "spanbert_tiny"


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", (ROOT / "docs/checkpoints.md").read_text(encoding="utf-8"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    shutil.copytree(TINY, "spanbert_large")
    names: dict[str, object] = {}
    exec(code, names)
    imported = names["imported"]
    assert isinstance(imported, Imported)
    assert (imported.kind, list(imported.taken)) == ("incremental", ["encoder", "Spans", "PairScore"])
    assert "Update" in imported.new
    assert load_checkpoint(Path("models/to-train")).config.kind == "incremental"
