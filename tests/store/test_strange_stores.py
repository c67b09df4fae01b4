"""Stores that were damaged, or changed by somebody: the same answer, or a sentence."""

from __future__ import annotations

import io
import random
import resource
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from streamcoref import StoppedError, StreamcorefError
from streamcoref.formats import files
from streamcoref.resolver import Resolver
from streamcoref.store import Store, chapters, job, mentions_in_context, said_in_context, write_table
from streamcoref.store.digests import write_sums
from streamcoref.store.schema import TABLES
from tests import toy_resolver

TALK = 'Anna Weber saw the captain. "I left her," said Mr. Doyle, "when you met him." Anna gave it to Mr. Doyle.\n\n'
TEXT = f"CHAPTER I\n\n{TALK}{TALK}CHAPTER II\n\n{TALK}" + toy_resolver.plain_text(4, 60).replace(" ", "  é ", 3)
# Names that were said once merge, and whoever is not mentioned for a while leaves the memory for the register.
OPTIONS: dict[str, Any] = {"merge": 1, "revive": 8, "evict": "one_distance:distance=12"}
MEGABYTES = 200  # by which the most memory that this process ever had may grow while it reads all these
STRANGE: list[Any] = [
    *(None, -1, 0, 1, 2, 7, 1 << 40, (1 << 63) - 1, 0.5, -1.5, 1e300, "", "x", "0", "{", "[]", "{}", '{"encoding": 3}'),
    *("[" * 5000, "\0", b"", b"x", b"\xff\xfe"),
]


@cache
def resolver() -> Resolver:
    """One that tells types, merges, and says who speaks, so that every table has something."""
    return toy_resolver.talking_resolver(types=True)


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_BYTES", 150)
    monkeypatch.setattr(job, "SAVE_SECONDS", 1e9)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def make(book: Path, path: Path, parts: int | None = None) -> bytes:
    """The bytes of a store: a complete one, or one that was stopped after some parts."""
    asked = 0

    def should_stop() -> bool:
        nonlocal asked
        asked += 1
        return parts is not None and asked > parts

    try:
        resolver().resolve_file(book, path, should_stop=should_stop, **OPTIONS).close()
    except StoppedError:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode = DELETE")
    return path.read_bytes()


def use(book: Path, path: Path) -> Any:
    """Everything that one does with a store: its answer, or None if it is refused. Other exceptions are failures."""
    try:
        with Store.open(path) as store:
            store.counts()
            for entity in store.entities(5):
                store.timeline(entity.id, 10)
                list(mentions_in_context(store, entity.id, 9))
                list(said_in_context(store, entity.id, 9))
            store.named("Anna")
            store.types()
            list(chapters(store))
            for table in ("csv", "quotations"):
                write_table(store, table, io.StringIO())
        resolver().resolve_file(book, path, **OPTIONS).close()
        return answer(path)
    except StreamcorefError:
        return None
    finally:
        for ending in ("-wal", "-shm", "-journal", "-writer"):
            path.with_name(path.name + ending).unlink(missing_ok=True)


def answer(path: Path) -> Any:
    """What is in a store, by its tables and by what is read of them, which goes by indices."""
    with closing(sqlite3.connect(path)) as connection:
        tables = ("entities", "mentions", "sections", "quotations", "merges")
        rows = [connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall() for table in tables]
    with Store.open(path) as store:
        entities = store.entities()
        mentions = [list(store.mentions(entity.id)) for entity in entities]
        return rows, entities, mentions, list(store.all_mentions()), list(store.quotations()), list(chapters(store))


def change_cell(choose: random.Random, path: Path) -> bool:
    """Whether something has changed: SQLite does not let everything happen, and some values are what they were."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        table = choose.choice(("input", "digests", *TABLES))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        key = {"register_words": "word, size, entity", "digests": "name"}.get(table, "rowid")
        rows = connection.execute(f"SELECT {key} FROM {table}").fetchall()
        if not rows:
            return False
        clause = f"WHERE ({key}) = ({', '.join('?' * len(rows[0]))})"
        row, column, value = choose.choice(rows), choose.choice(columns), choose.choice(STRANGE)
        before = list(connection.iterdump())
        try:
            if choose.random() < 0.1:
                connection.execute(f"DELETE FROM {table} {clause}", row)
            else:
                connection.execute(f"UPDATE {table} SET {column} = ? {clause}", (value, *row))
            connection.commit()
        except sqlite3.Error:
            return False
        return list(connection.iterdump()) != before


def change_bytes(choose: random.Random, path: Path) -> bool:
    data = bytearray(path.read_bytes())
    for _ in range(choose.choice((1, 4, 30))):
        # The schema and the input are at the beginning, and worth most.
        data[choose.randrange(choose.choice((100, 4096, 12288, len(data))))] = choose.randrange(256)
    path.write_bytes(data[: choose.choice((len(data), len(data), choose.randrange(len(data))))])
    return True


def change_cell_and_digests(choose: random.Random, path: Path) -> bool:
    """As somebody does who knows how stores are made."""
    changed = change_cell(choose, path)
    with closing(sqlite3.connect(path)) as connection, connection:
        write_sums(connection)
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, None])
@pytest.mark.parametrize(
    ("change", "cases"),
    [(change_cell, 500), (change_bytes, 500), (change_cell_and_digests, 150)],  # the last are read to their end
)
def test_every_change_is_noticed(
    change: Callable[[random.Random, Path], bool], cases: int, parts: int | None, book: Path, tmp_path: Path
) -> None:
    """The same answer or a sentence; but who makes digests of his own is believed, if what he says makes sense."""
    path, whole = tmp_path / "changed.sqlite", tmp_path / "whole.sqlite"
    make(book, whole)
    right = answer(whole)
    assert all(right[0])
    content = make(book, tmp_path / "store.sqlite", parts)
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as connection:
        (registered,) = connection.execute("SELECT count(*) FROM register").fetchone()
    assert (registered > 0) == (parts is not None)
    choose = random.Random(0 if parts is None else parts)
    outcomes: Counter[str] = Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    while outcomes.total() < cases:
        path.write_bytes(content)
        if change(choose, path):
            found = use(book, path)
            outcomes["refused" if found is None else "the same" if found == right else "another"] += 1
    assert outcomes["refused"] > cases / 10
    if change is not change_cell_and_digests:
        assert not outcomes["another"]
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES


UNLIKE = {table: f"its table {table} is not as it was written .*" for table in TABLES}
CHANGES = {
    "options that are no JSON": ("UPDATE input SET options = '{'", "its options cannot be read"),
    "options that are no table": ("UPDATE input SET options = '[1]'", "its options cannot be read"),
    "a size in words": ("UPDATE input SET size = 'large'", "it has values that no store has"),
    "words in a blob": ("UPDATE input SET words = x'00'", "it has values that no store has"),
    "not done, and no state": ("UPDATE input SET done = 0", "it has no state to go on from"),
    "done, and a state": ("UPDATE input SET state = x'00'", "it goes on after its end"),
    "half done": ("UPDATE input SET done = 0.5", "it has values that no store has"),
    "read beyond the end": ("UPDATE input SET bytes_read = size + 1", "more was read than there is"),
    "nothing": ("DELETE FROM input", "it does not say what it was made from"),
    "no mentions": ("DROP TABLE mentions", "its tables are not as they were made"),
    "another column": ("ALTER TABLE entities RENAME COLUMN name TO label", "its tables are not as they were made"),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON mentions BEGIN DELETE FROM entities; END",
        "its tables are not as they were made",
    ),
    "no index": ("DROP INDEX mentions_by_place", "its tables are not as they were made"),
    "another size": (
        "UPDATE entities SET size = size + 1 WHERE id = 0",
        UNLIKE["entities"],
    ),
    "a mention less": ("DELETE FROM mentions WHERE rowid = 3", UNLIKE["mentions"]),
    "a mention of another": (
        "UPDATE mentions SET entity = (SELECT max(id) FROM entities) WHERE rowid = 1",
        UNLIKE["mentions"],
    ),
    "a mention of nobody": (
        "INSERT INTO mentions SELECT 9999, 0, 1, 0, 1, 'x', 0, 0.5",
        UNLIKE["mentions"],
    ),
    "another end": (
        "UPDATE entities SET word_end = word_end + 1 WHERE id = 0",
        UNLIKE["entities"],
    ),
    "another beginning": (
        "UPDATE entities SET word_start = -1 WHERE id = 0",
        UNLIKE["entities"],
    ),
    "merged into nobody": ("UPDATE merges SET kept = 9999", UNLIKE["merges"]),
    "gone, and there": (
        "UPDATE OR REPLACE merges SET gone = (SELECT min(id) FROM entities)",
        UNLIKE["merges"],
    ),
    "said by nobody": (
        "UPDATE quotations SET speaker = 9999 WHERE rowid = 1",
        UNLIKE["quotations"],
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_is_wrong_is_said_when_a_store_is_opened(change: str, book: Path, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    make(book, path)
    statement, said = CHANGES[change]
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement)
        connection.commit()
    for use_it in (Store.open, lambda path: resolver().resolve_file(book, path, **OPTIONS)):
        with pytest.raises(StreamcorefError, match=rf"store\.sqlite: this store is damaged: ({said}); give force=True"):
            use_it(path)
    resolver().resolve_file(book, path, force=True, **OPTIONS).close()
    make(book, tmp_path / "whole.sqlite")
    assert answer(path) == answer(tmp_path / "whole.sqlite")
    assert not Path(f"{path}-wal").exists()
