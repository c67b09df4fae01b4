"""What models of toys answer, in forms that can be compared."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from streamcoref.document import Document
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.predict import predict
from streamcoref.model.reading import Link, SegmentResult


@torch.inference_mode()
def answer(checkpoint: Checkpoint, document: Document, singletons: bool = False, scheme: str | None = None) -> Document:
    """A document with the model's clusters, read as its own config and genre say."""
    model, config, _ = checkpoint
    reading = model.reading(document.genre, scheme, config.evict.build())
    encoder = model.service()
    return predict(model, checkpoint.segmenter.cut(document), document, reading, encoder, singletons)


def decisions(results: Sequence[SegmentResult]) -> list[tuple[list[Link], list[int]]]:
    """Of each segment its links, and the numbers of the entities that were let go."""
    return [(result.links, [record.id for record in result.evicted]) for result in results]
