"""The store, fed with events made by hand."""

from __future__ import annotations

import json
import os
import re
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.document import Mention
from streamcoref.errors import StreamcorefError
from streamcoref.events import EntityFinished, EntityStarted, Event, MentionLinked
from streamcoref.store import ReadingPosition, Store, StoreOrigin
from streamcoref.store.connection import absent, remove
from streamcoref.store.schema import VERSION

ORIGIN = StoreOrigin("book.txt", 100, "abc", "default", "f1", json.dumps({"singletons": False}))
WORD = 6  # characters, with the blank behind


def mention(text: str, word: int) -> Mention:
    words = len(text.split())
    start = word * WORD
    return Mention(word, word + words, start, start + len(text), text, word // 10, 0.5)


ANNA, SHE, CAT = mention("Anna's", 3), mention("she", 12), mention("the\ncat", 20)
STORY: list[Event] = [
    EntityStarted(4, SHE),
    MentionLinked(4, ANNA),
    EntityStarted(7, CAT),
    MentionLinked(7, mention("it", 50)),
]
END: list[Event] = [EntityFinished(4, "Anna", 2, SHE, ANNA), EntityFinished(7, "the cat", 2, CAT, mention("it", 50))]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store.create(tmp_path / "book.sqlite", ORIGIN)


def rows(path: Path) -> dict[str, list[tuple[object, ...]]]:
    with sqlite3.connect(path) as connection:
        found = {
            table: connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()
            for table in ("input", "entities", "mentions")
        }
    connection.close()
    return found


def test_entities_alive_are_seen_with_their_size(store: Store) -> None:
    store.commit(STORY, ReadingPosition(60, 1, 60, 52, "d", b"state"))
    reader = Store.open(store.path)  # while the writer is open
    anna, cat = reader.entities(10)
    assert (anna.id, anna.name, anna.size, anna.finished) == (4, "Anna", 2, False)  # not "she": a pronoun is no name
    assert (cat.name, cat.start, cat.end, cat.word_start, cat.word_end) == ("the cat", 120, 302, 20, 51)
    assert list(reader.mentions(4)) == [ANNA, SHE]  # in the order of the text, whole
    assert reader.counts() == (2, 4)
    reader.close()
    store.commit(END, ReadingPosition(100, 1, 100, 60, "d", None, done=True))
    store.close()
    with_end = Store.open(store.path)
    assert [e.finished for e in with_end.entities(10)] == [True, True]
    assert with_end.position.done
    with_end.close()


def test_what_is_committed_is_there_again(store: Store) -> None:
    position = ReadingPosition(60, 3, 58, 12, '["", 0]', b"\0state")
    store.commit(STORY[:2], position)
    store.close()
    again = Store.open(store.path, writable=True)
    assert (again.origin, again.position) == (ORIGIN, position)
    again.commit([], replace(position, bytes_read=70), sha256="def")
    assert Store.open(store.path).origin == replace(ORIGIN, sha256="def")
    again.close()


def test_a_store_is_opened_to_be_read_unless_asked_for(store: Store) -> None:
    with Store.open(str(store.path)) as reader, pytest.raises(StreamcorefError, match="may you write to it"):
        reader.commit(STORY, ReadingPosition(10, 1, 10, 5))
    assert store.entities() == []
    store.commit(STORY, ReadingPosition(10, 1, 10, 5))
    store.close()


def test_all_entities_or_so_many(store: Store) -> None:
    store.commit([*STORY, MentionLinked(7, CAT)], ReadingPosition(60, 1, 60, 52))
    assert [entity.id for entity in store.entities()] == [7, 4]
    assert [entity.id for entity in store.entities(1)] == [7]
    store.close()


def test_a_failed_commit_leaves_nothing(store: Store) -> None:
    store.commit(STORY[:2], ReadingPosition(10, 1, 10, 5, "", b"a"))
    before = rows(store.path)
    with pytest.raises(StreamcorefError, match="cannot be used"):
        store.commit([STORY[2], EntityStarted(4, SHE)], ReadingPosition(20, 1, 20, 9, "", b"b"))  # 4 has started before
    assert rows(store.path) == before
    assert store.position.state == b"a"
    store.commit(STORY[2:], ReadingPosition(20, 1, 20, 9, "", b"b"))
    store.close()


def test_there_is_one_writer_at_a_time(store: Store) -> None:
    for write in (lambda: Store.open(store.path, writable=True), lambda: Store.create(store.path, ORIGIN, force=True)):
        with pytest.raises(
            StreamcorefError, match=rf"another process is writing to this store \(process {os.getpid()}\)"
        ):
            write()
    store.commit(STORY[:2], ReadingPosition(10, 1, 10, 5, "", b"a"))
    store.close()
    other = Store.open(store.path, writable=True)
    other.commit(STORY[2:], ReadingPosition(20, 1, 20, 9, "", b"b"))
    other.close()
    assert [file.name for file in store.path.parent.iterdir()] == ["book.sqlite"]


def test_what_another_has_written_meanwhile_is_not_written_over(store: Store) -> None:
    """Where there are no locks, as on some systems, the second commit is refused at the latest."""
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE input SET bytes_read = 10, state = 'a'")
    connection.close()
    before = rows(store.path)
    with pytest.raises(StreamcorefError, match="another process is writing"):
        store.commit(STORY[:2], ReadingPosition(10, 1, 10, 5, "", b"a"))
    assert rows(store.path) == before
    store.close()


@settings(max_examples=10)
@given(cuts=st.lists(st.integers(0, len(STORY)), max_size=6).map(sorted))
def test_rows_do_not_depend_on_when_they_are_committed(
    cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("stores")
    found = []
    for name, places in (("once", []), ("often", cuts)):
        path = folder / name
        Store.create(path, ORIGIN).close()
        for number, (a, b) in enumerate(zip([0, *places], [*places, len(STORY)], strict=True), start=1):
            part = Store.open(path, writable=True)
            part.commit(STORY[a:b], ReadingPosition(number, 1, number, 1, "", b"state"))
            part.close()
        last = Store.open(path, writable=True)
        last.commit(END, ReadingPosition(100, 1, 100, 60, done=True))
        last.close()
        found.append(rows(path))
    assert found[0] == found[1]


def test_a_finished_store_is_one_file(store: Store) -> None:
    store.commit([*STORY, *END], ReadingPosition(100, 1, 100, 60, done=True))
    assert store.path.with_name("book.sqlite-wal").exists()  # readable while being written
    store.close()
    assert [file.name for file in store.path.parent.iterdir()] == ["book.sqlite"]
    with sqlite3.connect(store.path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)
    connection.close()


def test_entities_are_found_by_name_or_by_mention(store: Store) -> None:
    events = [*STORY, EntityStarted(9, mention("Annabel", 30)), MentionLinked(9, mention("100%", 31))]
    events += [MentionLinked(9, mention("Annabel", word)) for word in (32, 33)]
    store.commit(events, ReadingPosition(90, 1, 90, 60))
    assert [e.id for e in store.named("anna")] == [4, 9]  # the whole name before the larger entity
    assert [e.id for e in store.named("%")] == []
    assert [e.id for e in store.named("100%")] == [9]
    assert [e.id for e in store.named("IT")] == [7]
    store.close()


def test_timeline_counts_mentions_by_place(store: Store) -> None:
    store.commit(STORY, ReadingPosition(60, 1, 60, 100))
    assert store.timeline(4, 10) == [1, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert store.timeline(7, 10) == [0, 0, 1, 0, 0, 1, 0, 0, 0, 0]
    store.close()


def test_queries_use_the_indices(store: Store) -> None:
    with sqlite3.connect(store.path) as connection:
        for query in (
            "SELECT * FROM entities ORDER BY size DESC LIMIT 5",
            "SELECT * FROM entities WHERE name = 'x' COLLATE NOCASE",
            "SELECT * FROM mentions WHERE entity = 4 ORDER BY word_start",
            "SELECT * FROM mentions WHERE word_start BETWEEN 1 AND 9",
        ):
            plan = str(connection.execute(f"EXPLAIN QUERY PLAN {query}").fetchall())
            assert "_by_" in plan, query
            assert "TEMP B-TREE" not in plan, query
    connection.close()
    store.close()


def test_the_queries_of_the_docs_can_be_asked(store: Store) -> None:
    store.commit([*STORY, *END], ReadingPosition(50, 1, 50, 60, done=True))
    store.close()
    page = (Path(__file__).resolve().parents[2] / "docs" / "store.md").read_text(encoding="utf-8")
    queries = re.findall(r"^```sql\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    assert len(queries) >= 4
    with sqlite3.connect(store.path) as connection:
        answers = [connection.execute(query).fetchall() for query in queries]
        for table in ("input", "entities", "mentions"):
            for _, column, *_ in connection.execute(f"PRAGMA table_info({table})"):
                assert f"`{column}`" in page or (table, column) == ("input", "id"), column
    connection.close()
    assert answers[0] == [("Anna", 2), ("the cat", 2)]
    assert [row[2] for row in answers[1]] == ["Anna's", "she"]
    assert answers[-1] == [(60, 50.0, 1)]


def test_types_are_known_when_entities_are_finished(store: Store) -> None:
    anna, cat = (
        replace(event, type=kind, type_score=0.75) for event, kind in zip(END, ("person", "animal"), strict=True)
    )
    store.commit([*STORY, anna], ReadingPosition(50, 1, 50, 60, state=b"state"))
    assert [(entity.type, entity.type_score) for entity in store.entities()] == [("person", 0.75), (None, None)]
    assert store.types() == {"person": 1}
    store.commit([cat], ReadingPosition(60, 1, 60, 70, done=True))
    assert store.types() == {"animal": 1, "person": 1}
    assert [entity.name for entity in store.entities(type="animal")] == ["the cat"]
    assert store.entities(5, "plant") == []
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("UPDATE entities SET type = x'00' WHERE id = 4")
    connection.close()
    Store.accept(store.path)
    with Store.open(store.path) as damaged, pytest.raises(StreamcorefError, match="values that no store has"):
        damaged.types()


@pytest.mark.parametrize("content", [b"", "sqlite"])
def test_what_a_kill_leaves_of_a_store_being_made_is_no_store_yet(content: bytes | str, tmp_path: Path) -> None:
    path = tmp_path / "book.sqlite"
    assert absent(path)
    path.write_bytes(b"")
    if content == "sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
        connection.close()
    assert absent(path)
    Store.create(path, ORIGIN).close()
    assert not absent(path)


def test_files_that_are_no_stores_are_refused_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "book.sqlite"
    path.write_text("A letter to Anna. " * 100)
    with pytest.raises(StreamcorefError, match=r"book\.sqlite: this file exists and is not a streamcoref store"):
        absent(path)
    assert path.read_text().startswith("A letter")
    with pytest.raises(StreamcorefError, match="not a file"):
        absent(tmp_path)
    remove(path)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE songs (title TEXT)")
    connection.close()
    with pytest.raises(StreamcorefError, match="database of another program"):
        Store.open(path)
    with pytest.raises(StreamcorefError, match="no such store"):
        Store.open(tmp_path / "other.sqlite")


def test_stores_of_another_version_or_damaged_are_refused(store: Store) -> None:
    store.close()
    with sqlite3.connect(store.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(StreamcorefError, match="version 99"):
        Store.open(store.path)
    with sqlite3.connect(store.path) as connection:
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("DELETE FROM input")
    connection.close()
    with pytest.raises(StreamcorefError, match="damaged"):
        Store.open(store.path)


def test_a_store_cannot_be_made_where_nothing_can_be_written() -> None:
    with pytest.raises(StreamcorefError, match="may you write to it"):
        Store.create(Path("/proc/self/book.sqlite"), ORIGIN)
