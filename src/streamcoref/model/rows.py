"""An entity's row of numbers: its vector, and what the pair scorer and the update rule read of it, side by side."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from streamcoref.model.pair_score import PairScorer
from streamcoref.model.update import UpdateRule

# Of a row's largest number: a thousand times what blends add up to (6e-7 in 12,590 words, entities of 403 mentions
# among them), so that any machine may go on with the rows of another.
_ROUNDING = 0.001


@dataclass(frozen=True, slots=True)
class RowLayout:
    """Where what stands in a row. Readings are linear in the vector, so that one blend of rows updates them all."""

    vector: int
    pair_reading: int
    update_reading: int

    @classmethod
    def of(cls, vector: int, scorer: PairScorer, update: UpdateRule) -> RowLayout:
        return cls(vector, scorer.reading_size, update.reading_size)

    @property
    def size(self) -> int:
        return self.vector + self.pair_reading + self.update_reading

    def vectors(self, rows: Tensor) -> Tensor:
        return rows.narrow(-1, 0, self.vector)

    def pair_readings(self, rows: Tensor) -> Tensor:
        return rows.narrow(-1, self.vector, self.pair_reading)

    def update_readings(self, rows: Tensor) -> Tensor:
        return rows.narrow(-1, self.vector + self.pair_reading, self.update_reading)


def entity_rows(vectors: Tensor, scorer: PairScorer, update: UpdateRule) -> Tensor:
    """Rows of entities with these vectors: [n, size] to [n, row size], 32-bit as the memory is."""
    return torch.cat([vectors, scorer.read_entities(vectors), update.read_entities(vectors)], dim=-1).float()


def are_entity_rows(rows: Tensor, layout: RowLayout, scorer: PairScorer, update: UpdateRule) -> bool:
    """Whether rows that were saved, and may have been changed, are vectors with their own readings."""
    expected = entity_rows(layout.vectors(rows), scorer, update)
    return bool(((rows - expected).abs() <= _ROUNDING * expected.abs().amax(-1, keepdim=True)).all())
