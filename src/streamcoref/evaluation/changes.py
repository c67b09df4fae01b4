"""A model read from disk, evaluated with another eviction policy or segment length than it was trained with."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from streamcoref.checked import describe_mistakes
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.evict import parse_eviction
from streamcoref.model.segments import SegmentOptions


def with_eviction(checkpoint: Checkpoint, policy: Any) -> Checkpoint:
    """The checkpoint with another policy, given as `parse_eviction` takes it. The model is the same one."""
    if not checkpoint.model.reads_streams:
        raise StreamcorefError("this model is a whole-document baseline, which holds no entities that could be evicted")
    try:
        options = parse_eviction(policy)
    except ValidationError as error:
        raise StreamcorefError(f"eviction policy {policy}: {describe_mistakes(error)}") from None
    except ValueError as error:
        raise StreamcorefError(f"eviction policy {policy}: {error}") from None
    return checkpoint._replace(config=checkpoint.config.model_copy(update={"evict": options}))


def with_segment_length(checkpoint: Checkpoint, max_pieces: int) -> Checkpoint:
    """The checkpoint with segments of at most so many pieces, special ones counted."""
    positions = checkpoint.model.encoder.max_pieces
    if positions is not None and max_pieces > positions:
        raise StreamcorefError(
            f"a segment length of {max_pieces} pieces is too long: this encoder has positions for {positions} only"
        )
    values = checkpoint.config.segments.model_dump() | {"max_pieces": max_pieces}
    try:
        segments = SegmentOptions.model_validate(values)
    except ValidationError as error:
        raise StreamcorefError(f"segment length {max_pieces}: {describe_mistakes(error)}") from None
    return checkpoint._replace(config=checkpoint.config.model_copy(update={"segments": segments}))
