"""The spans of a document as the incremental model saw them: vectors, entities, and their shares of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from streamcoref.document import Document, Span
from streamcoref.errors import StreamcorefError
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.segments import segment_document
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.update import UpdateRule


@dataclass(frozen=True, slots=True)
class SpanRecord:
    """`share` is how much of its entity's vector, when the text has been read, the span has given: they sum to 1."""

    span: Span
    entity: int
    share: float


@torch.inference_mode()
def span_records(
    checkpoint: Checkpoint, document: Document, scheme: str | None = None
) -> tuple[list[SpanRecord], Tensor]:
    """All spans that the model kept of a document, in its order, and their vectors [k, size]."""
    model, config, tokenizer = checkpoint
    if isinstance(model, BaselineModel):
        raise StreamcorefError("the map of clusters is of an incremental model's entities; this model is a baseline")
    segments = segment_document(document, tokenizer, **config.segments.model_dump())
    with _watched(model) as (vectors, weights):
        results = model.find_clusters(segments, model.new_state(), document.genre, scheme)
        links = [link for result in results for link in result.links]
    joins = iter(weights)
    # A new entity is wholly its first span; a span that joins with weight a leaves a of what was there.
    own = [1.0 if link.is_new else 1.0 - next(joins) for link in links]
    shares = final_shares([link.entity for link in links], own)
    records = [SpanRecord(link.span, link.entity, share) for link, share in zip(links, shares, strict=True)]
    return records, torch.cat(vectors) if vectors else torch.zeros(0, model.spans.vectors.size)


def final_shares(entities: Sequence[int], own: Sequence[float]) -> list[float]:
    """The share of each span in its entity at the end, given its share in the moment when it joined."""
    left: dict[int, float] = {}  # what later spans have left of what was there before them
    shares = []
    for entity, share in zip(reversed(entities), reversed(own), strict=True):
        shares.append(share * left.get(entity, 1.0))
        left[entity] = left.get(entity, 1.0) * (1.0 - share)
    return shares[::-1]


@contextmanager
def _watched(model: IncrementalModel) -> Iterator[tuple[list[Tensor], list[float]]]:
    """The vectors of spans and the weights of updates, in the order in which they come."""
    vectors: list[Tensor] = []
    weights: list[float] = []

    def note(_: object, __: object, spans: SegmentSpans) -> None:
        vectors.append(spans.vectors)

    hook = model.spans.register_forward_hook(note)
    rule = model.update
    model.update = _NotingRule(rule, weights)
    try:
        yield vectors, weights
    finally:
        hook.remove()
        model.update = rule


class _NotingRule(UpdateRule):
    """Another rule, every weight of which is noted."""

    def __init__(self, rule: UpdateRule, weights: list[float]) -> None:
        super().__init__()
        self.rule, self.weights, self.reading_size = rule, weights, rule.reading_size

    def read_spans(self, spans: Tensor) -> Tensor:
        return self.rule.read_spans(spans)

    def read_entities(self, entities: Tensor) -> Tensor:
        return self.rule.read_entities(entities)

    def weight(self, span_reading: Tensor, entity_reading: Tensor, size: Tensor | float) -> Tensor | float:
        weight = self.rule.weight(span_reading, entity_reading, size)
        self.weights.append(float(weight))
        return weight
