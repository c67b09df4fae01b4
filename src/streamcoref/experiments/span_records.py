"""The spans of a document as the incremental model saw them: vectors, entities, and their shares of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from streamcoref.document import Document, Span
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import Checkpoint


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
    model, config, _ = checkpoint
    if not model.reads_streams:
        raise StreamcorefError("the map of clusters is of an incremental model's entities; this model is a baseline")
    reading = model.reading(config.genre_of(document), scheme, config.evict.build())
    encoder = model.service()
    results = list(model.read(checkpoint.segmenter.cut(document), reading, encoder))
    links = [link for result in results for link in result.links]
    shares = final_shares([link.entity for link in links], [link.share for link in links])
    records = [SpanRecord(link.span, link.entity, share) for link, share in zip(links, shares, strict=True)]
    vectors = [spans.vectors for result in results for spans in result.spans]
    return records, torch.cat(vectors) if vectors else torch.zeros(0, model.spans.vectors.size)


def final_shares(entities: Sequence[int], own: Sequence[float]) -> list[float]:
    """The share of each span in its entity at the end, given its share in the moment when it joined."""
    left: dict[int, float] = {}  # what later spans have left of what was there before them
    shares = []
    for entity, share in zip(reversed(entities), reversed(own), strict=True):
        shares.append(share * left.get(entity, 1.0))
        left[entity] = left.get(entity, 1.0) * (1.0 - share)
    return shares[::-1]
