"""Whether the same person speaks: of two mentions, as the whole-document baseline has it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from streamcoref.language.hashes import text_hash
from streamcoref.model.features.base import FeatureOptions, Fixed, PairFeature, TextLabels
from streamcoref.model.notes import Array, IntArray, Notes
from streamcoref.model.parts import Surroundings
from streamcoref.model.spans import SegmentSpans


class Speaker(PairFeature):
    """By the first word of each. An entity has no speaker; there the paper has a vector of zeros."""

    name = "speaker"
    buckets = 2
    span_columns = np.dtype([("speaker", np.int64)])
    entity_columns = np.dtype([("latest_speaker", np.int64)])

    def fixed(self, text: TextLabels) -> Fixed | None:
        return Fixed(None) if text.against == "entities" else None

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        first, words = spans.segment.first_word, spans.segment.words
        names = [words[start - first].speaker for start, _ in spans.word_spans]
        return {"speaker": np.array([text_hash(name) if name else 0 for name in names], dtype=np.int64)}

    def note(self, entities: Notes, slot: int, spans: Notes, span: int) -> None:
        entities["latest_speaker"][slot] = spans["speaker"][span]

    def compare(self, spans: Notes, entities: Notes) -> IntArray:
        same: IntArray = spans["speaker"] == entities["latest_speaker"]
        return same


class SpeakerOptions(FeatureOptions):
    name: Literal["speaker"] = "speaker"

    def build(self, around: Surroundings) -> PairFeature:
        return Speaker()
