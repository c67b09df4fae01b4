"""How many segments lie between two mentions, as the whole-document baseline has it."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import PositiveInt

from streamcoref.model.features.base import FeatureOptions, Fixed, PairFeature, TextLabels
from streamcoref.model.notes import Array, IntArray, Notes
from streamcoref.model.parts import Surroundings
from streamcoref.model.spans import SegmentSpans


class SegmentDistance(PairFeature):
    """Of an entity it means nothing. There the paper's text has a vector of zeros, but its code the first bucket, whose
    embedding is learnt like any other: so it is here.
    """

    name = "segment"
    span_columns = np.dtype([("segment", np.int64)])
    entity_columns = np.dtype([("latest_segment", np.int64)])

    def __init__(self, buckets: int) -> None:
        self.buckets = buckets  # farther ones count as the last

    def fixed(self, text: TextLabels) -> Fixed | None:
        return Fixed(0) if text.against == "entities" else None

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        return {"segment": np.full(len(spans), spans.segment.number)}

    def note(self, entities: Notes, slot: int, spans: Notes, span: int) -> None:
        entities["latest_segment"][slot] = spans["segment"][span]

    def compare(self, spans: Notes, entities: Notes) -> IntArray:
        between: IntArray = spans["segment"] - entities["latest_segment"]
        return between.clip(0, self.buckets - 1)


class SegmentDistanceOptions(FeatureOptions):
    name: Literal["segment"] = "segment"
    buckets: PositiveInt = 3

    def build(self, around: Surroundings) -> PairFeature:
        return SegmentDistance(self.buckets)
