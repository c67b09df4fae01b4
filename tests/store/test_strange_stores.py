"""Stores that were damaged, or changed by somebody: the same answer, or a sentence."""

from __future__ import annotations

import io
import random
import sqlite3
from collections import Counter
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from streamcoref import StoppedError, StreamcorefError
from streamcoref.formats import files
from streamcoref.resolver import Resolver
from streamcoref.store import Store, chapters, job, mentions_in_context, said_in_context, write_table
from tests import toy_resolver

TALK = 'Anna Weber saw the captain. "I left her," said Mr. Doyle, "when you met him." Anna gave it to Mr. Doyle.\n\n'
TEXT = f"CHAPTER I\n\n{TALK}{TALK}CHAPTER II\n\n{TALK}" + toy_resolver.plain_text(4, 60).replace(" ", "  é ", 3)
# Names that were said once merge, and whoever is not mentioned for a while leaves the memory for the register.
OPTIONS: dict[str, Any] = {"merge": 1, "revive": 8, "evict": "one_distance:distance=12"}
CELLS = 2000
BYTES = 1000
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


def use(book: Path, path: Path) -> str:
    """Everything that one does with a store. Anything else that is raised is a failure."""
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
    except StreamcorefError as error:
        return "refused" if "\n" not in str(error) else f"refused at length: {error}"
    finally:
        for ending in ("-wal", "-shm", "-journal", "-writer"):
            path.with_name(path.name + ending).unlink(missing_ok=True)
    return "used"


def answer(path: Path) -> Any:
    with closing(sqlite3.connect(path)) as connection:
        tables = ("entities", "mentions", "quotations", "merges")
        return [connection.execute(f"SELECT * FROM {table} ORDER BY rowid").fetchall() for table in tables]


def change_cell(choose: random.Random, path: Path) -> str:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        table = choose.choice(
            ("input", "input", "entities", "mentions", "sections", "quotations", "merges", "register", "register_words")
        )
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
        column = choose.choice(columns)
        (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        if not count:
            return ""
        key = "(word, size, entity)" if table == "register_words" else "rowid"
        clause = f"WHERE {key} = (SELECT {key.strip('()')} FROM {table} LIMIT 1 OFFSET {choose.randrange(count)})"
        value = choose.choice(STRANGE)
        try:
            if choose.random() < 0.1:
                connection.execute(f"DELETE FROM {table} {clause}")
            else:
                connection.execute(f"UPDATE {table} SET {column} = ? {clause}", (value,))
            connection.commit()
        except sqlite3.Error:  # SQLite itself does not let it happen
            return ""
    return f"{table}.{column}"


@pytest.mark.slow
@pytest.mark.parametrize("parts", [3, None])
def test_changed_cells(parts: int | None, book: Path, tmp_path: Path) -> None:
    """What the input says is compared with the text and the state: it is as it was, or refused."""
    whole = tmp_path / "whole.sqlite"
    make(book, whole)
    assert all(answer(whole))
    content = make(book, tmp_path / "store.sqlite", parts)
    with closing(sqlite3.connect(tmp_path / "store.sqlite")) as connection:
        (registered,) = connection.execute("SELECT count(*) FROM register").fetchone()
    assert (registered > 0) == (parts is not None)
    path = tmp_path / "changed.sqlite"
    choose = random.Random(0 if parts is None else parts)
    outcomes: Counter[str] = Counter()
    for _ in range(CELLS // 2):
        path.write_bytes(content)
        place = change_cell(choose, path)
        outcome = use(book, path)
        outcomes[outcome] += 1
        if outcome == "used" and place.startswith(("input.", "register.record")):
            assert answer(path) == answer(whole), place
    assert outcomes.keys() == {"used", "refused"}
    assert min(outcomes.values()) > CELLS / 20, outcomes


@pytest.mark.slow
@pytest.mark.parametrize("parts", [2, None])
def test_changed_bytes(parts: int | None, book: Path, tmp_path: Path) -> None:
    content = make(book, tmp_path / "store.sqlite", parts)
    path = tmp_path / "changed.sqlite"
    choose = random.Random(1 if parts is None else parts)
    outcomes: Counter[str] = Counter()
    for _ in range(BYTES // 2):
        data = bytearray(content)
        for _ in range(choose.choice((1, 4, 30))):
            # The schema and the input are at the beginning, and worth most.
            place = choose.randrange(choose.choice((100, 4096, 12288, len(data))))
            data[place] = choose.randrange(256)
        path.write_bytes(data[: choose.choice((len(data), len(data), choose.randrange(len(data))))])
        outcomes[use(book, path)] += 1
    assert outcomes.keys() <= {"used", "refused"}, outcomes
    assert outcomes["refused"] > BYTES / 20


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
    "another size": ("UPDATE entities SET size = size + 1 WHERE id = 0", "its tables do not agree"),
    "a mention less": ("DELETE FROM mentions WHERE rowid = 3", "its tables do not agree"),
    "a mention of another": (
        "UPDATE mentions SET entity = (SELECT max(id) FROM entities) WHERE rowid = 1",
        "its tables do not agree",
    ),
    "a mention of nobody": ("INSERT INTO mentions SELECT 9999, 0, 1, 0, 1, 'x', 0, 0.5", "its tables do not agree"),
    "another end": ("UPDATE entities SET word_end = word_end + 1 WHERE id = 0", "its tables do not agree"),
    "another beginning": ("UPDATE entities SET word_start = -1 WHERE id = 0", "its tables do not agree"),
    "merged into nobody": ("UPDATE merges SET kept = 9999", "its tables do not agree"),
    "gone, and there": (
        "UPDATE OR REPLACE merges SET gone = (SELECT min(id) FROM entities)",
        "its tables do not agree",
    ),
    "said by nobody": ("UPDATE quotations SET speaker = 9999 WHERE rowid = 1", "its tables do not agree"),
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
