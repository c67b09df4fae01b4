"""Scores of a segment's spans against the entities, each computed once and only what an update changed again."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import torch
from torch import Tensor

from streamcoref.model.arrays import FloatArray, numbers
from streamcoref.model.features import FeatureIndex
from streamcoref.model.link_kernel import CompiledRows, compiled_rows
from streamcoref.model.memory import EntityMemory
from streamcoref.model.notes import IntArray
from streamcoref.model.pair_score import FeatureTables, Pairs, PairScorer
from streamcoref.model.pair_score.coarse_to_fine import RowRefiner
from streamcoref.model.rows import RowLayout
from streamcoref.model.span_readings import SpanReadings

BLOCK = 4096  # pairs scored at once, to bound the hidden layers' memory


class ScoreTable(ABC):
    """Link scores of the spans of one segment, in their order: what each scores by itself, and PairScore(m, E).

    Spans are scored against the entities as they are when their turn comes. When one joins an entity or starts one,
    `changed` says so, and that entity is scored anew: the number of pairs scored is that of Algorithm 1, however many
    updates there are.
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
        new_score: float,
    ) -> None:
        """`own` [k] is what each span scores by itself, `new_score` what a new entity does."""
        self.scorer, self.tables, self.index, self.spans, self.memory = scorer, tables, index, spans, memory
        self.own, self.new_score = own, new_score
        # Views of the memory, whose rows stay where they are while a segment is linked.
        self.entities = layout.vectors(memory.rows)
        self.entity_readings = layout.pair_readings(memory.rows)
        # [k, n + k]; a row is right when its turn has come
        self.scores = np.full((len(spans), len(memory) + len(spans)), -np.inf, dtype=np.float32)
        self._begin()

    @abstractmethod
    def _begin(self) -> None:
        """Compute what does not wait for a span's turn."""

    @abstractmethod
    def row(self, span: int) -> FloatArray:
        """The scores of a span against the entities as they are now, [count]; -inf outside the shortlist."""

    @abstractmethod
    def changed(self, slot: int, span: int, share: float) -> None:
        """A span has joined an entity, of which it is this share now, or has started it: then it is all of it."""

    def noted(self, *spans: int) -> None:  # noqa: B027
        """More is known of these spans than when the table was made."""

    def _pairs(self, span: int, slots: IntArray, features: IntArray) -> Pairs:
        """One span against some entities."""
        rows = self._on_device(slots)
        return Pairs(
            span=self.spans.vectors[span : span + 1],
            span_reading=self.spans.pair_readings[span : span + 1],
            entity=self.entities.index_select(0, rows),
            entity_reading=self.entity_readings.index_select(0, rows),
            features=self._on_device(features),
            span_text=self.spans.texts[span] if self.scorer.uses_text else None,
            entity_texts=[self.memory.texts[slot] for slot in slots] if self.scorer.uses_text else (),
        )

    def _on_device(self, array: IntArray | FloatArray) -> Tensor:
        return torch.from_numpy(array).to(self.memory.rows.device)

    def _features(self, span: int | slice, slots: IntArray | slice) -> IntArray:
        """[n] for one span, [k, n] for a slice of them."""
        spans = self.spans.notes.at((span, None) if isinstance(span, slice) else span)
        return self.index(spans, self.memory.notes.at(slots))


class EveryPair(ScoreTable):
    """For scorers without a shortlist: all spans are scored against all entities before the segment in one go."""

    def _begin(self) -> None:
        self.stale: list[int] = []  # slots whose scores in the table are out of date
        self.renoted: set[int] = set()  # spans all of whose scores are, since more has been noted of them
        count = len(self.memory)
        if self.scorer.uses_text:
            self.stale = list(range(count))  # texts are compared one span at a time
        elif count:
            rows = max(1, BLOCK // count)
            for first in range(0, len(self.spans), rows):
                block = slice(first, first + rows)
                scores = numbers(self.scorer.score(self._block(block), self.tables))
                self.scores[block, :count] = scores + self.own[block, None]

    def row(self, span: int) -> FloatArray:
        count = len(self.memory)
        if self.stale or span in self.renoted:
            slots = np.arange(count) if span in self.renoted else np.array(self.stale)
            pairs = self._pairs(span, slots, self._features(span, slots))
            self.scores[span, slots] = numbers(self.scorer.score(pairs, self.tables)) + self.own[span]
        return self.scores[span, :count]

    def noted(self, *spans: int) -> None:
        self.renoted.update(spans)

    def changed(self, slot: int, span: int, share: float) -> None:
        if slot not in self.stale:
            self.stale.append(slot)

    def _block(self, spans: slice) -> Pairs:
        """Some spans against all entities."""
        return Pairs(
            span=self.spans.vectors[spans, None],
            span_reading=self.spans.pair_readings[spans, None],
            entity=self.entities[None, : len(self.memory)],
            entity_reading=self.entity_readings[None, : len(self.memory)],
            features=self._on_device(self._features(spans, slice(0, len(self.memory)))),
        )


class Shortlists(ScoreTable):
    """For scorers with a shortlist, where a score is but a product: of all pairs at once, and as linear in the entity.

    Only features and the shortlist wait for a span's turn.
    """

    def _begin(self) -> None:
        scorer, spans, count = self.scorer, self.spans, len(self.memory)
        assert scorer.shortlist is not None
        assert isinstance(self.tables.score, Tensor)
        self.length = scorer.shortlist
        self.known = self.memory.notes.at(slice(0, count))  # of the entities; a view, right as long as none is new
        self.priors = numbers(self.tables.score)
        queries = scorer.queries(spans.pair_readings)
        self.products = np.empty_like(self.scores)  # with the entities as they are now, without the features
        np.add(numbers(queries @ self.entities[:count].T), self.own[:, None], out=self.products[:, :count])
        self.among = numbers(queries @ spans.vectors.T) + self.own[:, None]  # [k, k], with each span as an entity
        self.refine = scorer.row_refiner(
            spans.vectors, spans.pair_readings, self.entities, self.entity_readings, self.tables
        )
        self.compiled: CompiledRows | None = None
        if isinstance(self.refine, RowRefiner):
            tables = self.priors, self.products, self.among, self.scores
            self.compiled = compiled_rows(self.index, spans.notes, self.memory.notes, *tables, self.refine, self.length)

    def row(self, span: int) -> FloatArray:
        count = len(self.memory)
        row = self.scores[span, :count]
        if count == 0:
            return row
        if self.compiled is not None:
            self.compiled.score(span, count)
            return row
        if count != len(self.known):
            self.known = self.memory.notes.at(slice(0, count))
        features = self.index(self.spans.notes.at(span), self.known)
        scores = self.priors.take(features)
        scores += self.products[span, :count]
        best = scores.argpartition(count - self.length)[-self.length :] if count > self.length else np.arange(count)
        listed, features = scores[best], features[best]
        if self.refine is not None:
            row[best] = listed + self.refine(span, best, features)
        else:
            row[best] = listed + self._refined(span, best, features, listed)
        return row

    def changed(self, slot: int, span: int, share: float) -> None:
        if self.compiled is not None:
            self.compiled.changed(slot, span, share)
            return
        column, new = self.products[span + 1 :, slot], self.among[span + 1 :, span]  # of those that are yet to come
        if share == 1:
            column[:] = new
        else:
            column += share * (new - column)

    def _refined(self, span: int, slots: IntArray, features: IntArray, scores: FloatArray) -> FloatArray:
        """By the scorer itself."""
        pairs = self._pairs(span, slots, features)
        if self.scorer.uses_text:
            pairs = pairs._replace(so_far=self._on_device(scores - self.new_score))
        return numbers(self.scorer.refine(pairs, self.tables))


def table_for(scorer: PairScorer) -> type[ScoreTable]:
    return EveryPair if scorer.shortlist is None else Shortlists
