"""`streamcoref resolve` on books as they come, and what is said where the packages to read them are missing."""

from __future__ import annotations

import json
import sys
import textwrap
from pathlib import Path

import pytest

pytest.importorskip("docx", reason="python-docx, which writes Word files, is not installed")
pytest.importorskip("pypdf", reason="the extra books is not installed")
pytest.importorskip("lxml", reason="the extra books is not installed")

import docx
import pypdf

from streamcoref.formats import read_documents
from tests.cli.commands import run_command
from tests.cli.toy_resolving import invoke, rows, run, text
from tests.text.books.making import epub, page, pdf

STORY = " ".join(text(150).split())
LINES = textwrap.wrap(STORY, 80)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same story as each kind of book."""
    monkeypatch.chdir(tmp_path)
    Path("book.epub").write_bytes(epub({"a.xhtml": page(f"<h1>Chapter 1</h1><p>{STORY}</p>")}))
    Path("book.html").write_text(f"<h1>Chapter 1</h1><p>{STORY}</p>", encoding="utf-8")
    Path("book.md").write_text(f"# Chapter 1\n\n{STORY}\n", encoding="utf-8")
    Path("book.pdf").write_bytes(pdf([["Chapter 1", *LINES]], [("Chapter 1", 1, 0)]))
    document = docx.Document()
    document.add_heading("Chapter 1", 1)
    document.add_paragraph(STORY)
    document.save("book.docx")
    return tmp_path


KINDS = ["epub", "html", "md", "docx", "pdf"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_book_of_any_kind_to_json_and_to_a_store(kind: str, model: Path) -> None:
    run(model, f"book.{kind}", "-o", "book.json")
    (answer,) = json.loads(Path("book.json").read_text(encoding="utf-8"))
    assert " ".join(answer["text"].split()) == f"Chapter 1 {STORY}"
    assert answer["key"] == "book"
    assert [(one["title"], one["start"], one["end"]) for one in answer["sections"]] == [
        ("Chapter 1", 0, len(answer["text"]))
    ]
    mentions = [mention for entity in answer["entities"] for mention in entity["mentions"]]
    assert len(mentions) > 10
    assert all(answer["text"][one["start"] : one["end"]] == one["text"] for one in mentions)

    run(model, f"book.{kind}", "-o", "book.sqlite")
    stored = rows(Path("book.sqlite"))
    assert sorted(row[2:4] for row in stored["mentions"]) == sorted((one["start"], one["end"]) for one in mentions)
    assert [row[1:] for row in stored["sections"]] == [("Chapter 1", 1, 0, len(answer["text"]))]
    Path(f"book.{kind}").unlink()
    assert "Chapter 1" in run_command("entities", "book.sqlite", "--by", "chapter")
    name = answer["entities"][0]["name"]
    assert "without their context" not in run_command("entities", "book.sqlite", "--name", name)


@pytest.mark.parametrize("kind", KINDS)
def test_events_and_lines_as_they_happen(kind: str, model: Path) -> None:
    events = run(model, f"book.{kind}", "--format", "events")
    assert run(model, f"book.{kind}", "--live", "--format", "events") == events
    assert '"document": "book"' in events


def test_several_books_into_a_folder_and_one_that_is_none(model: Path) -> None:
    Path("broken.epub").write_bytes(b"PK\x03\x04")
    result = invoke(
        "resolve", "--model", model, "book.epub", "broken.epub", "book.pdf", "-o", "out/", "--format", "csv"
    )
    assert result.exit_code == 2  # two would be written to one file
    Path("book.pdf").rename("other.pdf")
    result = invoke(
        "resolve", "--model", model, "book.epub", "broken.epub", "other.pdf", "-o", "out/", "--format", "csv"
    )
    assert result.exit_code == 1
    assert "broken.epub: this e-book is damaged" in result.stderr
    assert sorted(path.name for path in Path("out").iterdir()) == ["book.csv", "other.csv"]


def test_all_books_of_a_kind_in_a_folder(model: Path) -> None:
    run(model, ".", "--from", "epub", "-o", "out/", "--format", "json")
    assert [path.name for path in Path("out").iterdir()] == ["book.json"]


def test_a_book_through_a_pipe_must_be_named(model: Path) -> None:
    content = Path("book.epub").read_bytes()
    assert "-: this looks like the format epub, not like plain text; say what it is with --from" in run(
        model, "-", given=content, status=2
    )
    (answer,) = json.loads(run(model, "-", "--from", "epub", "--format", "json", given=content))
    assert answer["text"] == f"Chapter 1\n\n{STORY}"
    run(model, "-", "--from", "epub", "-o", "book.sqlite", given=content)
    assert (
        "complete already"
        in invoke("resolve", "--model", model, "-", "--from", "epub", "-o", "book.sqlite", input=content).stderr
    )


def test_the_encoding_of_a_page_can_be_named(model: Path) -> None:
    Path("latin.html").write_bytes(f"<p>{STORY}".encode("cp1252"))
    assert "not valid utf-8: byte 0xe9" in (said := run(model, "latin.html", status=2))
    assert "--encoding" in said
    (answer,) = json.loads(run(model, "latin.html", "--encoding", "cp1252", "--format", "json"))
    assert answer["text"] == STORY


def test_a_book_is_taken_out_once_though_it_is_looked_at_before(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain, times = pypdf.PdfReader, []
    monkeypatch.setattr(pypdf, "PdfReader", lambda *given: times.append(given) or plain(*given))
    run(model, "book.pdf", "-o", "book.sqlite")
    assert len(times) == 1


def test_other_commands_read_books_too() -> None:
    run_command("corpus", "convert", "book.epub", "book.jsonl")
    (document,) = read_documents("book.jsonl")
    assert document.text == f"Chapter 1\n\n{STORY}"
    assert [one.title for one in document.sections] == ["Chapter 1"]


@pytest.mark.parametrize(
    ("kind", "package"), [("epub", "lxml"), ("html", "lxml"), ("docx", "lxml"), ("md", "markdown_it"), ("pdf", "pypdf")]
)
def test_a_missing_package_is_said_with_the_command_that_installs_it(
    kind: str, package: str, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    said = run(model, f"book.{kind}", status=2)
    assert said == f"streamcoref: book.{kind}: {package} is not installed; run: pip install 'streamcoref[books]'\n"
