"""Scores of a segment's spans against the entities, each computed once and only what an update changed again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from streamcoref.model.features import bucket
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
    forms: IntArray  # [k]
    last_words: IntArray  # [k]
    texts: list[TextContext]  # [k], or empty if the scorer does not read text

    def __len__(self) -> int:
        return len(self.starts)

    def note(self, m: int) -> tuple[int, int, int, int]:
        """What the memory notes of a mention besides its row: first and last piece, form, last word."""
        return int(self.starts[m]), int(self.ends[m]), int(self.forms[m]), int(self.last_words[m])


def read_spans(spans: SegmentSpans, scorer: PairScorer, update: UpdateRule) -> SpanReadings:
    words, first = spans.segment.words, spans.segment.first_word
    hashes = np.array([form_hashes(words[a - first : b - first]) for a, b in spans.word_spans], dtype=np.int64)
    forms, last_words = hashes.reshape(-1, 2).T
    return SpanReadings(
        vectors=spans.vectors,
        pair_readings=scorer.read_spans(spans.vectors),
        update_readings=update.read_spans(spans.vectors),
        rows=entity_rows(spans.vectors, scorer, update),
        starts=spans.starts,
        ends=spans.ends,
        forms=forms,
        last_words=last_words,
        texts=text_contexts(spans) if scorer.uses_text else [],
    )


def entity_rows(vectors: Tensor, scorer: PairScorer, update: UpdateRule) -> Tensor:
    """Vectors with what scorer and update rule read of them: [n, size] to [n, row size]."""
    return torch.cat([vectors, scorer.read_entities(vectors), update.read_entities(vectors)], dim=-1)


def feature_index(
    scorer: PairScorer,
    spans: SpanReadings,
    span: int | slice,
    places: IntArray,
    sizes: IntArray,
    forms: IntArray,
    last_words: IntArray,
) -> IntArray:
    """The feature combination of spans against entities: [n] for one span, [k, n] for a slice of them.

    `places` [n] is the sum of the first and the last piece of each entity's latest mention, twice its middle.
    """
    names = scorer.features.names
    column = (slice(None), None) if isinstance(span, slice) else ()
    values = {"distance": bucket(((spans.starts + spans.ends)[span][column] - places) // 2)}
    if "size" in names:
        values["size"] = bucket(sizes)
    if "exact_match" in names:
        values["exact_match"] = (forms == spans.forms[span][column][..., None]).any(-1).astype(np.int64)
    if "last_word_match" in names:
        values["last_word_match"] = (last_words == spans.last_words[span][column][..., None]).any(-1).astype(np.int64)
    return scorer.features.index(values)


class ScoreTable:
    """PairScore(m, E) for the spans of one segment, in their order.

    All spans are scored against all entities of the memory in one go. When a span joins an entity or starts one,
    `changed` says so, and the later spans score that entity anew, each when its turn comes: the number of pairs
    scored is that of Algorithm 1, however many updates there are.
    """

    def __init__(self, scorer: PairScorer, tables: FeatureTables, spans: SpanReadings, memory: EntityMemory) -> None:
        self.scorer, self.tables, self.spans, self.memory = scorer, tables, spans, memory
        self.size = spans.vectors.shape[1]
        self.stale: list[int] = []  # slots whose scores in the table are out of date
        self.scores = np.empty((len(spans), len(memory) + len(spans)), dtype=np.float32)
        if scorer.uses_text:
            self.stale = list(range(len(memory)))
        elif len(memory):
            rows = max(1, BLOCK // len(memory))
            for first in range(0, len(spans), rows):
                block = slice(first, first + rows)
                scores = scorer.score(self._block(block), tables)
                self.scores[block, : len(memory)] = scores.float().cpu().numpy()

    def row(self, span: int) -> FloatArray:
        """The scores of a span against the entities as they are now, [count]; -inf outside the shortlist."""
        if self.stale:
            slots = np.array(self.stale)
            self.scores[span, slots] = self._numbers(self.scorer.score(self._pairs(span, slots), self.tables))
        scores = self.scores[span, : len(self.memory)]
        shortlist = self.scorer.shortlist
        if shortlist is None or len(scores) == 0:
            return scores
        few = len(scores) <= shortlist
        best = np.arange(len(scores)) if few else np.argpartition(scores, -shortlist)[-shortlist:]
        refined = np.full_like(scores, -np.inf)
        refined[best] = scores[best] + self._numbers(self.scorer.refine(self._pairs(span, best), self.tables))
        return refined

    def changed(self, slot: int) -> None:
        if slot not in self.stale:
            self.stale.append(slot)

    def _block(self, spans: slice) -> Pairs:
        """Some spans against all entities."""
        memory, count = self.memory, len(self.memory)
        rows = memory.rows[None, :count]
        features = self._features(spans, np.arange(count))
        return Pairs(
            span=self.spans.vectors[spans, None],
            span_reading=self.spans.pair_readings[spans, None],
            entity=rows[..., : self.size],
            entity_reading=rows[..., self.size : self.size + self.scorer.reading_size],
            features=features,
        )

    def _pairs(self, span: int, slots: IntArray) -> Pairs:
        """One span against some entities."""
        rows = self.memory.rows[torch.from_numpy(slots).to(self.memory.rows.device)]
        return Pairs(
            span=self.spans.vectors[span : span + 1],
            span_reading=self.spans.pair_readings[span : span + 1],
            entity=rows[:, : self.size],
            entity_reading=rows[:, self.size : self.size + self.scorer.reading_size],
            features=self._features(span, slots),
            span_text=self.spans.texts[span] if self.scorer.uses_text else None,
            entity_texts=[self.memory.texts[slot] for slot in slots] if self.scorer.uses_text else (),
        )

    def _features(self, span: int | slice, slots: IntArray) -> Tensor:
        memory = self.memory
        index = feature_index(
            self.scorer,
            self.spans,
            span,
            memory.last_starts[slots] + memory.last_ends[slots],
            memory.sizes[slots],
            memory.forms[slots],
            memory.last_words[slots],
        )
        return torch.from_numpy(np.asarray(index)).to(memory.rows.device)

    @staticmethod
    def _numbers(scores: Tensor) -> FloatArray:
        numbers: FloatArray = scores.float().cpu().numpy()
        return numbers
