"""The register of a store: as the ring, but without an end, and of the same moment as all else that is committed."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from streamcoref import StreamcorefError
from streamcoref.model.memory import EntityMemory, EntityRecord
from streamcoref.model.notes import Notes
from streamcoref.model.record_form import RecordForm
from streamcoref.model.register import MOST_CALLED
from streamcoref.model.soundness import Extent
from streamcoref.model.text_context import TextContext
from streamcoref.store import ReadingPosition, Store, StoreOrigin
from streamcoref.store.register_table import MOST_ALIKE, RegisterTable
from tests.model.features import pairs
from tests.model.features.pairs import said
from tests.model.test_merging import IDENTITY, memory_of

ORIGIN = StoreOrigin("book.txt", 100, "abc", "default", "f1", json.dumps({}))
READ = Extent(1 << 20, 1 << 20, 0)
PLACES = 1  # any but 0: there is a place for everybody


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.create(tmp_path / "book.sqlite", ORIGIN) as made:
        yield made


def table_of(store: Store) -> RegisterTable:
    return store.register(EntityMemory(2, [IDENTITY]).empty(), lambda _rows: True)


def lay_by(table: RegisterTable, memory: EntityMemory) -> list[EntityRecord]:
    """Those who have no place in it."""
    return table.keep(memory.remove(memory.ids >= 0), PLACES, 100)


def call(table: RegisterTable, *names: str) -> list[EntityRecord]:
    """By spans whose vectors are all zeros."""
    spans = pairs.notes_of([said(name) for name in names], IDENTITY)
    return table.call(spans, torch.zeros(len(spans), 2), READ)


def commit(store: Store, table: RegisterTable) -> None:
    words = store.position.words + 1
    store.commit([], ReadingPosition(words, 0, words, words, state=json.dumps(table.to_values()).encode()))


def test_who_has_a_name_comes_back_as_they_were(store: Store) -> None:
    memory, table = memory_of(["Anna Weber", "she"], ["Ben", "he"], ["the ship", "it"], ["Clara"]), table_of(store)
    before = memory.records([0])[0]
    assert [record.id for record in lay_by(table, memory)] == [2, 3], "no name, and one mention"
    assert len(table) == 2
    assert call(table, "it", "Clara") == []
    (found,) = call(table, "it", "Anna")
    assert (found.id, found.notes) == (0, before.notes)
    assert torch.equal(found.row, before.row)
    table.keep([], PLACES, 100)
    assert len(table) == 1
    assert call(table, "Anna") == []
    assert table.known({0, 1, 2}).keys() == {1}


def test_nothing_is_written_of_those_who_were_called_and_not_meant(store: Store) -> None:
    memory, table = memory_of(["Anna", "Anna"], ["Ben", "Ben"]), table_of(store)
    lay_by(table, memory)
    written = store.connection.total_changes
    for _ in range(3):
        called = call(table, "Anna", "Ben")
        assert [record.id for record in called] == [0, 1]
        assert table.keep(called, PLACES, 100) == []
    assert store.connection.total_changes == written
    memory.put(call(table, "Anna")[0])
    memory.join(0, 1.0, torch.zeros(2), pairs.notes_of([said("Annie")], IDENTITY), 0)
    lay_by(table, memory)
    (found,) = call(table, "Annie")
    assert found.notes["size"] == 3
    assert len(table) == 2


def test_of_many_the_nearest_come(store: Store) -> None:
    table = table_of(store)
    lay_by(table, memory_of(*(["Anna", "Anna"] for _ in range(MOST_CALLED + 5))))
    assert [record.id for record in call(table, "Anna")] == list(range(MOST_CALLED))
    spans = pairs.notes_of([said("Anna"), said("Anna")], IDENTITY)
    far = table.call(spans, torch.tensor([[0.0, 1.0], [1000.0, 1.0]]), READ)
    assert [record.id for record in far] == list(range(MOST_CALLED + 5)), "each span has its own"


def test_of_very_many_the_most_mentioned_are_looked_at(store: Store) -> None:
    """However many there are of one name: neither time nor memory grows with them."""
    table, number = table_of(store), 3 * MOST_ALIKE
    lay_by(table, memory_of(*(["Anna"] * (5 if slot == number - 1 else 2) for slot in range(number))))
    statements: list[str] = []
    store.connection.set_trace_callback(statements.append)
    spans = pairs.notes_of([said("Anna")], IDENTITY)
    found = table.call(spans, torch.tensor([[float(number), 1.0]]), READ)
    store.connection.set_trace_callback(None)
    assert number - 1 in [record.id for record in found], "though she came last"
    assert len(found) == MOST_CALLED
    assert len(statements) <= 3


def test_what_is_not_committed_is_undone(store: Store) -> None:
    memory, table = memory_of(["Anna", "Anna"], ["Ben", "Ben"]), table_of(store)
    table.keep(memory.remove(memory.ids == 0), PLACES, 100)
    commit(store, table)
    lay_by(table, memory)
    call(table, "Anna")
    table.keep([], PLACES, 100)
    assert table.known({0, 1}).keys() == {1}
    path = store.path
    store.close()
    with Store.open(path, writable=True) as again:
        found = table_of(again)
        assert again.position.state is not None
        found.check_values(tuple(json.loads(again.position.state)))
        assert found.known({0, 1}).keys() == {0}


def test_a_store_that_is_complete_has_no_register(store: Store) -> None:
    table = table_of(store)
    lay_by(table, memory_of(["Anna", "Anna"]))
    store.commit([], ReadingPosition(100, 1, 100, 20, done=True))
    with closing(sqlite3.connect(store.path)) as connection:
        for name in ("register", "register_words"):
            assert connection.execute(f"SELECT count(*) FROM {name}").fetchone() == (0,)


def test_everybody_is_known_from_the_beginning_of_a_second_pass(store: Store) -> None:
    table = table_of(store)
    lay_by(table, memory_of(*([f"Name{chr(97 + n)}"] * 2 for n in range(5))))
    table.lay({0: b"what is remembered"})
    alive = memory_of(["Zoe", "Zoe"], ["the ship", "it"])
    alive.notes["id"][:2] += 10
    assert table.of_all(alive, PLACES) is table
    assert table.known(range(20)).keys() == {0, 1, 2, 3, 4, 10}
    found = call(table, "Namea", "Zoe")
    assert [record.id for record in found] == [0, 10]
    assert [record.notes["place"] for record in found] == [0, 0]
    assert [table.tracked(record.id) for record in found] == [None, None]


CHANGES = {
    "a record that is cut": "UPDATE register SET record = substr(record, 1, 40)",
    "a record that is text": "UPDATE register SET record = 'Anna'",
    "a record of another": "UPDATE register SET record = (SELECT record FROM register WHERE entity = 1)",
    "numbers that nobody has": "UPDATE register SET record = zeroblob(length(record))",
    "what is remembered in words": "UPDATE register SET tracked = 'Anna'",
    "words of nobody": "UPDATE register_words SET entity = entity + 50",
}


@pytest.mark.parametrize("change", CHANGES)
def test_rows_that_somebody_changed_are_refused(change: str, store: Store) -> None:
    table = table_of(store)
    lay_by(table, memory_of(["Anna", "Anna"], ["Ben", "Ben"]))
    store.connection.execute(CHANGES[change])
    with pytest.raises(StreamcorefError, match=r"book\.sqlite: this store is damaged: who has left the memory"):
        call(table, "Anna")


def test_who_cannot_be_taken_out_whole_is_refused(store: Store) -> None:
    table = table_of(store)
    lay_by(table, memory_of(["Anna Weber", "Anna"], ["Ben", "Ben"]))
    call(table, "Anna")
    store.connection.execute("UPDATE register_words SET size = 7 WHERE entity = 0")
    with pytest.raises(StreamcorefError, match="this store is damaged"):
        table.keep([], PLACES, 100)


def test_a_register_before_the_beginning_is_refused(store: Store) -> None:
    lay_by(table_of(store), memory_of(["Anna", "Anna"]))
    with pytest.raises(StreamcorefError, match="this store is damaged"):
        table_of(store)


def test_rows_that_are_not_the_models_are_refused(store: Store) -> None:
    memory = EntityMemory(2, [IDENTITY]).empty()
    table = store.register(memory, lambda rows: bool((rows[:, 1] == 2).all()))
    lay_by(table, memory_of(["Anna", "Anna"]))
    with pytest.raises(StreamcorefError, match="this store is damaged"):
        call(table, "Anna")


def test_records_keep_their_texts() -> None:
    """Of models that read text; half characters stay what they are."""
    memory = EntityMemory(2, [IDENTITY], contexts=2)
    notes: Notes = pairs.notes_of([said("Anna"), said("Anna")], IDENTITY)
    memory.reserve(1)
    slot = memory.add(torch.tensor([0.1, -2.0]), notes, 0)
    memory.join(slot, 0.5, torch.ones(2), notes, 1)
    for words in (("Anna", "\ud83d", "ran"), ("\ude00", "Anna")):
        memory.remember_text(slot, TextContext(words, 0, 1))
    (record,) = memory.records([slot])
    form = RecordForm(memory)
    packed = form.pack(record)
    found = form.unpack([packed], READ)
    assert found is not None
    again = found.at(0)
    assert (again.id, again.notes, again.texts) == (record.id, record.notes, record.texts)
    assert torch.equal(again.row, record.row)
    for wrong in (packed[:-1], packed + b" x", packed[:-2] + b"]]", packed[: len(packed) // 2], "text"):
        assert form.unpack([wrong], READ) is None
    assert form.unpack([packed], Extent(0, 1 << 20, 0)) is None, "an entity that was not yet"
    nowhere = replace(record, row=torch.tensor([0.0, float("nan")]))
    assert form.unpack([form.pack(nowhere)], READ) is None
