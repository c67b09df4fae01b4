"""Scores of a segment's spans against the entities, each computed once and only what an update changed again."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.model.features import FeatureIndex
from streamcoref.model.memory import EntityMemory
from streamcoref.model.notes import IntArray
from streamcoref.model.pair_score import FeatureTables, Pairs, PairScorer
from streamcoref.model.rows import RowLayout
from streamcoref.model.span_readings import SpanReadings

FloatArray = npt.NDArray[np.float32]

BLOCK = 4096  # pairs scored at once, to bound the hidden layers' memory


class ScoreTable:
    """PairScore(m, E) for the spans of one segment, in their order.

    All spans are scored against all entities of the memory in one go. When a span joins an entity or starts one,
    `changed` says so, and that entity is scored anew: the number of pairs scored is that of Algorithm 1, however many
    updates there are. Scores are computed for each later span when its turn comes; with a shortlist, where a score is
    but a product, for all of them at once, and only the shortlist waits for its span.
    """

    def __init__(
        self,
        scorer: PairScorer,
        tables: FeatureTables,
        index: FeatureIndex,
        spans: SpanReadings,
        memory: EntityMemory,
        layout: RowLayout,
        own: FloatArray,
    ) -> None:
        """`own` [k] is what each span's score is above a new entity's, whatever it is compared with."""
        self.scorer, self.tables, self.index, self.spans, self.memory = scorer, tables, index, spans, memory
        self.own = own
        self.vectors = spans.vectors[:, None].unbind()  # [1, size] each
        self.readings = spans.pair_readings[:, None].unbind()
        # Views of the memory, whose rows stay where they are while a segment is linked.
        self.entities = layout.vectors(memory.rows)
        self.entity_readings = layout.pair_readings(memory.rows)
        self.on_cpu = memory.rows.device.type == "cpu"
        self.stale: list[int] = []  # slots whose scores in the table are out of date
        self.renoted: set[int] = set()  # spans all of whose scores are, since more has been noted of them
        self.scores = np.empty((len(spans), len(memory) + len(spans)), dtype=np.float32)
        if scorer.shortlist is not None:  # without the features, which a row looks up when its turn comes
            self.queries = scorer.queries(spans.pair_readings)
            assert isinstance(tables.score, Tensor)
            self.priors = numbers(tables.score)
            self.scores[:, : len(memory)] = numbers(self.queries @ self.entities[: len(memory)].T)
        else:
            self._fill()

    def _fill(self) -> None:
        """The scores of all spans against all entities as they are before the segment."""
        count = len(self.memory)
        if self.scorer.uses_text:
            self.stale = list(range(count))  # texts are compared one span at a time
        elif count:
            rows = max(1, BLOCK // count)
            for first in range(0, len(self.spans), rows):
                block = slice(first, first + rows)
                scores = self.scorer.score(self._block(block), self.tables)
                self.scores[block, :count] = numbers(scores)

    def row(self, span: int) -> FloatArray:
        """The scores of a span against the entities as they are now, [count]; -inf outside the shortlist."""
        count = len(self.memory)
        if self.scorer.shortlist is not None:
            return self._shortlist(span, count, self.scorer.shortlist)
        if self.stale or span in self.renoted:
            slots = np.arange(count) if span in self.renoted else np.array(self.stale)
            pairs = self._pairs(span, slots, self._features(span, slots))
            self.scores[span, slots] = numbers(self.scorer.score(pairs, self.tables))
        return self.scores[span, :count]

    def noted(self, *spans: int) -> None:
        """More is known of these spans than when the table was made. A shortlist looks features up in any case."""
        self.renoted.update(spans)

    def changed(self, slot: int) -> None:
        if self.scorer.shortlist is not None:
            self.scores[:, slot] = numbers(torch.mv(self.queries, self.entities[slot]))
        elif slot not in self.stale:
            self.stale.append(slot)

    def _shortlist(self, span: int, count: int, length: int) -> FloatArray:
        if count == 0:
            return np.empty(0, dtype=np.float32)
        features = self._features(span, slice(0, count))
        scores = self.scores[span, :count] + self.priors.take(features)
        best = np.argpartition(scores, -length)[-length:] if count > length else np.arange(count)
        refined = np.full(count, -np.inf, dtype=np.float32)
        pairs = self._pairs(span, best, features[best])
        if self.scorer.uses_text:
            pairs = pairs._replace(so_far=self._on_device(scores[best] + self.own[span]))
        refined[best] = scores[best] + numbers(self.scorer.refine(pairs, self.tables))
        return refined

    def _block(self, spans: slice) -> Pairs:
        """Some spans against all entities."""
        return Pairs(
            span=self.spans.vectors[spans, None],
            span_reading=self.spans.pair_readings[spans, None],
            entity=self.entities[None, : len(self.memory)],
            entity_reading=self.entity_readings[None, : len(self.memory)],
            features=self._on_device(self._features(spans, slice(0, len(self.memory)))),
        )

    def _pairs(self, span: int, slots: IntArray, features: IntArray) -> Pairs:
        """One span against some entities."""
        rows = self._on_device(slots)
        return Pairs(
            span=self.vectors[span],
            span_reading=self.readings[span],
            entity=self.entities.index_select(0, rows),
            entity_reading=self.entity_readings.index_select(0, rows),
            features=self._on_device(features),
            span_text=self.spans.texts[span] if self.scorer.uses_text else None,
            entity_texts=[self.memory.texts[slot] for slot in slots] if self.scorer.uses_text else (),
        )

    def _on_device(self, array: IntArray | FloatArray) -> Tensor:
        tensor = torch.from_numpy(array)
        return tensor if self.on_cpu else tensor.to(self.memory.rows.device)

    def _features(self, span: int | slice, slots: IntArray | slice) -> IntArray:
        """[n] for one span, [k, n] for a slice of them."""
        spans = self.spans.notes.at((span, None) if isinstance(span, slice) else span)
        return self.index(spans, self.memory.notes.at(slots))


def numbers(scores: Tensor) -> FloatArray:
    """Scores where decisions are made: without gradients, as 32-bit floats on the CPU."""
    if scores.requires_grad:
        scores = scores.detach()
    if scores.is_cuda or scores.dtype != torch.float32:
        scores = scores.to("cpu", torch.float32)
    array: FloatArray = scores.numpy()
    return array
