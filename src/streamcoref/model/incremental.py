"""Algorithm 1 of the paper: read segment by segment, join each span to an entity or start one, evict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from streamcoref.document import Span
from streamcoref.model.encoder import Encoder
from streamcoref.model.evict import EvictionPolicy
from streamcoref.model.memory import EntityMemory
from streamcoref.model.pair_score import FeatureTables, PairScorer
from streamcoref.model.read_ahead import ReadAhead
from streamcoref.model.score_table import FloatArray, ScoreTable, SpanReadings, numbers, read_spans
from streamcoref.model.segments import IntArray, Segment
from streamcoref.model.spans import SegmentSpans, Spans
from streamcoref.model.state import State
from streamcoref.model.update import UpdateRule
from streamcoref.model.vocabulary import number_of

NEW = -1  # the decision to start an entity

# Given the number of a span in its segment and its link scores [count]: a slot of the memory, or NEW.
Decide = Callable[[int, FloatArray], int]


@dataclass(frozen=True, slots=True)
class Link:
    """One decision. A new entity has the score 0; `probability` is the decision's share of the softmax."""

    span: Span  # end-exclusive words of the text
    entity: int
    is_new: bool
    score: float
    probability: float
    mention_score: float


@dataclass(frozen=True, slots=True)
class SegmentResult:
    """What a segment brought: a link for each of its spans, in order, and the entities let go after it."""

    links: list[Link] = field(default_factory=list)
    evicted: list[int] = field(default_factory=list)


class IncrementalModel(nn.Module):
    """The parts, each of which can be swapped as long as it keeps its interface, and the algorithm over them."""

    def __init__(
        self,
        encoder: Encoder,
        spans: Spans,
        pair_score: PairScorer,
        update: UpdateRule,
        evict: EvictionPolicy,
        genres: Sequence[str] = (),
        schemes: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.spans = spans
        self.pair_score = pair_score
        self.update = update
        self.evict = evict
        self.genres = tuple(genres)
        self.schemes = tuple(schemes)
        # The width of an entity's row: its vector and what scorer and update rule read of it.
        self.row_size = spans.vectors.size + pair_score.reading_size + update.reading_size
        # The score of a new entity: 0. The published checkpoints carry it, and so do ours; it is not trained,
        # since the biases of the scorers can do all that it could.
        self.new_entity_score = nn.Parameter(torch.zeros(1), requires_grad=False)

    @torch.inference_mode()
    def find_clusters(
        self,
        segments: Iterable[Segment],
        state: State,
        genre: str | None = None,
        scheme: str | None = None,
        batch: int = 1,
        tables: FeatureTables | None = None,
    ) -> Iterator[SegmentResult]:
        """FindClusters: the segments of a text, in order, to decisions. `state` is changed and may be saved between.

        `batch` segments go through the encoder together, or, with several threads, one in each: faster, with the same
        result. `tables` may be given by who calls for one segment after another and has folded them already.
        """
        tables = tables or self.fold_features(genre, scheme)
        encoded = ReadAhead(self.encoder, segments, batch)
        for segment, pieces in encoded:
            with encoded.beside():
                spans = self.spans(pieces, segment, number_of(scheme, self.schemes))
                links = self.link(spans, state.memory, tables)
                evicted = state.memory.remove(self.evict(state.memory, segment.end))
            state.advance(segment)
            yield SegmentResult(links, evicted.tolist())

    def link(
        self, spans: SegmentSpans, memory: EntityMemory, tables: FeatureTables, decide: Decide | None = None
    ) -> list[Link]:
        """Join each span to the entity of the best score, if that is better than a new one, else start one."""
        new_score = self.new_entity_score.item()
        decide = decide or (lambda _, scores: greedy(scores, new_score))
        readings = read_spans(spans, self.pair_score, self.update)
        memory.reserve(len(memory) + len(spans))
        table = ScoreTable(self.pair_score, tables, readings, memory)
        prune_scores = numbers(spans.prune_scores).tolist()
        scores = np.full((len(spans), len(memory) + len(spans)), -np.inf, dtype=np.float32)
        slots = []
        starts = []
        for m, mention_score in enumerate(numbers(spans.link_scores).tolist()):
            row = table.row(m) + mention_score
            slot = decide(m, row)
            starts.append(slot == NEW)
            if slot == NEW:
                slot = self._start(memory, readings, m, prune_scores[m])
            else:
                self._join(memory, slot, readings, m, prune_scores[m])
            table.changed(slot)
            scores[m, : len(row)] = row
            slots.append(slot)
        return describe(spans.word_spans, memory.ids[slots], slots, starts, scores, new_score, prune_scores)

    def _start(self, memory: EntityMemory, spans: SpanReadings, m: int, mention_score: float) -> int:
        slot = memory.add(spans.rows[m], *spans.note(m), mention_score)
        if spans.texts:
            memory.remember_text(slot, spans.texts[m])
        return slot

    def _join(self, memory: EntityMemory, slot: int, spans: SpanReadings, m: int, mention_score: float) -> None:
        """Update: blend the span into the entity."""
        reading = memory.rows[slot].narrow(0, self.row_size - self.update.reading_size, self.update.reading_size)
        weight = self.update.weight(spans.update_readings[m], reading, float(memory.sizes[slot]))
        memory.join(slot, weight, spans.rows[m], *spans.note(m), mention_score)
        if spans.texts:
            memory.remember_text(slot, spans.texts[m])

    def new_state(self) -> State:
        return State(EntityMemory(self.row_size, self.new_entity_score.device))

    def load_state(self, data: bytes) -> State:
        return State.from_bytes(data, self.row_size, self.new_entity_score.device)

    def fold_features(self, genre: str | None, scheme: str | None) -> FeatureTables:
        """As in the paper, speaker is a zero vector and segment distance always its first bucket: neither means
        anything for an entity."""
        fixed = {
            "speaker": None,
            "segment": 0,
            "genre": number_of(genre, self.genres),
            "scheme": number_of(scheme, self.schemes),
        }
        return self.pair_score.fold_features(fixed)


def greedy(scores: FloatArray, new_score: float) -> int:
    """The best entity, if it is better than a new one."""
    top = int(scores.argmax()) if len(scores) else NEW
    return top if top != NEW and scores[top] > new_score else NEW


def describe(
    spans: Sequence[Span],
    entities: IntArray,
    slots: Sequence[int],
    starts: Sequence[bool],
    scores: FloatArray,
    new_score: float,
    mention_scores: Sequence[float],
) -> list[Link]:
    """A segment's decisions as links, with the share of each in the softmax over its row of `scores` [k, n]."""
    if not spans:
        return []
    chosen = np.where(starts, np.float32(new_score), scores[np.arange(len(spans)), slots])
    finite = np.maximum(chosen, np.float32(-1e30))  # a gold label may choose an entity off the shortlist
    others = np.exp(np.minimum(scores - finite[:, None], 80)).sum(1) + np.exp(np.minimum(new_score - finite, 80))
    values = zip(spans, entities.tolist(), starts, chosen.tolist(), (1 / others).tolist(), mention_scores, strict=True)
    return [Link(*value) for value in values]
