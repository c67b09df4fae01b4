"""A model read from disk, evaluated with another eviction policy or segment length than it was trained with."""

from __future__ import annotations

import json
from typing import Any

from pydantic import ValidationError

from streamcoref.errors import StreamcorefError
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.config import describe_mistakes
from streamcoref.model.parts import EvictionOptions, SegmentOptions


def parse_eviction(text: str) -> EvictionOptions:
    """A policy by name and options, `two_distances:singleton=600,cluster=1200`, or as the JSON object of a config."""
    try:
        return EvictionOptions.choose(json.loads(text) if text.lstrip().startswith("{") else _named(text))
    except ValidationError as error:
        raise StreamcorefError(f"--evict {text}: {describe_mistakes(error)}") from None
    except ValueError as error:
        raise StreamcorefError(f"--evict {text}: {error}") from None


def _named(text: str) -> dict[str, Any]:
    name, _, rest = text.partition(":")
    values: dict[str, Any] = {"name": name.strip()}
    for part in rest.split(",") if rest else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or key in values:
            raise ValueError(f"{part!r} is not an option of the form key=value, each key once")
        values[key] = value
    return values


def with_eviction(checkpoint: Checkpoint, options: EvictionOptions) -> Checkpoint:
    """The checkpoint with another policy. Its model is changed in place."""
    if isinstance(checkpoint.model, BaselineModel):
        raise StreamcorefError("this model is a whole-document baseline, which holds no entities that could be evicted")
    checkpoint.model.evict = options.build()
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
