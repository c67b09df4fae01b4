"""All that linking needs to know of a segment's spans, each projection made once for the whole segment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from streamcoref.model.features import PairFeature
from streamcoref.model.notes import Notes
from streamcoref.model.pair_score import PairScorer
from streamcoref.model.rows import entity_rows
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.text_context import TextContext, text_contexts
from streamcoref.model.update import UpdateRule


@dataclass(frozen=True, eq=False)
class SpanReadings:
    """Of k spans."""

    vectors: Tensor  # [k, size]
    pair_readings: Tensor  # [k, scorer's own]
    update_readings: Tensor  # [k, update.reading_size]
    rows: Tensor  # [k, row size], each span as the entity that it would start
    notes: Notes  # [k]
    texts: list[TextContext]  # [k], or empty if the scorer does not read text

    def __len__(self) -> int:
        return len(self.vectors)


def read_spans(spans: SegmentSpans, scorer: PairScorer, update: UpdateRule, notes: Notes | None = None) -> SpanReadings:
    """`notes` are those of the same spans, if they have been read before."""
    return SpanReadings(
        vectors=spans.vectors,
        pair_readings=scorer.read_spans(spans.vectors),
        update_readings=update.read_spans(spans.vectors),
        rows=entity_rows(spans.vectors, scorer, update),
        notes=note_spans(spans, scorer.features.features) if notes is None else notes,
        texts=text_contexts(spans) if scorer.uses_text else [],
    )


def note_spans(spans: SegmentSpans, features: Sequence[PairFeature]) -> Notes:
    """The columns of `notes.SPAN` and of the features, [k]."""
    scores = spans.prune_scores.detach().to("cpu", torch.float64).numpy()
    notes = {"start": spans.starts, "place": spans.starts + spans.ends, "score": scores}
    for feature in features:
        notes |= feature.read(spans)
    return Notes(notes)
