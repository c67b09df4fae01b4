"""The one table of formats: what is in it, and what other packages may add to it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamcoref import formats
from streamcoref.errors import StreamcorefError
from streamcoref.formats import FORMATS, Format, format_named, format_of_output, readable, writable
from streamcoref.formats.table import FormatTable

ROOT = Path(__file__).resolve().parents[2]
# Those that users rely on. Name: its endings, whether it is read, whether documents, events or stores are written
TABLE = {
    "pieces": ((".pieces.jsonl",), True, ""),
    "jsonlines": ((".jsonl", ".jsonlines"), True, "documents"),
    "litbank": ((".litbank.conll",), True, "documents"),
    "conll": ((".conll", "_conll"), True, "documents"),
    "conllu": ((".conllu",), True, "documents"),
    "text": ((".txt",), True, ""),
    "docx": ((".docx", ".docm"), True, ""),
    "epub": ((".epub",), True, ""),
    "markdown": ((".md", ".markdown"), True, ""),
    "pdf": ((".pdf",), True, ""),
    "csv": ((".csv",), False, "documents"),
    "entities": ((".entities.txt", ".txt"), False, "documents"),
    "events": ((".events.jsonl",), False, "events"),
    "html": ((".html", ".htm", ".xhtml"), True, "documents"),
    "json": ((".json",), False, "documents"),
    "resolved": ((".resolved.txt",), False, "documents"),
    "sqlite": ((".sqlite", ".sqlite3", ".db"), False, "store"),
}


def written(known: Format) -> str:
    return "documents" if known.write else "events" if known.write_event else "store" if known.is_store else ""


def test_the_formats_in_the_order_in_which_they_are_asked() -> None:
    found = {name: (f.endings, f.read is not None, written(f)) for name, f in FORMATS.items() if name in TABLE}
    assert list(found.items()) == list(TABLE.items())
    assert all(known.name == name and known.description for name, known in FORMATS.items())
    assert readable() == [known for known in FORMATS.values() if known.read]
    assert writable() == [known for known in FORMATS.values() if known.write]
    assert [name for name, f in FORMATS.items() if f.is_prose] == ["text"]
    assert [name for name, f in FORMATS.items() if f.is_store] == ["sqlite"]
    assert [name for name, f in FORMATS.items() if f.extract] == ["docx", "epub", "markdown", "pdf", "html"]
    assert [name for name, f in FORMATS.items() if f.needs_tokenizer] == ["pieces"]


def test_every_module_with_a_format_is_in_the_table() -> None:
    files = Path(formats.__file__).parent.glob("*.py")
    assert sorted(FORMATS) == sorted(
        re.search(r'^FORMAT = Format\(\s*name="(\w+)"', text, re.MULTILINE)[1]  # type: ignore[index]
        for text in (file.read_text(encoding="utf-8") for file in files)
        if re.search("^FORMAT = Format", text, re.MULTILINE)
    )


def test_no_ending_is_read_or_written_in_two_formats() -> None:
    for known in (readable(), [f for f in FORMATS.values() if written(f) or f.needs_tokenizer]):
        endings = Counter(ending for format_ in known for ending in format_.endings)
        assert set(endings.values()) == {1}
        assert all(ending == ending.lower() for ending in endings)


@pytest.mark.parametrize(
    ("file_name", "name"),
    [
        *(
            (f"a{ending}", name)
            for name, (endings, _, out) in TABLE.items()
            for ending in endings
            if out or name == "pieces"
        ),
        ("A.CSV", "csv"),
        ("a.b.jsonl.gz", "jsonlines"),
        ("a.txt", "entities"),
        ("folder/a.entities.txt.gz", "entities"),
    ],
)
def test_the_name_of_an_output_tells_its_format(file_name: str, name: str) -> None:
    assert format_of_output(file_name).name == name


@pytest.mark.parametrize("file_name", ["a", "a.docx", "a.epub", "jsonl", "-", "a.sqlite.gz", "a.gz"])
def test_a_name_that_tells_nothing(file_name: str) -> None:
    with pytest.raises(StreamcorefError, match=f"^{file_name}: the name does not tell .*csv, .*; name its format"):
        format_of_output(file_name)


def test_an_old_name_is_refused_with_a_hint() -> None:
    with pytest.raises(StreamcorefError, match=r"no format 'jsonl' \(event lines are called events, documents json"):
        format_named("jsonl")
    assert format_named("events") is FORMATS["events"]


PLUGIN = """
from streamcoref.formats import Format
def write(documents, stream):
    for document in documents:
        stream.write(document.key + "\\n")
KEYS = Format(name="keys", description="the keys", endings=(".keys",), write=write)
EARLY = Format(
    name="early", description="first asked", endings=(".early",), precedence=1,
    read=lambda lines, path: iter(()), matches=lambda name, lines: lines[:1] == ["early\\n"],
)
OTHER = Format(name="another", description="", endings=())
VALUE = 3
"""
POINTS = """[streamcoref.formats]
keys = their_formats:KEYS
early = their_formats:EARLY
conll = their_formats:KEYS
gone = their_formats:MISSING
lost = no_such_module:FORMAT
value = their_formats:VALUE
misnamed = their_formats:OTHER
"""


@pytest.fixture
def plugin(tmp_path: Path) -> Path:
    """A folder for sys.path in which a package with formats is installed, some of them broken."""
    folder = tmp_path / "site"
    information = folder / "their_formats-1.0.dist-info"
    information.mkdir(parents=True)
    (folder / "their_formats.py").write_text(PLUGIN)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: their-formats\nVersion: 1.0\n")
    (information / "entry_points.txt").write_text(POINTS)
    return folder


@pytest.fixture
def table(plugin: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FormatTable]:
    monkeypatch.syspath_prepend(plugin)
    yield FormatTable()
    sys.modules.pop("their_formats", None)


def test_formats_of_other_packages(table: FormatTable) -> None:
    assert table["keys"].endings == (".keys",)
    assert [known.name for known in table.working()][:2] == ["early", "pieces"]
    assert "keys" in table
    assert "gone" in table
    assert len(table) == len(FORMATS) + 6
    assert set(table) == {*FORMATS, "keys", "early", "gone", "lost", "value", "misnamed"}
    assert table["conll"] is FORMATS["conll"], "ours is meant"
    with pytest.raises(KeyError):
        table["none"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("gone", "the format 'gone', which their-formats adds, cannot be loaded: AttributeError: .*MISSING"),
        ("lost", "the format 'lost', which their-formats adds, cannot be loaded: ModuleNotFoundError"),
        ("value", "the format 'value', which their-formats adds, is not a Format but a int"),
        ("misnamed", "the format 'misnamed', which their-formats adds, calls itself 'another'"),
    ],
)
def test_a_broken_one_is_named(table: FormatTable, name: str, message: str) -> None:
    with pytest.raises(StreamcorefError, match=message):
        table[name]
    with pytest.raises(StreamcorefError, match="which their-formats adds"):
        list(table.values())


def test_a_broken_one_is_in_nobodys_way(plugin: Path, tmp_path: Path) -> None:
    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        program = "from streamcoref.cli import main; main()"
        command = [sys.executable, "-c", program, "corpus", "convert", *map(str, arguments)]
        paths = os.pathsep.join([str(ROOT / "src"), str(plugin)])
        environment = os.environ | {"PYTHONPATH": paths}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)

    source = tmp_path / "a.jsonl"
    source.write_text('{"doc_key": "k", "sentences": [["a"]]}\n')
    assert run(source, tmp_path / "a.csv").returncode == 0
    assert run(source, tmp_path / "a.keys").returncode == 0
    assert (tmp_path / "a.keys").read_text() == "k\n"
    refused = run(source, tmp_path / "x", "--to", "gone")
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
    assert "the format 'gone', which their-formats adds" in refused.stderr
    unknown = run(source, tmp_path / "x", "--to", "none")
    assert (unknown.returncode, "no format 'none'" in unknown.stderr) == (2, True)
    (tmp_path / "b").write_text("early\n")
    assert run(tmp_path / "b", tmp_path / "b.csv").returncode == 0


def test_import_loads_no_format_before_it_is_wanted() -> None:
    code = "import sys, streamcoref.formats; sys.exit('streamcoref.formats.conllu' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
