"""Scores of a segment's spans against the entities, each computed once and only what an update changed again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.model.agreement import SPAN_TRAITS, span_traits
from streamcoref.model.memory import EntityMemory, form_hashes
from streamcoref.model.pair_score import FeatureTables, Pairs, PairScorer
from streamcoref.model.segments import IntArray
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.text_context import TextContext, text_contexts
from streamcoref.model.update import UpdateRule

FloatArray = npt.NDArray[np.float32]

BLOCK = 4096  # pairs scored at once, to bound the hidden layers' memory


@dataclass(frozen=True, eq=False)
class SpanReadings:
    """All that linking needs to know of a segment's k spans, each projection made once for the whole segment."""

    vectors: Tensor  # [k, size]
    pair_readings: Tensor  # [k, scorer's own]
    update_readings: Tensor  # [k, update.reading_size]
    rows: Tensor  # [k, row size], each span as the entity that it would start
    starts: IntArray  # [k]
    ends: IntArray  # [k]
    places: IntArray  # [k], starts + ends: twice the middle
    forms: IntArray  # [k, 2], hashes of the form and of its last word
    traits: IntArray  # [k, SPAN_TRAITS], what agreement is about
    texts: list[TextContext]  # [k], or empty if the scorer does not read text

    def __len__(self) -> int:
        return len(self.starts)

    def note(self, m: int) -> tuple[int, int, IntArray, IntArray]:
        """What the memory notes of a mention besides its row: first and last piece, form and last word, traits."""
        return int(self.starts[m]), int(self.ends[m]), self.forms[m], self.traits[m]


def read_spans(spans: SegmentSpans, scorer: PairScorer, update: UpdateRule) -> SpanReadings:
    forms, traits = read_words(spans)
    return SpanReadings(
        vectors=spans.vectors,
        pair_readings=scorer.read_spans(spans.vectors),
        update_readings=update.read_spans(spans.vectors),
        rows=entity_rows(spans.vectors, scorer, update),
        starts=spans.starts,
        ends=spans.ends,
        places=spans.starts + spans.ends,
        forms=forms,
        traits=traits,
        texts=text_contexts(spans) if scorer.uses_text else [],
    )


def read_words(spans: SegmentSpans) -> tuple[IntArray, IntArray]:
    """The forms [k, 2] and traits [k, SPAN_TRAITS] of a segment's spans."""
    segment, first = spans.segment, spans.segment.first_word
    places = [(a - first, b - first) for a, b in spans.word_spans]
    forms = [form_hashes(segment.words[a:b]) for a, b in places]
    traits = [span_traits(segment.words[a:b], segment.voices[a]) for a, b in places]
    return np.array(forms, dtype=np.int64).reshape(-1, 2), np.array(traits, dtype=np.int64).reshape(-1, SPAN_TRAITS)


def entity_rows(vectors: Tensor, scorer: PairScorer, update: UpdateRule) -> Tensor:
    """Vectors with what scorer and update rule read of them: [n, size] to [n, row size], 32-bit as the memory is."""
    return torch.cat([vectors, scorer.read_entities(vectors), update.read_entities(vectors)], dim=-1).float()


class ScoreTable:
    """PairScore(m, E) for the spans of one segment, in their order.

    All spans are scored against all entities of the memory in one go. When a span joins an entity or starts one,
    `changed` says so, and that entity is scored anew: the number of pairs scored is that of Algorithm 1, however many
    updates there are. Scores are computed for each later span when its turn comes; with a shortlist, where a score is
    but a product, for all of them at once, and only the shortlist waits for its span.
    """

    def __init__(self, scorer: PairScorer, tables: FeatureTables, spans: SpanReadings, memory: EntityMemory) -> None:
        self.scorer, self.tables, self.spans, self.memory = scorer, tables, spans, memory
        self.size = spans.vectors.shape[1]
        self.vectors = spans.vectors[:, None].unbind()  # [1, size] each
        self.readings = spans.pair_readings[:, None].unbind()
        # Views of the memory, whose rows stay where they are while a segment is linked.
        self.entities = memory.rows.narrow(1, 0, self.size)
        self.entity_readings = memory.rows.narrow(1, self.size, scorer.reading_size)
        self.on_cpu = memory.rows.device.type == "cpu"
        self.stale: list[int] = []  # slots whose scores in the table are out of date
        self.scores = np.empty((len(spans), len(memory) + len(spans)), dtype=np.float32)
        if scorer.shortlist is not None:  # without the features, which a row looks up when its turn comes
            self.queries = scorer.queries(spans.pair_readings)
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
        if self.stale:
            slots = np.array(self.stale)
            pairs = self._pairs(span, slots, self._features(span, slots))
            self.scores[span, slots] = numbers(self.scorer.score(pairs, self.tables))
        return self.scores[span, :count]

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

    def _on_device(self, index: IntArray) -> Tensor:
        tensor = torch.from_numpy(index)
        return tensor if self.on_cpu else tensor.to(self.memory.rows.device)

    def _features(self, span: int | slice, slots: IntArray | slice) -> IntArray:
        """[n] for one span, [k, n] for a slice of them."""
        column = (slice(None), None) if isinstance(span, slice) else ()
        spans, memory = self.spans, self.memory
        return self.scorer.features.index_of_entities(
            spans.places[span][column],
            spans.forms[span][column],
            spans.traits[span],
            memory.places[slots],
            memory.sizes[slots],
            memory.forms[slots],
            memory.traits[slots],
        )


def numbers(scores: Tensor) -> FloatArray:
    """Scores where decisions are made: without gradients, as 32-bit floats on the CPU."""
    if scores.requires_grad:
        scores = scores.detach()
    if scores.is_cuda or scores.dtype != torch.float32:
        scores = scores.to("cpu", torch.float32)
    array: FloatArray = scores.numpy()
    return array
