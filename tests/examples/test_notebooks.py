"""The notebooks in examples/ run from beginning to end, and what is kept in them are the outputs of such a run."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
NEEDS = ("nbformat", "nbclient", "ipykernel", "spacy", "pandas", "matplotlib")


def outputs(notebook: Any) -> list[Any]:
    return [output for cell in notebook["cells"] if cell["cell_type"] == "code" for output in cell["outputs"]]


def shown(notebook: Any) -> str:
    """All text and HTML of the outputs."""
    parts = []
    for output in outputs(notebook):
        values = [
            output.get("text", ""),
            *(output.get("data", {}).get(kind, "") for kind in ("text/html", "text/plain")),
        ]
        parts += ["".join(value) for value in values]
    return "\n".join(parts)


def pictures(notebook: Any) -> int:
    return sum("image/png" in output.get("data", {}) for output in outputs(notebook))


def test_there_are_three() -> None:
    assert [path.name for path in NOTEBOOKS] == ["first-look.ipynb", "novel.ipynb", "train-your-own.ipynb"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_it_was_run_from_beginning_to_end(path: Path) -> None:
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert len(outputs(notebook)) > 3
    assert all(output["output_type"] != "error" and output.get("name") != "stderr" for output in outputs(notebook))
    assert "/site-packages/" not in shown(notebook)
    assert path.stat().st_size < 300_000


def execute(name: str, folder: Path, changes: dict[str, str] | None = None) -> Any:
    """The notebook after a run in a folder with the files of examples/; `changes` make it shorter."""
    for package in NEEDS:
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'streamcoref[dev,plots]'")
    import nbformat
    from nbclient import NotebookClient

    for file in EXAMPLES.glob("marigold*"):
        shutil.copy(file, folder)
    notebook = nbformat.read(EXAMPLES / name, as_version=4)
    for old, new in (changes or {}).items():
        assert any(old in cell.source for cell in notebook.cells)
        for cell in notebook.cells:
            cell.source = cell.source.replace(old, new)
    for cell in notebook.cells:
        cell.pop("outputs", None)
        if cell.cell_type == "code":
            cell.outputs = []
    NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
    ).execute()
    return notebook


@pytest.fixture(autouse=True)
def one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.delenv("BOOK", raising=False)
    source = str(EXAMPLES.parent / "src")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([source, *filter(None, [os.environ.get("PYTHONPATH")])]))


@pytest.mark.slow
@pytest.mark.model
def test_a_first_look(tmp_path: Path) -> None:
    said = shown(execute("first-look.ipynb", tmp_path))
    assert "coref_1 Ingrid Vale" in said
    assert "EntityFinished 0 Paula" in said
    assert said.count('title="Ingrid Vale"') >= 8


@pytest.mark.slow
@pytest.mark.model
def test_the_people_of_a_novel(tmp_path: Path) -> None:
    notebook = execute("novel.ipynb", tmp_path)
    assert pictures(notebook) == 2
    assert "Tobias" in shown(notebook)
    assert (tmp_path / "marigold.sqlite").is_file()


@pytest.mark.slow
@pytest.mark.model
def test_training(tmp_path: Path) -> None:
    notebook = execute("train-your-own.ipynb", tmp_path, {'"epochs": 4': '"epochs": 1'})
    assert pictures(notebook) == 1
    said = shown(notebook)
    assert "bundled: CoNLL F1" in said
    assert "trained: CoNLL F1" in said
    assert "second half" in said
