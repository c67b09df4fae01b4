"""People who left the memory come back from the store, however many came between, killed and resumed or not."""

from __future__ import annotations

import gc
import json
import random
import sqlite3
import weakref
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref import Resolver, StoppedError, StreamcorefError
from streamcoref.events import EntityFinished
from streamcoref.formats import files
from streamcoref.language.hashes import text_hash
from streamcoref.model.arrays import FloatArray
from streamcoref.model.incremental import NEW, IncrementalModel
from streamcoref.model.reading import Reading, SegmentResult
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.state import State
from streamcoref.progress import ReadingProgress
from streamcoref.store import ReadingPosition, Store, StoreOrigin
from tests.cli.toy_resolving import rows
from tests.toy_resolver import make_resolver

PLACES = 3  # of a ring
OPTIONS: dict[str, Any] = {"revive": PLACES, "evict": "one_distance:distance=40"}
NAMES = [f"Z{number}" for number in range(400)]  # each one piece, which the tokenizer does not know
FIRST_LINE = "Anna saw Anna .\n"


class ByName(IncrementalModel):
    """Joins a name to the entity that is called so; whatever is no name is an entity of its own."""

    def step(self, state: State, spans: SegmentSpans, reading: Reading, decide: Any = None) -> SegmentResult:
        def by_name(spans: SegmentSpans, m: int, _scores: FloatArray) -> int:
            word = spans.texts[m][-1]
            if not word[0].isupper():
                return NEW
            notes = state.memory.notes.at(slice(0, len(state.memory)))
            found = (notes["lasts"] == text_hash(word.lower())).any(-1)
            return int(found.argmax()) if found.any() else NEW

        return super().step(state, spans, reading, by_name)


@cache
def resolver() -> Resolver:
    """Of a model that proposes every word, and decides by names."""
    made = make_resolver(
        pair_score={"name": "feed_forward", "hidden": 8, "features": ["distance", "identity"]},
        spans={"ratio": 1.0, "max_width": 1},
    )
    made.checkpoint.model.__class__ = ByName
    return made


def lines(people: int, first: int = 0) -> str:
    """Each of them is mentioned twice."""
    return "".join(f"{NAMES[n]} saw {NAMES[n]} .\n" for n in range(first, first + people))


def story(people: int) -> str:
    """Anna comes again when so many others have been."""
    return FIRST_LINE + lines(people) + FIRST_LINE


def annas(store: Store) -> list[int]:
    """How many mentions each entity of that name has."""
    with store:
        return sorted(entity.size for entity in store.entities() if entity.name == "Anna")


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(files, "CHUNK_BYTES", 101)
    path = tmp_path / "book.txt"
    path.write_text(story(4 * PLACES) + lines(20, 8) + FIRST_LINE)
    return path


def test_in_a_store_nobody_is_forgotten(tmp_path: Path) -> None:
    """With a ring of so few places she is another one; with one more place than there are people, she is not."""
    people = 10 * PLACES
    book = tmp_path / "book.txt"
    book.write_text(story(people))

    def in_a_ring(places: int) -> list[int]:
        stream = resolver().stream(**OPTIONS | {"revive": places})
        events = stream.feed(story(people)) + stream.close()
        return sorted(event.size for event in events if isinstance(event, EntityFinished) and event.name == "Anna")

    stored = annas(resolver().resolve_file(book, tmp_path / "a.sqlite", **OPTIONS))
    assert stored == in_a_ring(people + 1) == [4]
    assert in_a_ring(PLACES) == [2, 2]
    off = OPTIONS | {"revive": 0}
    assert annas(resolver().resolve_file(book, tmp_path / "b.sqlite", **off)) == [2, 2]


def test_whoever_is_in_the_register_at_the_end_is_finished(book: Path, tmp_path: Path) -> None:
    with resolver().resolve_file(book, tmp_path / "a.sqlite", **OPTIONS) as store:
        found = {entity.name: entity for entity in store.entities()}
        assert len(found) > 5 * PLACES
        assert all(entity.finished for entity in found.values())
    expected = resolver().resolve(book.read_text(), **OPTIONS | {"revive": 500})
    assert {name: entity.size for name, entity in found.items()} == {
        entity.name: len(entity.mentions) for entity in expected.entities
    }


def stop_after(parts: int) -> Callable[[], bool]:
    asked = iter(range(parts))
    return lambda: next(asked, None) is None


@pytest.mark.parametrize("seed", range(3))
def test_stopped_or_failed_at_any_moment_it_ends_the_same(seed: int, book: Path, tmp_path: Path) -> None:
    """What was written to the register since the last commit is undone with everything else."""
    whole, target = tmp_path / "whole.sqlite", tmp_path / "stopped.sqlite"
    resolver().resolve_file(book, whole, **OPTIONS).close()
    choose = random.Random(seed)

    def fail(_progress: ReadingProgress) -> None:
        if choose.random() < 0.2:
            raise RuntimeError

    for _ in range(100):
        try:
            resolver().resolve_file(
                book, target, on_progress=fail, should_stop=stop_after(choose.randint(2, 5)), **OPTIONS
            ).close()
            break
        except (StoppedError, RuntimeError):
            continue
    assert rows(target) == rows(whole)


def test_chunks_change_nothing(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def found(name: str) -> dict[str, Any]:
        resolver().resolve_file(book, tmp_path / name, **OPTIONS).close()
        return rows(tmp_path / name)

    small = found("small.sqlite")
    monkeypatch.setattr(files, "CHUNK_BYTES", 1 << 16)
    assert found("large.sqlite") == small


@pytest.fixture
def half(book: Path, tmp_path: Path) -> Path:
    """A store that was stopped when the register had many people."""
    path = tmp_path / "half.sqlite"
    with pytest.raises(StoppedError):
        resolver().resolve_file(book, path, should_stop=stop_after(4), **OPTIONS)
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM register").fetchone()[0] > PLACES
    return path


def changed(place: str, value: str) -> str:
    """What is remembered of an entity, with another value, as SQL has it."""
    return f"CAST(json_set(CAST(tracked AS TEXT), '{place}', json('{value}')) AS BLOB)"


CHANGES = {
    "emptied": "DELETE FROM register",
    "one is gone": "DELETE FROM register WHERE entity = (SELECT min(entity) FROM register)",
    "words are gone": "DELETE FROM register_words",
    "one more": "INSERT INTO register SELECT max(entity) + 1, record, tracked FROM register",
    "a record that is none": "UPDATE register SET record = x'00'",
    "a number yet to come": "UPDATE register SET entity = entity + 100000",
    "nothing that JSON has": "UPDATE register SET tracked = x'7b'",
    "no entity": "UPDATE register SET tracked = CAST('[1]' AS BLOB)",
    "no number": f"UPDATE register SET tracked = {changed('$[0]', 'null')}",
    "a mention yet to come": f"UPDATE register SET tracked = {changed('$[1][1]', '1000000')}",
    "more mentions than there are": f"UPDATE register SET tracked = {changed('$[4]', '1000')}",
    "text": "UPDATE register SET tracked = 'x'",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_register_that_somebody_changed_is_refused(change: str, book: Path, half: Path) -> None:
    with closing(sqlite3.connect(half)) as connection:
        assert connection.execute(CHANGES[change]).rowcount
        connection.commit()
    with pytest.raises(StreamcorefError, match=r"half\.sqlite: this store is damaged: [^\n]*; give force=True"):
        resolver().resolve_file(book, half, **OPTIONS)


def test_the_state_of_a_store_is_no_state_of_a_stream(half: Path) -> None:
    with Store.open(half) as store, pytest.raises(StreamcorefError, match="that of a store, in which its people are"):
        resolver().stream(store.position.state)


ORIGIN = StoreOrigin("book.txt", 1 << 20, "abc", "default", "f1", json.dumps({}))


class StoredReading:
    """A stream with a store of its own, which commits and keeps nothing of what it found."""

    def __init__(self, path: Path) -> None:
        self.store = Store.create(path, ORIGIN)
        self.stream = resolver().stream_into(self.store.register, None, OPTIONS)

    def read(self, text: str) -> None:
        events = self.stream.feed(text)
        position = ReadingPosition(self.stream.position, 0, self.stream.position, self.stream.words_read)
        self.store.commit(events, replace(position, state=self.stream.state()))

    def register(self) -> int:
        """How many are in it."""
        (count,) = self.store.connection.execute("SELECT count(*) FROM register").fetchone()
        return int(count)


def held() -> tuple[int, int]:
    """Tensors, and objects that the collector tracks; weak references, of which torch makes some, are not counted."""
    gc.collect()
    kinds = Counter(type(one) for one in gc.get_objects())
    del kinds[weakref.ref]
    return sum(count for kind, count in kinds.items() if issubclass(kind, torch.Tensor)), kinds.total()


def test_memory_does_not_grow_with_those_who_have_been(tmp_path: Path) -> None:
    reading = StoredReading(tmp_path / "a.sqlite")
    resolver().checkpoint.segmenter.tokenizer(NAMES)  # it remembers the pieces of words, up to a bound
    seen = []
    for first in range(0, 400, 40):
        reading.read(lines(40, first))
        seen.append((reading.register(), len(reading.stream.entities()), len(reading.stream.state()), *held()))
    early, late = seen[3], seen[-1]
    assert (early[0], late[0]) == (146, 386), "those who have been"
    assert early[1] == late[1] < 40, "those who are reported"
    assert late[2] < 1.05 * early[2], "bytes of a state"
    assert late[3] == early[3], "tensors"
    assert late[4] - early[4] < 60, "objects: of 240 people more, none has left one"
    reading.store.close()


def test_statements_of_a_segment_are_bounded(tmp_path: Path) -> None:
    """By the words of its names, and not by who has been."""
    reading = StoredReading(tmp_path / "a.sqlite")
    statements: list[str] = []
    found = []
    for first in range(0, 400, 40):
        reading.stream.feed(lines(40, first))
        reading.store.connection.set_trace_callback(statements.append)
        words = reading.stream.words_read
        reading.stream.feed(lines(40, 0))  # everybody of the beginning comes back
        reading.store.connection.set_trace_callback(None)
        found.append(len(statements) / (reading.stream.words_read - words))
        statements.clear()
    assert reading.register() > 300
    assert max(found[5:]) < 1.2 * max(found[1:5])
    reading.store.close()
