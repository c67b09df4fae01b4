"""The entity list: fixed-size arrays, written in place like a KV cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.model.agreement import ENTITY_TRAITS, note_traits
from streamcoref.model.hashes import text_hash
from streamcoref.model.segments import IntArray

if TYPE_CHECKING:
    from streamcoref.model.text_context import TextContext

FORMS = 8  # how many of its latest forms (strings) an entity remembers
TEXTS = 4  # how many of its latest mentions' texts, for scorers that read text


class EntityMemory:
    """The entities alive, in slots 0 to count - 1, without gaps.

    A row holds an entity's vector and its cached readings, side by side, so that one blend updates them all.
    Rows live on the model's device; the bookkeeping, a few integers an entity, lives on the CPU, where decisions
    are made. Capacity grows only to the peak of entities alive at once, and eviction closes the gaps.
    """

    rows: Tensor  # [capacity, row size]
    ids: IntArray  # [capacity], numbered in the order of appearance, never reused
    sizes: IntArray  # [capacity], mentions so far
    last_starts: IntArray  # [capacity], first piece of the latest mention, position in the text
    last_ends: IntArray  # [capacity], its last piece, inclusive
    places: IntArray  # [capacity], their sum: twice the middle of the latest mention
    best_scores: npt.NDArray[np.float64]  # [capacity], the best mention score among its spans
    forms: IntArray  # [capacity, 2, FORMS], hashes of its latest forms, and of their last words
    traits: IntArray  # [capacity, ENTITY_TRAITS], what agreement is about

    _ARRAYS = ("ids", "sizes", "last_starts", "last_ends", "places", "best_scores", "forms", "traits")

    def __init__(self, row_size: int, device: torch.device | str = "cpu", capacity: int = 64) -> None:
        self.count = 0
        self.next_id = 0
        self.rows = torch.zeros(capacity, row_size, device=device)
        for name in ("ids", "sizes", "last_starts", "last_ends", "places"):
            setattr(self, name, np.zeros(capacity, dtype=np.int64))
        self.best_scores = np.zeros(capacity)
        self.forms = _by_columns(np.zeros((capacity, 2, FORMS), dtype=np.int64))
        self.traits = _by_columns(np.zeros((capacity, ENTITY_TRAITS), dtype=np.int64))
        self.texts: list[tuple[TextContext, ...]] = []  # [count], only if the scorer reads text

    def __len__(self) -> int:
        return self.count

    @property
    def capacity(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        return int(self.rows.nbytes + sum(getattr(self, name).nbytes for name in self._ARRAYS))

    def reserve(self, capacity: int) -> None:
        """Make room, by doubling, so that adding never has to."""
        if capacity <= self.capacity:
            return
        capacity = max(capacity, 2 * self.capacity)
        rows = self.rows.new_zeros(capacity, self.rows.shape[1])
        rows[: self.count] = self.rows[: self.count]
        self.rows = rows
        for name in self._ARRAYS:
            old = getattr(self, name)
            new = _by_columns(np.zeros((capacity, *old.shape[1:]), dtype=old.dtype))
            new[: self.count] = old[: self.count]
            setattr(self, name, new)

    def add(self, row: Tensor, start: int, end: int, forms: IntArray, traits: IntArray, score: float) -> int:
        """A new entity of one mention; its slot."""
        slot = self.count
        self.count += 1
        self.rows[slot] = row
        self.ids[slot] = self.next_id
        self.next_id += 1
        self.sizes[slot] = 0
        self.best_scores[slot] = -np.inf
        self.forms[slot] = 0
        self.traits[slot] = 0
        self._note(slot, start, end, forms, traits, score)
        return slot

    def join(
        self,
        slot: int,
        weight: Tensor | float,
        row: Tensor,
        start: int,
        end: int,
        forms: IntArray,
        traits: IntArray,
        score: float,
    ) -> None:
        """Blend a span into an entity: `weight` is the share of what the entity was."""
        old = self.rows[slot]
        torch.lerp(row, old, weight, out=old)
        self._note(slot, start, end, forms, traits, score)

    def _note(self, slot: int, start: int, end: int, forms: IntArray, traits: IntArray, score: float) -> None:
        self.forms[slot, :, self.sizes[slot] % FORMS] = forms
        note_traits(self.traits[slot], traits)
        self.sizes[slot] += 1
        self.last_starts[slot] = start
        self.last_ends[slot] = end
        self.places[slot] = start + end
        self.best_scores[slot] = max(self.best_scores[slot], score)

    def remember_text(self, slot: int, text: TextContext) -> None:
        """For scorers that read text: keep the latest few mentions of an entity."""
        if slot == len(self.texts):
            self.texts.append((text,))
        else:
            self.texts[slot] = (*self.texts[slot], text)[-TEXTS:]

    def remove(self, evicted: npt.NDArray[np.bool_]) -> IntArray:
        """Drop the entities marked in [count] and close the gaps; their ids."""
        ids = self.ids[: self.count][evicted]
        if len(ids) == 0:
            return ids
        stay = np.flatnonzero(~evicted)
        self.rows[: len(stay)] = self.rows[torch.from_numpy(stay).to(self.rows.device)]
        for name in self._ARRAYS:
            array = getattr(self, name)
            array[: len(stay)] = array[stay]
        if self.texts:
            self.texts = [self.texts[slot] for slot in stay]
        self.count = len(stay)
        return ids


def _by_columns(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The same, laid out with the entities side by side: one number is compared with those of all of them at once."""
    return np.moveaxis(np.ascontiguousarray(np.moveaxis(array, 0, -1)), -1, 0)


def form_hashes(words: Sequence[str]) -> tuple[int, int]:
    """A mention's form and its last word as numbers (never 0, which marks an empty place), case and 's ignored."""
    lowered = [word.lower() for word in words]
    while len(lowered) > 1 and lowered[-1] in ("'s", "’s", "'", "’"):
        lowered.pop()
    return text_hash(" ".join(lowered)), text_hash(lowered[-1])
