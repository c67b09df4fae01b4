"""How many mentions an entity has."""

from __future__ import annotations

from typing import Literal

import numpy as np

from streamcoref.model.features.base import FeatureOptions, Fixed, PairFeature, TextLabels
from streamcoref.model.features.buckets import BUCKETS, bucket
from streamcoref.model.notes import IntArray, Notes
from streamcoref.model.parts import Surroundings


class Size(PairFeature):
    name = "size"
    buckets = BUCKETS

    def fixed(self, text: TextLabels) -> Fixed | None:
        return Fixed(int(bucket(np.array(1)))) if text.against == "mentions" else None

    def compare(self, spans: Notes, entities: Notes) -> IntArray:
        return bucket(entities["size"])


class SizeOptions(FeatureOptions):
    name: Literal["size"] = "size"

    def build(self, around: Surroundings) -> PairFeature:
        return Size()
