"""Who has been: entities that left the memory, but have a name, and come back when it is said.

It is the second of two memories: the first is the paper's, whose entities a span is compared with. Off in the paper's
own algorithm. A stream that goes into a store has its register there (`store/register_table.py`), others a ring.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.model.arrays import FloatArray, numbers
from streamcoref.model.evict import Budget, NoEviction
from streamcoref.model.features.name_votes import named_by
from streamcoref.model.memory import EntityMemory, EntityRecord
from streamcoref.model.notes import IntArray, Notes
from streamcoref.model.soundness import Extent

LEAST = 2  # mentions of an entity that is kept: a name that was said once is mostly not said again
MOST_CALLED = 8  # entities that one span calls back: of more, those whose vectors are nearest to its own

# Whether rows that were saved can be those of a model's entities.
AreRows = Callable[[Tensor], bool]


class Register(ABC):
    """Only models that count names (the pair feature `identity`) can use one.

    `memory` holds whom it has in this process, and shows how entities are laid out.
    """

    memory: EntityMemory

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def keep(self, records: Sequence[EntityRecord], places: int, position: int) -> list[EntityRecord]:
        """Take in who has a name, after each segment; those for whom there is no place are returned."""

    @abstractmethod
    def call(self, spans: Notes, vectors: Tensor, read: Extent) -> list[EntityRecord]:
        """Those whom one of a segment's spans [k] may name leave it, of too many those nearest to `vectors` [k, size].

        `read` is how much of the text has been.
        """

    @abstractmethod
    def known(self, entities: Collection[int]) -> dict[int, tuple[int, float]]:
        """Who of these is here, with the number of mentions and the best score of them."""

    @abstractmethod
    def of_all(self, memory: EntityMemory, places: int) -> Register:
        """A register for reading the text once more: everybody with a name, in the memory or here, who was not yet."""

    @abstractmethod
    def to_values(self) -> tuple[int, int] | None:
        """How many entities, and words of theirs, are elsewhere than in `memory`; None if nobody ever is."""

    @abstractmethod
    def check_values(self, values: tuple[int, int] | None) -> None:
        """Raise unless a state that says so is of the same moment."""


NewRegister = Callable[[EntityMemory, AreRows], Register]  # one like an empty memory, with nobody in it


class Ring(Register):
    """A bounded one, in this process and in its states."""

    def __init__(self, memory: EntityMemory, _are_rows: AreRows | None = None) -> None:
        self.memory = memory

    def __len__(self) -> int:
        return len(self.memory)

    def keep(self, records: Sequence[EntityRecord], places: int, position: int) -> list[EntityRecord]:
        """Of more than `places` the most salient stay when `position` pieces of the text have been read."""
        if not places:
            return list(records)
        gone: list[EntityRecord] = []
        for record in records:
            if is_somebody(record):
                self.memory.put(record)
            else:
                gone.append(record)
        return gone + self.memory.remove(Budget(places, NoEviction())(self.memory, position))

    def call(self, spans: Notes, vectors: Tensor, read: Extent) -> list[EntityRecord]:
        if not len(self.memory):
            return []
        named, found = named_by(spans, self.memory.notes.at(slice(0, len(self.memory))))
        called = np.zeros(len(self.memory), dtype=bool)
        if len(named):
            called[nearest(named, found, distances(vectors, numbers(self.memory.rows), named, found))] = True
        return self.memory.remove(called)

    def known(self, entities: Collection[int]) -> dict[int, tuple[int, float]]:
        columns = self.memory.ids.tolist(), self.memory.sizes.tolist(), self.memory.best_scores.tolist()
        return {number: (size, score) for number, size, score in zip(*columns, strict=True) if number in entities}

    def of_all(self, memory: EntityMemory, places: int) -> Ring:
        again = Ring(self.memory.empty())
        for known in (memory, self.memory):
            again.keep(known.records(range(len(known))), places, position=0)
        begin_again(again.memory)
        return again

    def to_values(self) -> None:
        return None

    def check_values(self, values: tuple[int, int] | None) -> None:
        if values is not None:
            raise StreamcorefError("the state is that of a store, in which its people are; go on with resolve_file")


def is_somebody(record: EntityRecord) -> bool:
    """Whether an entity is worth keeping: it has a name, and more than one mention."""
    return record.notes["size"] >= LEAST and any(record.notes.get("called", ()))


def distances(vectors: Tensor, rows: FloatArray, spans: IntArray, entities: IntArray) -> FloatArray:
    """Of pairs of a span and an entity, by the vectors [k, size] and rows [n, size and more]."""
    own = numbers(vectors)
    apart: FloatArray = np.linalg.norm(own[spans] - rows[entities, : own.shape[1]], axis=1)
    return apart


def nearest(spans: IntArray, entities: IntArray, apart: npt.NDArray[Any]) -> IntArray:
    """The entities that are among the MOST_CALLED nearest of a span with which they are a pair, in order."""
    order = np.lexsort((entities, apart, spans))
    rank = np.arange(len(order)) - np.searchsorted(spans[order], spans[order])
    found: IntArray = np.unique(entities[order][rank < MOST_CALLED])
    return found


def begin_again(held: EntityMemory) -> None:
    """The text is read once more: what depends on a place in it is forgotten of everybody here."""
    for slot in range(len(held)):
        held.notes["start"][slot] = held.notes["place"][slot] = 0
        for feature in held.features:
            feature.begin_again(held.notes, slot)


def revive(memory: EntityMemory, register: Register, spans: Notes, vectors: Tensor, read: Extent) -> list[EntityRecord]:
    """Bring those back whom a segment's spans name: whether one of them is meant, PairScore decides."""
    called = register.call(spans, vectors, read)
    for record in called:
        memory.put(record)
    return called
