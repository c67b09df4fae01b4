"""Spans of a whole text, each with its best antecedents.

It keeps the best spans of the whole text and scores each against its best antecedents, so its memory grows with the
text. Encoder, Spans, PairScore and the pair features are the incremental model's own: an antecedent is an entity of one
mention.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from streamcoref.document import Span
from streamcoref.model.base import CorefModel
from streamcoref.model.baseline.prune import best_without_crossing
from streamcoref.model.encoder import Encoder
from streamcoref.model.encoder_service import SegmentService
from streamcoref.model.linear import Linear
from streamcoref.model.memory import note_mention
from streamcoref.model.notes import ENTITY, IntArray, Notes
from streamcoref.model.pair_score import Pairs
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from streamcoref.model.reading import Link, Reading, SegmentResult
from streamcoref.model.segments import Segment
from streamcoref.model.span_labels import SpanLabels
from streamcoref.model.span_readings import note_spans
from streamcoref.model.spans import SegmentSpans, Spans

if TYPE_CHECKING:
    from streamcoref.model.state import State


@dataclass(frozen=True, eq=False)
class DocumentSpans:
    """The k spans kept of a whole text, sorted by (start, end)."""

    parts: list[SegmentSpans]  # by segment
    vectors: Tensor  # [k, size]
    link_scores: Tensor  # [k]
    prune_scores: Tensor  # [k]
    words: list[Span]  # [k], end-exclusive words of the text
    notes: Notes  # [k]
    as_entities: Notes  # [k], each span as an antecedent: an entity of one mention


@dataclass(frozen=True, eq=False)
class Antecedents:
    """For each span its best earlier spans. A new entity scores 0."""

    rows: Tensor  # [k, c], rows of the antecedents
    scores: Tensor  # [k, c], -inf where there are fewer than c


class _Readings(NamedTuple):
    """All that the scorer reads of the k spans, once for both of its scores."""

    vectors: Tensor  # [k, size]
    as_spans: Tensor  # [k, scorer's own]
    as_entities: Tensor  # [k, reading_size]


class BaselineModel(CorefModel):
    """Coarse-to-fine antecedents over the whole text, with `depth` - 1 higher-order refinements between scorings."""

    kind = "baseline"
    reads_streams = False
    compares_with = "mentions"
    pair_score: CoarseToFineScorer

    def __init__(
        self,
        encoder: Encoder,
        spans: Spans,
        pair_score: CoarseToFineScorer,
        depth: int = 2,
        max_spans: int = 3900,
        genres: Sequence[str] = (),
        schemes: Sequence[str] = (),
        labels: SpanLabels | None = None,
    ) -> None:
        super().__init__(encoder, spans, pair_score, genres, schemes, labels)
        self.depth = depth
        self.max_spans = max_spans
        size = spans.vectors.size
        self.gate = Linear(2 * size, size) if depth > 1 else None

    @torch.inference_mode()
    def read(
        self, segments: Iterable[Segment], reading: Reading, encoder: SegmentService, state: State | None = None
    ) -> Iterator[SegmentResult]:
        """One result for the whole text, when all of it is there."""
        encoded = list(encoder.in_order(segments))
        if not encoded:
            return
        spans, antecedents = self.resolve([p for _, p in encoded], [s for s, _ in encoded], reading)
        yield SegmentResult(spans.parts, _links(spans, antecedents, self.labels))

    def resolve(
        self, pieces: Sequence[Tensor], segments: Sequence[Segment], reading: Reading
    ) -> tuple[DocumentSpans, Antecedents]:
        """The piece vectors [n, hidden] of all segments to spans and their antecedents."""
        spans = self._keep(pieces, segments, reading.scheme)
        return spans, self._antecedents(spans, reading)

    def _keep(self, pieces: Sequence[Tensor], segments: Sequence[Segment], scheme: int) -> DocumentSpans:
        scored = [self.spans.score(p, s, scheme) for p, s in zip(pieces, segments, strict=True)]
        starts = np.concatenate([c.starts + s.position for (c, _), s in zip(scored, segments, strict=True)])
        ends = np.concatenate([c.ends + s.position for (c, _), s in zip(scored, segments, strict=True)])
        prune = torch.cat([scores.prune for _, scores in scored])
        length = sum(len(s) if self.spans.ratio_of == "pieces" else len(s.words) for s in segments)
        order = torch.argsort(prune.detach(), descending=True, stable=True)
        if self.spans.min_score is not None and not self.training:  # what is dropped cannot learn to be kept
            order = order[prune.detach()[order] >= self.spans.min_score]
        limit = min(self.max_spans, int(self.spans.ratio * length))
        rows = best_without_crossing(order.cpu().numpy(), starts, ends, limit)

        bounds = np.cumsum([0, *(len(c) for c, _ in scored)])
        parts = []
        for number, (segment, (candidates, scores)) in enumerate(zip(segments, scored, strict=True)):
            mine = rows[(rows >= bounds[number]) & (rows < bounds[number + 1])] - bounds[number]
            parts.append(self.spans.keep(pieces[number], segment, candidates, scores, mine))
        features = self.pair_score.features.features
        notes = Notes.joined([note_spans(part, features) for part in parts])
        notes = notes.replaced(place=2 * np.arange(len(notes)))  # distances are counted in spans, not in pieces
        as_entities = Notes.empty([ENTITY, *(feature.entity_columns for feature in features)], len(notes))
        for row in range(len(notes)):
            note_mention(as_entities, row, notes, row, features)
        return DocumentSpans(
            parts=parts,
            vectors=torch.cat([part.vectors for part in parts]),
            link_scores=torch.cat([part.link_scores for part in parts]),
            prune_scores=torch.cat([part.prune_scores for part in parts]),
            words=[span for part in parts for span in part.word_spans],
            notes=notes,
            as_entities=as_entities,
        )

    def _antecedents(self, spans: DocumentSpans, reading: Reading) -> Antecedents:
        count = len(spans.words)
        device = spans.vectors.device
        earlier = torch.ones(count, count, dtype=torch.bool, device=device).tril(-1)
        everyone = np.arange(count)
        readings = self._read(spans.vectors)
        pairs = self._pairs(spans, readings, everyone[None, :], reading)
        mentions = spans.link_scores[:, None] + spans.link_scores
        coarse = (mentions + self.pair_score.score(pairs, reading.tables)).masked_fill(~earlier, -torch.inf)
        best, rows = torch.topk(coarse, min(self.pair_score.shortlist or count, count), dim=1)  # [k, c]
        # A row may have fewer antecedents than c: -inf + finite stays -inf, so the fine score needs no mask.
        columns = rows.cpu().numpy()
        for step in range(self.depth):
            scores = best + self.pair_score.refine(self._pairs(spans, readings, columns, reading), reading.tables)
            if step < self.depth - 1:
                readings = self._read(self._refine(readings.vectors, rows, scores))
        return Antecedents(rows, scores)

    def _read(self, vectors: Tensor) -> _Readings:
        return _Readings(vectors, self.pair_score.read_spans(vectors), self.pair_score.read_entities(vectors))

    def _refine(self, vectors: Tensor, rows: Tensor, scores: Tensor) -> Tensor:
        """Higher order: move each span towards what it expects its antecedents to be (itself, if it is new)."""
        assert self.gate is not None
        weights = torch.softmax(torch.cat([scores.new_zeros(len(scores), 1), scores], dim=1), dim=1)  # [k, 1 + c]
        attended = weights[:, :1] * vectors + (weights[:, 1:, None] * vectors[rows]).sum(1)
        gate = torch.sigmoid(self.gate(torch.cat([vectors, attended], dim=-1)))
        return gate * attended + (1 - gate) * vectors

    def _pairs(self, spans: DocumentSpans, readings: _Readings, antecedents: IntArray, reading: Reading) -> Pairs:
        """All spans against antecedents [1, k] or [k, c], as rows."""
        device = readings.vectors.device
        features = reading.index(spans.notes.at((slice(None), None)), spans.as_entities.at(antecedents))
        rows = torch.from_numpy(np.ascontiguousarray(antecedents)).to(device)
        return Pairs(
            span=readings.vectors[:, None],
            span_reading=readings.as_spans[:, None],
            entity=readings.vectors[rows],
            entity_reading=readings.as_entities[rows],
            features=torch.from_numpy(features).to(device),
        )


def _links(spans: DocumentSpans, antecedents: Antecedents, labels: SpanLabels) -> list[Link]:
    """The best antecedent of each span, or none; entities are named after the row of their first mention."""
    with_new = torch.cat([antecedents.scores.new_zeros(len(spans.words), 1), antecedents.scores], dim=1)
    probabilities, choices = torch.softmax(with_new, dim=1).max(dim=1)
    scores = with_new.gather(1, choices[:, None])[:, 0]
    rows = antecedents.rows.tolist()
    entities: list[int] = []
    for row, choice in enumerate(choices.tolist()):
        entities.append(row if choice == 0 else entities[rows[row][choice - 1]])
    types = labels.type_shares(spans.vectors)
    decided = zip(
        spans.words, entities, scores.tolist(), probabilities.tolist(), spans.prune_scores.tolist(), types, strict=True
    )
    return [
        Link(span, entity, entity == row, score, probability, mention_score, share=1.0, types=likely)
        for row, (span, entity, score, probability, mention_score, likely) in enumerate(decided)
    ]
