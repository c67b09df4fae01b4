"""Who has been, in a store: a register that grows with the text on the disk, and not in memory.

Whatever is written here is part of the store's open transaction: it is there when the store commits, together with
the state that goes with it, or not at all.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.model.arrays import numbers
from streamcoref.model.features.name_votes import named_by, words_of_forms, words_of_names
from streamcoref.model.memory import EntityMemory, EntityRecord
from streamcoref.model.notes import Notes
from streamcoref.model.record_form import EntityRecords, RecordForm
from streamcoref.model.register import AreRows, Register, begin_again, distances, is_somebody, nearest
from streamcoref.model.soundness import Extent
from streamcoref.store.checking import damaged
from streamcoref.store.connection import begin, explained

MOST_ALIKE = 64  # entities with a word in their names that are looked at when it is said: the most mentioned ones
_BATCH = 64  # rows in memory at once
_NOBODY = -1  # a number that no entity has
_DAMAGED = "who has left the memory is not there as it was saved"

_COUNT = "SELECT (SELECT count(*) FROM register), (SELECT count(*) FROM register_words)"
_ALIKE = f"SELECT entity FROM register_words WHERE word = ? ORDER BY size DESC, entity LIMIT {MOST_ALIKE}"
# One statement for any number of them: what is missing to a whole batch are numbers that nobody has.
_THESE = f"SELECT * FROM register WHERE entity IN ({', '.join('?' * _BATCH)}) ORDER BY entity"
_NEXT = f"SELECT * FROM register WHERE entity > ? ORDER BY entity LIMIT {_BATCH}"
_PUT = "INSERT INTO register VALUES (?, ?, NULL)"
_PUT_WORD = "INSERT INTO register_words VALUES (?, ?, ?)"
_TAKE = "DELETE FROM register WHERE entity = ?"
_TAKE_WORD = "DELETE FROM register_words WHERE word = ? AND size = ? AND entity = ?"
_LAY = "UPDATE register SET tracked = ? WHERE entity = ?"
_AGAIN = "UPDATE register SET record = ?, tracked = NULL WHERE entity = ?"


class RegisterRow(NamedTuple):
    """Of the table; SQLite keeps anything anywhere."""

    entity: int
    record: object
    tracked: bytes | None


class CalledBack(NamedTuple):
    """An entity that was called: as it was here, and what is remembered of it to report it, if anything."""

    record: EntityRecord
    tracked: bytes | None


class RegisterTable(Register):
    """The tables `register` and `register_words` of a store. `memory` is laid out as the model's, and stays empty.

    There is a place for everybody with a name, unless the option `revive` is 0. A segment costs a statement for each
    word of its names, one for each batch of those who have such a word, and a few for whoever comes and goes.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, memory: EntityMemory, are_rows: AreRows) -> None:
        self.memory = memory
        self._path, self._connection, self._are_rows = path, connection, are_rows
        self._form = RecordForm(memory)
        self._called: dict[int, CalledBack] = {}  # by the latest segment
        with explained(path):
            counts: tuple[int, int] = connection.execute(_COUNT).fetchone()
        self._entities, self._words = counts

    def __len__(self) -> int:
        return self._entities

    def keep(self, records: Sequence[EntityRecord], places: int, position: int) -> list[EntityRecord]:
        """Who was called by the segment, and not meant, has not changed: they have stayed here as they were."""
        if not places:
            return list(records)
        leave = {number: called.record for number, called in self._called.items()}
        gone: list[EntityRecord] = []
        come: list[EntityRecord] = []
        for record in records:
            if not is_somebody(record):
                gone.append(record)
            elif record.id in leave and leave[record.id].notes["size"] == record.notes["size"]:
                del leave[record.id]
            else:
                come.append(record)
        self._take(list(leave.values()))
        self._put(come)
        return gone

    def call(self, spans: Notes, vectors: Tensor, read: Extent) -> list[EntityRecord]:
        self._called = {}
        if not self._entities:
            return []
        held: dict[int, tuple[EntityRecords, int, bytes | None]] = {}
        named, who = np.empty((2, 0), dtype=np.int64)  # pairs of a span and an entity that it names
        apart = np.empty(0, dtype=np.float32)
        for rows in self._rows_of(self._alike(spans)):
            records = self._unpacked(rows, read)
            spans_here, places = named_by(spans, records.notes)
            named = np.concatenate([named, spans_here])
            who = np.concatenate([who, records.notes["id"][places]])
            apart = np.concatenate([apart, distances(vectors, numbers(records.rows), spans_here, places)])
            held |= {row.entity: (records, place, row.tracked) for place, row in enumerate(rows)}
            stay = nearest(named, who, apart)
            held = {number: held[number] for number in stay.tolist()}
            pairs = np.isin(who, stay)
            named, who, apart = named[pairs], who[pairs], apart[pairs]
        self._called = {
            number: CalledBack(records.at(place), tracked) for number, (records, place, tracked) in held.items()
        }
        called = [one.record for one in self._called.values()]
        if called and not self._are_rows(torch.stack([record.row for record in called])):
            raise self.damaged()
        return called

    def known(self, entities: Collection[int]) -> dict[int, tuple[int, float]]:
        found: dict[int, tuple[int, float]] = {}
        for rows in self._rows_of(sorted(entities), all_there=False):
            notes = self._unpacked(rows).notes
            columns = (notes[name].tolist() for name in ("id", "size", "score"))
            found |= {number: (size, score) for number, size, score in zip(*columns, strict=True)}
        return found

    def of_all(self, memory: EntityMemory, places: int) -> RegisterTable:
        """This one: who is in it is changed row by row."""
        self._called = {}
        self.keep(memory.records(range(len(memory))), places, position=0)
        for rows in self._all():
            held, records = self.memory.empty(), self._unpacked(rows)
            for place in range(len(rows)):
                held.put(records.at(place))
            begin_again(held)
            again = [(self._form.pack(record), record.id) for record in held.records(range(len(held)))]
            self._write(_AGAIN, again)
        return self

    def to_values(self) -> tuple[int, int]:
        return self._entities, self._words

    def check_values(self, values: tuple[int, int] | None) -> None:
        if values != self.to_values() or len(self.memory):
            raise self.damaged()

    # What is remembered of its entities, to report them

    def tracked(self, entity: int) -> bytes | None:
        """What was laid here of one that the latest segment has called."""
        return self._called[entity].tracked

    def lay(self, tracked: Mapping[int, bytes]) -> None:
        """Put here what is remembered of entities that are here."""
        known = {number: called.tracked for number, called in self._called.items()}
        self._write(_LAY, [(what, number) for number, what in tracked.items() if known.get(number) != what])

    def all_tracked(self) -> Iterator[CalledBack]:
        """Everybody of whom something was laid here, in the order of their numbers."""
        for rows in self._all():
            records = self._unpacked(rows)
            for place, row in enumerate(rows):
                if row.tracked is not None:
                    yield CalledBack(records.at(place), row.tracked)

    def damaged(self) -> StreamcorefError:
        return damaged(self._path, _DAMAGED)

    # Rows

    def _alike(self, spans: Notes) -> list[int]:
        """Who has a word of one of these names in their own, in order."""
        found: set[int] = set()
        with explained(self._path):
            for word in words_of_names(spans).tolist():
                found.update(number for (number,) in self._connection.execute(_ALIKE, (word,)))
        return sorted(found)

    def _rows_of(self, entities: Sequence[int], *, all_there: bool = True) -> Iterator[list[RegisterRow]]:
        for first in range(0, len(entities), _BATCH):
            these = entities[first : first + _BATCH]
            rows = self._select(_THESE, [*these, *[_NOBODY] * (_BATCH - len(these))])
            if all_there and len(rows) < len(these):
                raise self.damaged()
            if rows:
                yield rows

    def _all(self) -> Iterator[list[RegisterRow]]:
        last = _NOBODY
        while rows := self._select(_NEXT, [last]):
            yield rows
            last = rows[-1].entity

    def _select(self, statement: str, values: Sequence[int]) -> list[RegisterRow]:
        with explained(self._path):
            rows = [RegisterRow(*row) for row in self._connection.execute(statement, values)]
        if not all(isinstance(row.tracked, bytes | None) for row in rows):
            raise self.damaged()
        return rows

    def _unpacked(self, rows: Sequence[RegisterRow], read: Extent | None = None) -> EntityRecords:
        records = self._form.unpack([row.record for row in rows], read)
        if records is None or records.notes["id"].tolist() != [row.entity for row in rows]:
            raise self.damaged()
        return records

    def _put(self, records: Sequence[EntityRecord]) -> None:
        words = [place for record in records for place in _places(record)]
        self._write(_PUT, [(record.id, self._form.pack(record)) for record in records])
        self._write(_PUT_WORD, words)
        self._entities += len(records)
        self._words += len(words)

    def _take(self, records: Sequence[EntityRecord]) -> None:
        words = [place for record in records for place in _places(record)]
        self._write(_TAKE, [(record.id,) for record in records])
        self._write(_TAKE_WORD, words)
        self._entities -= len(records)
        self._words -= len(words)

    def _write(self, statement: str, values: Sequence[tuple[object, ...]]) -> None:
        """A row for each of these; there must be one, unless it is new, and then none."""
        if not values:
            return
        with explained(self._path):
            begin(self._connection)
            try:
                changed = self._connection.executemany(statement, values).rowcount
            except sqlite3.IntegrityError:
                raise self.damaged() from None
        if changed != len(values):
            raise self.damaged()


def _places(record: EntityRecord) -> list[tuple[int, int, int]]:
    """Where an entity stands in `register_words`."""
    return [(word, record.notes["size"], record.id) for word in sorted(words_of_forms(record.notes))]
