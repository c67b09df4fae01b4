"""What is public is said in one place, `__all__`, and docs and examples use nothing else."""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

import streamcoref

ROOT = Path(__file__).parent.parent
PACKAGE = Path(streamcoref.__file__).parent
PUBLIC = [
    "streamcoref",
    "streamcoref.client",
    "streamcoref.convert",
    "streamcoref.corpora",
    "streamcoref.evaluation",
    "streamcoref.formats",
    "streamcoref.language",
    "streamcoref.metrics",
    "streamcoref.model",
    "streamcoref.ray",
    "streamcoref.server",
    "streamcoref.store",
    "streamcoref.text",
    "streamcoref.training",
]
# Of an extra: only where its package is installed.
EXTRA = {"streamcoref.integrations.spacy": "spacy"}
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted([*(ROOT / "examples").glob("*.py"), *(ROOT / "examples").glob("*.ipynb")])


def code(path: Path) -> Iterator[str]:
    """The Python of a script, of a notebook's cells, or of a page's blocks."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield text
        return
    if path.suffix == ".ipynb":
        cells = (cell for cell in json.loads(text)["cells"] if cell["cell_type"] == "code")
        yield from ("".join(line for line in cell["source"] if line[0] not in "!%") for cell in cells)
        return
    yield from re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def imports(path: Path) -> Iterator[tuple[str, str | None]]:
    """Modules of ours that are imported there, with the name that is taken from each."""
    for block in code(path):
        for node in ast.walk(ast.parse(block)):
            if isinstance(node, ast.Import):
                yield from ((alias.name, None) for alias in node.names if alias.name.split(".")[0] == "streamcoref")
            elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "streamcoref":
                yield from ((node.module or "", alias.name) for alias in node.names)


@pytest.mark.parametrize("module", [*PUBLIC, *EXTRA])
def test_all_that_is_named_is_there(module: str) -> None:
    if module in EXTRA:
        pytest.importorskip(EXTRA[module], reason=f"the extra {EXTRA[module]} is not installed")
    names = import_module(module).__all__
    assert list(names) == sorted(set(names), key=list(names).index)
    assert names
    for name in names:
        assert getattr(import_module(module), name) is not None
        assert not name.startswith("_") or name == "__version__"


@pytest.mark.parametrize("path", [*PAGES, *EXAMPLES], ids=lambda path: path.name)
def test_pages_and_examples_use_public_names_only(path: Path) -> None:
    for module, name in imports(path):
        assert module in PUBLIC, f"{path.name} imports {module}"
        assert name is None or name in import_module(module).__all__, f"{path.name} imports {name} from {module}"


def test_the_pages_do_import_something() -> None:
    assert len({found for path in [*PAGES, *EXAMPLES] for found in imports(path)}) > 20


def test_dir_shows_the_public_names_and_nothing_else() -> None:
    import_module("streamcoref.resolver")
    assert dir(streamcoref) == sorted(streamcoref.__all__)


def test_no_two_classes_have_one_name() -> None:
    places: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(path.relative_to(PACKAGE).as_posix())
    assert {name: found for name, found in places.items() if len(found) > 1} == {}
