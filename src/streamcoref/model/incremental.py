"""Algorithm 1 of the paper: read segment by segment, join each span to an entity or start one, evict."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import numpy as np
import torch
from torch import nn

from streamcoref.document import Span
from streamcoref.language.attribution import talk_lexicon
from streamcoref.language.lexicon import Lexicon
from streamcoref.language.quotations import Quotations
from streamcoref.language.trackers import WordTracker
from streamcoref.language.versions import LATEST, LEXICONS
from streamcoref.language.voices import FollowedTurns, TurnVoices
from streamcoref.model.arrays import FloatArray, changeable, numbers
from streamcoref.model.base import CorefModel
from streamcoref.model.encoder import Encoder
from streamcoref.model.encoder_service import SegmentService
from streamcoref.model.memory import EntityMemory, EntityRecord
from streamcoref.model.merging import Merge, merge_same_names, merge_who_answers
from streamcoref.model.notes import IntArray, Notes
from streamcoref.model.pair_score import PairScorer
from streamcoref.model.reading import Link, Reading, SegmentResult
from streamcoref.model.register import NewRegister, Ring, revive
from streamcoref.model.rows import RowLayout, are_entity_rows
from streamcoref.model.score_table import table_for
from streamcoref.model.segments import Segment
from streamcoref.model.span_labels import SpanLabels
from streamcoref.model.span_readings import SpanReadings, read_spans
from streamcoref.model.spans import SegmentSpans, Spans
from streamcoref.model.state import State
from streamcoref.model.update import UpdateRule

NEW = -1  # the decision to start an entity
_LARGEST_EXPONENT = 80.0  # of a 32-bit float, nearly; whatever is larger leaves no share to the others
_OUT_OF_THE_QUESTION = np.float32(-1e30)  # a score that stands for minus infinity where differences are taken

_NOTHING = torch.empty(0)  # what an update rule that reads nothing is given

# Given the spans of a segment, the number of one, and its link scores [count]: a slot of the memory, or NEW.
Decide = Callable[[SegmentSpans, int, FloatArray], int]


class IncrementalModel(CorefModel):
    """The parts, each of which can be swapped as long as it keeps its interface, and the algorithm over them."""

    kind = "incremental"
    reads_streams = True
    compares_with = "entities"

    def __init__(
        self,
        encoder: Encoder,
        spans: Spans,
        pair_score: PairScorer,
        update: UpdateRule,
        genres: Sequence[str] = (),
        schemes: Sequence[str] = (),
        labels: SpanLabels | None = None,
        lexicon: Lexicon = LEXICONS[LATEST],
    ) -> None:
        super().__init__(encoder, spans, pair_score, genres, schemes, labels)
        self.update = update
        self.lexicon = talk_lexicon(lexicon)
        self.layout = RowLayout.of(spans.vectors.size, pair_score, update)
        # The score of a new entity: 0. The published checkpoints carry it, and so do ours; it is not trained,
        # since the biases of the scorers can do all that it could.
        self.new_entity_score = nn.Parameter(torch.zeros(1), requires_grad=False)

    @torch.inference_mode()
    def read(
        self, segments: Iterable[Segment], reading: Reading, encoder: SegmentService, state: State | None = None
    ) -> Iterator[SegmentResult]:
        """FindClusters, from the beginning of a text to its end; with a new state, or the given one."""
        state = state or self.new_state()
        result: SegmentResult | None = None
        with encoder.beside():
            for spans in encoder.spans_in_order(segments, reading.scheme):
                if result is not None:
                    yield result
                result = self.step(state, spans, reading)
        if result is not None:
            result.quotations.extend(state.conversation.report(final=True))
            yield result

    def step(self, state: State, spans: SegmentSpans, reading: Reading, decide: Decide | None = None) -> SegmentResult:
        """One round of FindClusters: the spans of the next segment to decisions. `state` is changed.

        This is the only way into a memory, for streams, files, evaluation and training, which decides by labels.
        """
        segment = spans.segment
        spans, waiting = self.pair_score.features.in_order(spans)
        with deciding(self):
            notes, links, came_back = self.link(spans, waiting, state, reading, decide)
            merged = self.merge(state, reading.merge) if reading.merge else []
            alive = len(state.memory)
            leave = state.memory.remove(reading.evict(state.memory, segment.end))
            evicted = state.register.keep(leave, reading.revive, segment.end)
        state.advance(segment)
        gone = {record.id for record in evicted}
        laid_by = [record.id for record in leave if record.id not in gone]
        said = state.conversation.report()
        return SegmentResult([spans], links, evicted, alive, notes, said, merged, came_back, laid_by)

    def link(
        self, spans: SegmentSpans, waiting: int, state: State, reading: Reading, decide: Decide | None = None
    ) -> tuple[Notes, list[Link], list[EntityRecord]]:
        """Join each span to the entity of the best score, if that is better than a new one, else start one.

        Before that those come back whom the spans name.

        The last ones, `waiting` of them, wait: before them it is settled who speaks, as far as the others tell.
        """
        memory, features = state.memory, self.pair_score.features
        listener = state.conversation.listen(spans.segment, self.lexicon)
        new_score = self.new_entity_score.item()
        decide = decide or (lambda _spans, _m, scores: greedy(scores, new_score))
        readings = read_spans(spans, self.pair_score, self.update)
        came_back = revive(memory, state.register, readings.notes, readings.vectors, state.read)
        first_waiting = len(spans) - waiting
        memory.reserve(len(memory) + len(spans))
        own = numbers(spans.link_scores)
        table = table_for(self.pair_score)(
            self.pair_score, reading.tables, reading.index, readings, memory, self.layout, own, new_score
        )
        rows = changeable(readings.rows)  # [k, row size]
        slots: list[int] = []
        starts: list[bool] = []
        shares: list[float] = []  # what each span is of its entity
        for m, span in enumerate(spans.word_spans):
            if m == first_waiting:
                listener.settle()
                features.settle(spans, readings.notes, state.conversation)
                table.noted(*range(m, len(spans)))
            elif m < first_waiting and (expected := listener.expects(span)) is not None:
                features.expect(readings.notes, m, expected)
                table.noted(m)
            slot = decide(spans, m, table.row(m))
            starts.append(slot == NEW)
            if slot == NEW:
                slot, share = memory.add(rows[m], readings.notes, m), 1.0
            else:
                share = self._join(memory, slot, readings, rows[m], m)
            if readings.texts:
                memory.remember_text(slot, readings.texts[m])
            table.changed(slot, m, share)
            slots.append(slot)
            shares.append(share)
            listener.decided(span, int(memory.ids[slot]))
        if not waiting:
            listener.settle()
        mention_scores = readings.notes["score"].tolist()
        more = mention_scores, shares, self.labels.type_shares(spans.vectors)
        links = describe(spans.word_spans, memory.ids[slots], slots, starts, table.scores, new_score, *more)
        return readings.notes, links, came_back

    def merge(self, state: State, votes: int) -> list[Merge]:
        """Make one of entities that are one by their names, or by who answers to them."""
        by_name = merge_same_names(state.memory, votes)
        for kept, gone in by_name:
            state.conversation.renamed(kept, gone)
        by_answer = merge_who_answers(state.memory, state.conversation.answers, votes)
        for kept, gone in by_answer:
            state.conversation.renamed(kept, gone)
        return by_name + by_answer

    def _join(self, memory: EntityMemory, slot: int, spans: SpanReadings, row: FloatArray, m: int) -> float:
        """Update: blend the span into the entity; what it is of the entity then."""
        update = self.update
        size, reads = float(memory.notes["size"][slot]), update.reading_size > 0
        entity = self.layout.update_readings(memory.rows[slot]) if reads else _NOTHING
        weight = float(update.weight(spans.update_readings[m] if reads else _NOTHING, entity, size))
        memory.join(slot, weight, row, spans.notes, m)
        return 1.0 - weight

    def new_state(self, register: NewRegister = Ring) -> State:
        scorer = self.pair_score
        contexts = scorer.contexts if scorer.uses_text else 0
        memory = EntityMemory(self.layout.size, scorer.features.features, contexts, self.device)
        are_rows = partial(are_entity_rows, layout=self.layout, scorer=scorer, update=self.update)
        return State(memory, register(memory.empty(), are_rows))

    def again(self, state: State, reading: Reading) -> State:
        """Before the first word of a text that has been read to its end: whoever has a name in it is known."""
        new = self.new_state()
        new.register = state.register.of_all(state.memory, reading.revive)
        new.memory.next_id = new.register.memory.next_id = state.memory.next_id
        new.before = state.before + state.pieces
        return new

    def trackers(self) -> list[WordTracker]:
        others = [one for one in super().trackers() if one.name != Quotations.name]
        for one in others:
            if isinstance(one, TurnVoices) and one.quotations.lexicon is self.lexicon:
                return [*others, FollowedTurns(one)]
        return [*others, Quotations(self.lexicon)]

    def load_state(self, data: bytes) -> State:
        state = self.new_state()
        state.restore(data)
        return state


@contextmanager
def deciding(model: nn.Module) -> Iterator[None]:
    """Without gradients and dropout: decisions are made in the same way whether a model learns from them or not."""
    learning = [part for part in model.modules() if part.training] if model.training else []
    for part in learning:
        part.training = False
    try:
        with torch.no_grad():
            yield
    finally:
        for part in learning:
            part.training = True


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
    shares: Sequence[float],
    types: Sequence[tuple[float, ...]],
) -> list[Link]:
    """A segment's decisions as links, with the share of each in the softmax over its row of `scores` [k, n]."""
    if not spans:
        return []
    chosen = np.where(starts, np.float32(new_score), scores[np.arange(len(spans)), slots])
    finite = np.maximum(chosen, _OUT_OF_THE_QUESTION)  # a gold label may choose an entity off the shortlist
    others = np.exp(np.minimum(scores - finite[:, None], _LARGEST_EXPONENT)).sum(1)
    others += np.exp(np.minimum(new_score - finite, _LARGEST_EXPONENT))
    columns = (entities.tolist(), starts, chosen.tolist(), (1 / others).tolist(), mention_scores, shares, types)
    return [Link(*values) for values in zip(spans, *columns, strict=True)]
