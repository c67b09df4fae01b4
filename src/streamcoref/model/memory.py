"""The entity list: fixed-size arrays, written in place like a KV cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.model.arrays import FloatArray, blend, changeable
from streamcoref.model.notes import ENTITY, IntArray, Notes

if TYPE_CHECKING:
    from streamcoref.model.features import PairFeature
    from streamcoref.model.text_context import TextContext

FIRST_CAPACITY = 64  # of a new memory; a short text needs no more


@dataclass(frozen=True, slots=True, eq=False)
class EntityRecord:
    """An entity that has left the memory: its number, its row, and what was noted of it, by the names of columns."""

    id: int
    row: Tensor  # [row size]
    notes: dict[str, Any]
    texts: tuple[TextContext, ...] = ()


class EntityMemory:
    """The entities alive, in slots 0 to count - 1, without gaps.

    A row holds an entity's vector and its cached readings, side by side, so that one blend updates them all; `notes`
    holds what is known of it besides: the columns of `ENTITY`, and those of the pair features that the model has. Rows
    live on the model's device; notes, a few integers an entity, on the CPU, where decisions are made. Capacity grows
    only to the peak of entities alive at once, and eviction closes the gaps.

    For scorers that read text it also keeps the latest `contexts` mentions of each entity in their sentences.
    """

    def __init__(
        self,
        row_size: int,
        features: Sequence[PairFeature] = (),
        contexts: int = 0,
        device: torch.device | str = "cpu",
        capacity: int = FIRST_CAPACITY,
    ) -> None:
        self.features = [feature for feature in features if feature.entity_columns.names]
        self.contexts = contexts
        self.count = 0
        self.next_id = 0
        self.rows = torch.zeros(capacity, row_size, device=device)  # [capacity, row size]
        self.notes = Notes.empty([ENTITY, *(f.entity_columns for f in self.features)], capacity)  # [capacity]
        self.texts: list[tuple[TextContext, ...]] = []  # [count], only if there are contexts

    def empty(self) -> EntityMemory:
        """One like this, for the same model, with nobody in it, and no room for anybody yet."""
        return EntityMemory(self.rows.shape[1], self.features, self.contexts, self.rows.device, capacity=0)

    def __len__(self) -> int:
        return self.count

    @property
    def ids(self) -> IntArray:
        """[count], numbered in the order of appearance, never reused; who came back stands behind the others."""
        return self.notes["id"][: self.count]

    @property
    def sizes(self) -> IntArray:
        """[count], mentions so far."""
        return self.notes["size"][: self.count]

    @property
    def last_starts(self) -> IntArray:
        """[count], the first piece of the latest mention, position in the text."""
        return self.notes["start"][: self.count]

    @property
    def places(self) -> IntArray:
        """[count], twice the middle of the latest mention: the sum of its first and last piece."""
        return self.notes["place"][: self.count]

    @property
    def best_scores(self) -> npt.NDArray[np.float64]:
        """[count], the best mention score among an entity's spans."""
        return self.notes["score"][: self.count]

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes) + self.notes.nbytes

    def reserve(self, capacity: int) -> None:
        """Make room, by doubling, so that adding never has to.

        One that is restored has the sizes of one that grew: with just enough room for what was saved, it would soon
        have twice that.
        """
        if capacity <= len(self.rows):
            return
        size = max(1, len(self.rows))
        while size < capacity:
            size *= 2
        rows = self.rows.new_zeros(size, self.rows.shape[1])
        rows[: self.count] = self.rows[: self.count]
        self.rows = rows
        self.notes = self.notes.resized(size, self.count)

    def add(self, row: Tensor | FloatArray, spans: Notes, span: int) -> int:
        """A new entity of one mention, a row of the notes on spans; its slot."""
        slot = self.count
        self.count += 1
        changeable(self.rows)[slot] = changeable(row)
        self.notes.clear(slot)
        self.notes["id"][slot] = self.next_id
        self.next_id += 1
        note_mention(self.notes, slot, spans, span, self.features)
        return slot

    def put(self, record: EntityRecord) -> int:
        """An entity that has left comes back as it was; its slot."""
        self.reserve(self.count + 1)
        slot = self.count
        self.count += 1
        self.rows[slot] = record.row
        for name, column in self.notes.columns.items():
            column[slot] = record.notes[name]
        if self.contexts:
            self.texts.append(record.texts)
        return slot

    def join(self, slot: int, weight: Tensor | float, row: Tensor | FloatArray, spans: Notes, span: int) -> None:
        """Blend a span into an entity: `weight` is the share of what the entity was."""
        blend(changeable(self.rows)[slot], changeable(row), float(weight))
        note_mention(self.notes, slot, spans, span, self.features)

    def merge(self, kept: int, gone: int) -> None:
        """Make two entities one, in the slot of the first: their vectors' mean by size, and what was noted of both."""
        columns = self.notes.columns
        sizes = columns["size"]
        weight = float(sizes[kept]) / float(sizes[kept] + sizes[gone])
        rows = changeable(self.rows)
        blend(rows[kept], rows[gone], weight)
        for name in ("start", "place", "score"):
            columns[name][kept] = max(columns[name][kept], columns[name][gone])
        sizes[kept] += sizes[gone]
        for feature in self.features:
            feature.merge(self.notes, kept, gone)
        if self.texts:
            self.texts[kept] = (*self.texts[kept], *self.texts[gone])[-self.contexts :]
        removed = np.zeros(self.count, dtype=bool)
        removed[gone] = True
        self.remove(removed)

    def remember_text(self, slot: int, text: TextContext) -> None:
        """For scorers that read text: keep the latest few mentions of an entity."""
        if slot == len(self.texts):
            self.texts.append((text,))
        else:
            self.texts[slot] = (*self.texts[slot], text)[-self.contexts :]

    def records(self, slots: Sequence[int]) -> list[EntityRecord]:
        """What the entities in these slots are."""
        rows = self.rows[torch.tensor(slots, dtype=torch.long, device=self.rows.device)]
        return [
            EntityRecord(notes["id"], row, notes, self.texts[slot] if self.texts else ())
            for slot, row, notes in zip(slots, rows, self.notes.values(slots), strict=True)
        ]

    def remove(self, evicted: npt.NDArray[np.bool_]) -> list[EntityRecord]:
        """Drop the entities marked in [count] and close the gaps; what they were."""
        gone = np.flatnonzero(evicted).tolist()
        if not gone:
            return []
        records = self.records(gone)
        stay = np.flatnonzero(~evicted)
        moved = stay[gone[0] :]  # those before the first gap stay where they are
        self._close_gaps(gone, moved)
        self.notes.close_gaps(gone[0], moved)
        if self.texts:
            self.texts = [self.texts[slot] for slot in stay]
        self.count = len(stay)
        return records

    def _close_gaps(self, gone: Sequence[int], moved: IntArray) -> None:
        """Move the rows behind the first of these gaps; on a CPU in place, gap by gap, without a copy of them all."""
        if not self.rows.is_cpu:
            self.rows[gone[0] : gone[0] + len(moved)] = self.rows[torch.from_numpy(moved).to(self.rows.device)]
            return
        numbers, size = self.rows.view(-1).numpy(), self.rows.shape[1]
        for before, (gap, end) in enumerate(pairwise([*gone, self.count])):
            numbers[(gap - before) * size : (end - before - 1) * size] = numbers[(gap + 1) * size : end * size]


def note_mention(entities: Notes, slot: int, spans: Notes, span: int, features: Sequence[PairFeature]) -> None:
    """Note in an entity's columns that a span is its latest mention."""
    columns, given = entities.columns, spans.columns
    score = given["score"][span]
    if columns["size"][slot] == 0 or score > columns["score"][slot]:
        columns["score"][slot] = score
    columns["size"][slot] += 1
    columns["start"][slot] = given["start"][span]
    columns["place"][slot] = given["place"][span]
    for feature in features:
        feature.note(entities, slot, spans, span)
