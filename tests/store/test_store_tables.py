"""A store as the tables that a document of the same text has, by the library and by `streamcoref entities`."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamcoref import StreamcorefError
from streamcoref.cli import app
from streamcoref.events import with_answer
from streamcoref.formats import FORMATS
from streamcoref.resolver import Resolver
from streamcoref.store import Store, write_table
from streamcoref.text import document_from_text
from tests import toy_resolver

TEXT = (
    'Anna saw the captain. "I have lost the ship," said Anna. "=Where is it, captain?"\n\n'
    '"It is in the harbour," the captain said. He left her.\n\n"No," she said.\n\n'
) * 4


def make(folder: Path, resolver: Resolver) -> Path:
    (folder / "sea.txt").write_text(TEXT, encoding="utf-8")
    resolver.resolve_file(folder / "sea.txt", folder / "sea.sqlite").close()
    return folder / "sea.sqlite"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make(tmp_path_factory.mktemp("store"), toy_resolver.resolver())


def table(text: str, *, without: tuple[str, ...] = ()) -> list[dict[str, str]]:
    rows = csv.DictReader(io.StringIO(text, newline=""))
    return [{name: value for name, value in row.items() if name not in without} for row in rows]


def invoke(*arguments: object, status: int = 0) -> str:
    run = CliRunner().invoke(app, ["entities", *map(str, arguments)])
    assert run.exit_code == status, run.output
    return run.stdout if not status else str(run.exception)


@pytest.mark.parametrize("make_resolver", [toy_resolver.resolver, toy_resolver.typed_resolver])
@pytest.mark.parametrize("name", ["csv", "quotations"])
def test_a_store_has_the_rows_of_the_document(tmp_path: Path, name: str, make_resolver: Callable[[], Resolver]) -> None:
    """Only the numbers of entities differ: in a store they have gaps."""
    stream = make_resolver().stream()
    document = with_answer(document_from_text("sea", TEXT), stream.feed(TEXT) + stream.close())
    written, found = io.StringIO(), io.StringIO()
    write = FORMATS[name].write
    assert write is not None
    write([document], written)
    with Store.open(make(tmp_path, make_resolver())) as store:
        write_table(store, name, found)
        names = {one.id: one.name for one in store.entities()}
    numbers = ("entity", "speaker", "addressee")
    assert table(found.getvalue(), without=numbers) == table(written.getvalue(), without=numbers)
    rows = table(found.getvalue())
    assert len(rows) > 10
    if name == "quotations":
        said = [row for row in rows if row["speaker"]]
        assert said
        assert all(names[int(row["speaker"])] == row["speaker_name"] for row in said)


def test_on_the_command_line(path: Path, tmp_path: Path) -> None:
    whole = table(invoke(path, "--format", "quotations"))
    assert len(whole) == 16
    assert "=Where" in whole[1]["text"]
    speaker = next(row["speaker_name"] for row in whole if row["speaker"])
    one = table(invoke(path, "--says", speaker, "--format", "quotations"))
    assert one == [row for row in whole if row["speaker"] == one[0]["speaker"]]
    file = tmp_path / "sea.quotations.csv"
    assert invoke(path, "-o", file) == ""
    assert table(file.read_text()) == whole
    assert "the file exists" in invoke(path, "-o", file, status=1)
    invoke(path, "--says", speaker, "-o", tmp_path / "one.csv")
    assert table((tmp_path / "one.csv").read_text()) == one
    invoke(path, "-o", tmp_path / "mentions.csv")
    assert table((tmp_path / "mentions.csv").read_text())[0]["document"] == "sea"


def test_cells_are_defused_if_asked(path: Path) -> None:
    with Store.open(path) as store:
        stream = io.StringIO()
        write_table(store, "quotations", stream, defuse=True)
    plain, defused = table(invoke(path, "--format", "quotations")), table(stream.getvalue())
    assert table(invoke(path, "--format", "quotations", "--defuse")) == defused
    assert len(defused) == len(plain)


def test_a_text_that_is_gone_leaves_its_cells_empty(tmp_path: Path) -> None:
    path = make(tmp_path, toy_resolver.resolver())
    (tmp_path / "sea.txt").write_text("other", encoding="utf-8")
    run = CliRunner().invoke(app, ["entities", str(path), "--format", "quotations"])
    assert "quotations are written without their words" in run.stderr
    rows = table(run.stdout)
    assert {row["text"] for row in rows} == {""}
    assert len(rows) == 16
    with Store.open(path) as store, pytest.raises(StreamcorefError, match="no longer there or has changed"):
        write_table(store, "quotations", io.StringIO())


def test_what_makes_no_table(path: Path) -> None:
    assert "a store has no table 'json'; it can be written as csv or quotations" in invoke(
        path, "--format", "json", status=1
    )
    assert "give no --name, --type, --by, --top" in invoke(path, "--format", "csv", "--top", 3, status=1)
    assert "name one with --format or -o" in invoke(path, "--defuse", status=1)
    assert "is in the table quotations, not in csv" in invoke(path, "--format", "csv", "--says", "the", status=1)
