"""What a whole text is: its genre, and the annotation scheme that is followed."""

from __future__ import annotations

from typing import Literal

from streamcoref.model.features.base import FeatureOptions, Fixed, PairFeature, TextLabels
from streamcoref.model.notes import IntArray, Notes
from streamcoref.model.parts import Surroundings


class TextLabel(PairFeature):
    """The same for all pairs of a text."""

    def __init__(self, name: Literal["genre", "scheme"], buckets: int) -> None:
        self.name, self.buckets = name, buckets
        self.label = name

    def fixed(self, text: TextLabels) -> Fixed:
        return Fixed(text.genre if self.label == "genre" else text.scheme)

    def compare(self, spans: Notes, entities: Notes) -> IntArray:
        raise TypeError(f"{self.name} is fixed for a text and never compared")


class GenreOptions(FeatureOptions):
    name: Literal["genre"] = "genre"

    def build(self, around: Surroundings) -> PairFeature:
        return TextLabel("genre", around.genres)


class SchemeOptions(FeatureOptions):
    name: Literal["scheme"] = "scheme"

    def build(self, around: Surroundings) -> PairFeature:
        return TextLabel("scheme", around.schemes)
