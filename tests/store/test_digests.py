"""The digests of a store: whatever else than a store changes a row of ours is noticed."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from streamcoref import StreamcorefError
from streamcoref.document import Mention, Quotation
from streamcoref.events import EntitiesMerged, EntityStarted, Event, MentionLinked, QuotationFound
from streamcoref.store import ReadingPosition, Store, StoreOrigin
from streamcoref.store.digests import write_sums
from streamcoref.store.schema import TABLES
from streamcoref.text.sections import Heading

ORIGIN = StoreOrigin("book.epub", 100, "abc", "default", "f1", json.dumps({"singletons": False}))
EVENTS: list[Event] = [
    *(EntityStarted(number, Mention(number, number + 1, number, number + 1, "x", 0, 0.5)) for number in range(4)),
    MentionLinked(1, Mention(7, 9, 14, 18, "Anna é", 1, 1.0)),
    QuotationFound(Quotation(0, 1, 0, 4, 1, 3, "named", 0.5)),
    EntitiesMerged(1, 3),
    EntitiesMerged(1, 2),
]
POSITION = ReadingPosition(20, 1, 20, 9, "", b"state")
STRANGE: list[Any] = [1, 1.0, -0.0, "12", "1.5", "é\0\U0001f600", b"\0", 1 << 62, float("inf"), float("nan"), ""]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store whose tables all have rows."""
    path = tmp_path / "book.sqlite"
    with Store.create(path, ORIGIN, text="CHAPTER I\n\nAnna was there.") as store:
        store.commit(EVENTS, POSITION, headings=[Heading("CHAPTER I", 1, 0), Heading("Part", 2, 0)])
        store.connection.execute("INSERT INTO register VALUES (9, x'00', NULL)")
        store.connection.execute("INSERT INTO register_words VALUES (5, 6, 9)")
    return path


def change(path: Path, statement: str) -> None:
    """As any other program may."""
    with closing(sqlite3.connect(path)) as connection, connection:
        assert connection.execute(statement).rowcount, statement


def cells(path: Path) -> Iterator[tuple[str, str]]:
    with closing(sqlite3.connect(path)) as connection:
        for table in (*TABLES, "text", "digests"):
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() != (0,)
            for _, name, *_ in connection.execute(f"PRAGMA table_info({table})"):
                if (table, name) != ("input", "id"):  # which is 1, by what SQLite checks
                    yield table, name


KEYS = {"register_words": "(word, size, entity)", "digests": "name"}


def first_row(table: str) -> str:
    key = KEYS.get(table, "rowid")
    return f"WHERE {key} = (SELECT {key.strip('()')} FROM {table} LIMIT 1)"


@pytest.mark.parametrize("value", ["8", "'8'", "8.5", "x'08'"])
def test_a_cell_that_changed(value: str, path: Path, tmp_path: Path) -> None:
    changed = tmp_path / "changed.sqlite"
    for table, column in cells(path):
        shutil.copy(path, changed)
        try:
            change(changed, f"UPDATE {table} SET {column} = {value} {first_row(table)}")
        except sqlite3.IntegrityError:  # SQLite does not let it happen
            continue
        with pytest.raises(StreamcorefError, match=r"changed\.sqlite: this store is damaged: .*; give force=True"):
            Store.open(changed)


@pytest.mark.parametrize("table", [*TABLES, "text"])
def test_a_row_that_went(table: str, path: Path) -> None:
    change(path, f"DELETE FROM {table} {first_row(table)}")
    said = "it does not say what" if table == "input" else f"its table {table} is not as it was written"
    with pytest.raises(StreamcorefError, match=said):
        Store.open(path)


@pytest.mark.parametrize("table", ["mentions", "sections", "quotations"])
def test_a_row_that_came_or_moved(table: str, path: Path, tmp_path: Path) -> None:
    """Those of the other tables have a key, and are what other columns say."""
    for statement in (f"INSERT INTO {table} SELECT * FROM {table} LIMIT 1", f"UPDATE {table} SET rowid = -rowid"):
        shutil.copy(path, changed := tmp_path / "changed.sqlite")
        change(changed, statement)
        with pytest.raises(StreamcorefError, match=f"its table {table} is not as it was written"):
            Store.open(changed)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("DELETE FROM digests", "its table input is not as it was written"),
        ("DELETE FROM digests WHERE name = 'text'", "its table text is not as it was written"),
        ("INSERT INTO digests VALUES ('songs', x'00')", "it has digests of tables that are not there"),
        ("DROP TABLE text", "it has digests of tables that are not there"),
    ],
)
def test_digests_that_came_or_went(statement: str, said: str, path: Path) -> None:
    change(path, statement)
    with pytest.raises(StreamcorefError, match=said):
        Store.open(path)


def test_an_index_that_leads_elsewhere(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'mentions_by_place'").fetchone()
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    data = bytearray(path.read_bytes())
    last = page * size - 1  # a page is filled from its end: there is the number of the first row, and
    assert data[last] == 9  # this is how SQLite writes 1
    data[last] = 8
    path.write_bytes(data)
    with pytest.raises(StreamcorefError, match="damaged: its file does not hang together"):
        Store.open(path)


def test_text_that_is_no_text(path: Path) -> None:
    change(path, "UPDATE entities SET name = CAST(x'ff' AS TEXT)")
    with pytest.raises(StreamcorefError, match=r"book\.sqlite: this store is damaged .*; give force=True"):
        Store.open(path)


def test_what_others_have_beside_is_theirs(path: Path) -> None:
    """Also to add an index to a table of ours, and to tidy the file up."""
    for statement in (
        "CREATE TABLE notes AS SELECT id, name FROM entities",
        "CREATE INDEX mentions_by_text ON mentions (text)",
        "CREATE VIEW people AS SELECT name FROM entities",
        "VACUUM",
    ):
        with closing(sqlite3.connect(path)) as connection:
            connection.execute(statement)
    with Store.open(path, writable=True) as store:
        store.commit([EntityStarted(9, Mention(9, 10, 18, 19, "x", 0, 0.5))], POSITION)
    with Store.open(path) as store:
        assert store.counts() == (3, 6)
        assert store.connection.execute("SELECT count(*) FROM notes").fetchone() == (2,)


def test_changes_by_hand_can_be_accepted(path: Path) -> None:
    change(path, "UPDATE entities SET name = 'Anna Weber' WHERE id = 1")
    with pytest.raises(StreamcorefError, match="its table entities is not as it was written"):
        Store.open(path)
    Store.accept(path)
    with Store.open(path, writable=True) as store:
        assert store.entity(1).name == "Anna Weber"
        with pytest.raises(StreamcorefError, match="another process is writing"):
            Store.accept(path)


def test_only_changes_that_make_sense_can_be_accepted(path: Path) -> None:
    change(path, "UPDATE entities SET size = 9 WHERE id = 1")
    with pytest.raises(StreamcorefError, match="damaged: its tables do not agree"):
        Store.accept(path)
    with pytest.raises(StreamcorefError, match="its table entities is not as it was written"):
        Store.open(path)
    with pytest.raises(StreamcorefError, match="no such store"):
        Store.accept(path.with_name("other.sqlite"))


def test_changes_by_an_open_store_need_not_be_accepted(path: Path) -> None:
    """Whatever they are: the digests are those of the rows as they are read again."""
    with Store.open(path, writable=True) as store:
        for value in STRANGE:
            store.connection.execute("INSERT INTO mentions VALUES (1, 2, 3, 7, 9, 'x', 0, ?)", (value,))
            store.connection.execute("UPDATE mentions SET start = ?, score = ? WHERE rowid < 4", (value, value))
            store.connection.execute("UPDATE register SET tracked = ?", (value,))
        store.connection.execute("DELETE FROM mentions WHERE rowid % 2")
        kept = store.connection.execute("SELECT * FROM digests").fetchall()
        write_sums(store.connection)
        assert store.connection.execute("SELECT * FROM digests").fetchall() == kept
    Store.open(path).close()


def test_a_commit_that_fails_leaves_rows_and_digests(path: Path) -> None:
    with Store.open(path, writable=True) as store:
        for events in ([EVENTS[0]], [EVENTS[4], EVENTS[0]]):  # it is there already
            with pytest.raises(StreamcorefError):
                store.commit(events, POSITION)
        Store.open(path).close()
        store.commit([EVENTS[4]], POSITION)
    Store.open(path).close()


def test_the_file_has_nothing_that_acts(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall() == []


def test_a_reader_checks_one_moment(path: Path) -> None:
    """What the writer has not committed is not there, and what it commits meanwhile does not disturb."""
    with Store.open(path, writable=True) as writer:
        writer.connection.execute("BEGIN")
        writer.connection.execute("UPDATE mentions SET score = 0.25")
        with Store.open(path) as reader:
            assert {mention.score for mention in reader.mentions(1)} == {0.5, 1.0}
        writer.connection.execute("COMMIT")
        with Store.open(path) as reader:
            assert {mention.score for mention in reader.mentions(1)} == {0.25}
