"""docs/formats.md: its table is the table, its Python runs, its errors are those that are printed."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from streamcoref.document import Document
from streamcoref.formats import FORMATS, Format, write_documents
from streamcoref.formats.entity_list import write as write_entities

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "formats.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, re.DOTALL)
NOTE = Document(
    key="note",
    words=("Ann", "ran", ".", "She", "fell", "."),
    sentence_ends=(3, 6),
    clusters=(((0, 1), (3, 4)),),
    text="Ann ran. She fell.",
    offsets=((0, 3), (4, 7), (7, 8), (9, 12), (13, 17), (17, 18)),
)


def rows() -> dict[str, list[str]]:
    """The cells of the table of formats by their names."""
    found = re.findall(r"^\| \[`(\w+)`\]\(#\w+\) \| (.*) \|$", PAGE, re.MULTILINE)
    return {name: [cell.strip() for cell in cells.split("|")] for name, cells in found}


def writing(known: Format) -> str:
    if known.write:
        return "✓"
    if known.needs_tokenizer:
        return "with a tokenizer"
    return "by `resolve`" if known.write_event or known.is_store else ""


def test_the_table_is_the_table() -> None:
    assert list(rows()) == list(FORMATS)
    for name, (endings, read, write, what) in rows().items():
        known = FORMATS[name]
        assert re.findall(r"`([^`]+)`", endings) == list(known.endings), name
        assert (read, write) == ("✓" if known.read else "", writing(known)), name
        assert what, name
        assert f"\n## `{name}`\n" in PAGE


def test_resolve_is_said_to_write_what_it_writes() -> None:
    page = (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8")
    (table,) = re.findall(r"^\| Format \| Ending \|.*?\n\n", page, re.DOTALL | re.MULTILINE)
    first = [row.split("|")[1] for row in table.strip().splitlines()[2:]]
    written = {name for name, known in FORMATS.items() if known.write or known.write_event or known.is_store}
    assert set(re.findall(r"`(\w+)`", " ".join(first))) == written


def test_the_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_documents([NOTE], "corpus.jsonl.gz", "jsonlines")
    assert Path("corpus.jsonl.gz").read_bytes()[:2] == gzip.compress(b"")[:2]
    names: dict[str, Any] = {}
    for code in (block for language, block in BLOCKS if language == "python"):
        exec(code, names)
        for statement, claim in re.findall(r'^(.*\S)  # "(\w+)"$', code, re.MULTILINE):
            assert eval(statement, names) == claim
    assert Path("corpus.html").read_text(encoding="utf-8").count("<article") == 1
    assert names["document"] == NOTE
    assert names["FORMAT"].name == "keys"
    with Path("a.keys").open("w") as stream:
        names["FORMAT"].write([NOTE], stream)
    assert Path("a.keys").read_text() == "note\n"


def test_its_imports_are_public() -> None:
    found = re.findall(r"^from (streamcoref[\w.]*) import (.*)$", PAGE, re.MULTILINE)
    assert found
    for module, imported in found:
        assert set(imported.split(", ")) <= set(import_module(module).__all__), module


def test_the_list_of_entities_is_as_shown(tmp_path: Path) -> None:
    with (tmp_path / "a").open("w+") as stream:
        write_entities([NOTE], stream)
    assert ("", (tmp_path / "a").read_text()) in BLOCKS


def test_the_errors_are_as_shown(tmp_path: Path) -> None:
    broken = {
        "a.conll": b"#begin document (a); part 000\na 0 0 w (0\n\n#end document\n",
        "b.jsonl": b'{"doc_key": "b", "sentences": [["w"]], "clusters": [[[1, 1]]]}\n',
        "c.jsonl": b"{broken\n",
        "d.txt": b"a\xff\n",
        "f.csv": b"",
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
    (shown,) = (block for _, block in BLOCKS if block.startswith("streamcoref: a.conll"))
    program = "from streamcoref.cli import main; main()"
    for line in shown.splitlines():
        name = line.split()[1].split(":")[0]
        target = ["f.csv"] if name == "f.csv" else ["out.json"]
        source = [str(ROOT / "examples" / "marigold.conllu")] if name == "f.csv" else [name]
        command = [sys.executable, "-c", program, "corpus", "convert", *source, *target]
        result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (2, f"{line}\n")
