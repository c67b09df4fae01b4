"""Who has been: entities that left the memory, but have a name, and come back when it is said.

It is the second of two memories, both bounded: the first is the paper's, whose entities a span is compared with. Off in
the paper's own algorithm.
"""

from __future__ import annotations

from collections.abc import Sequence

from streamcoref.model.evict import Budget, NoEviction
from streamcoref.model.features.name_votes import named_by
from streamcoref.model.memory import EntityMemory, EntityRecord
from streamcoref.model.notes import Notes

LEAST = 2  # mentions of an entity that is kept: a name that was said once is mostly not said again


class Register:
    """Laid out as the memory is. Only models that count names (the pair feature `identity`) can use it."""

    def __init__(self, memory: EntityMemory) -> None:
        self.memory = memory

    def __len__(self) -> int:
        return len(self.memory)

    def keep(self, records: Sequence[EntityRecord], places: int, position: int) -> list[EntityRecord]:
        """Take in who has a name; those who have none, or for whom there is no place, are returned.

        Of more than `places` the most salient stay when `position` pieces of the text have been read.
        """
        if not places:
            return list(records)
        gone: list[EntityRecord] = []
        for record in records:
            if record.notes["size"] >= LEAST and any(record.notes.get("called", ())):
                self.memory.put(record)
            else:
                gone.append(record)
        return gone + self.memory.remove(Budget(places, NoEviction())(self.memory, position))

    def call(self, spans: Notes) -> list[EntityRecord]:
        """Those whom one of these spans may name leave the register."""
        if not len(self.memory):
            return []
        return self.memory.remove(named_by(spans, self.memory.notes.at(slice(0, len(self.memory)))))

    def ids(self) -> set[int]:
        return set(self.memory.ids.tolist())

    def of_all(self, memory: EntityMemory, places: int) -> Register:
        """A register for reading the text once more: everybody with a name, in the memory or here, who was not yet."""
        again = Register(self.memory.empty())
        for known in (memory, self.memory):
            again.keep(known.records(range(len(known))), places, position=0)
        held = again.memory
        for slot in range(len(held)):
            held.notes["start"][slot] = held.notes["place"][slot] = 0
            for feature in held.features:
                feature.begin_again(held.notes, slot)
        return again


def revive(memory: EntityMemory, register: Register, spans: Notes) -> None:
    """Bring those back whom a segment's spans name: whether one of them is meant, PairScore decides."""
    for record in register.call(spans):
        memory.put(record)
