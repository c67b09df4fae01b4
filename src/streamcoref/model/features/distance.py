"""How far back an entity was mentioned last."""

from __future__ import annotations

from typing import Literal

from streamcoref.model.features.base import FeatureOptions, PairFeature
from streamcoref.model.features.buckets import BUCKETS, bucket_of_half
from streamcoref.model.notes import IntArray, Notes
from streamcoref.model.parts import Surroundings


class Distance(PairFeature):
    """From the middle of the latest mention to the middle of the span, in pieces; a baseline counts spans instead."""

    name = "distance"
    buckets = BUCKETS

    def compare(self, spans: Notes, entities: Notes) -> IntArray:
        return bucket_of_half(spans["place"] - entities["place"])


class DistanceOptions(FeatureOptions):
    name: Literal["distance"] = "distance"

    def build(self, around: Surroundings) -> PairFeature:
        return Distance()
