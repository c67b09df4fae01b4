"""Whether an entity was called the same before: by all words of a span, or by its last one."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import PositiveInt

from streamcoref.language.hashes import text_hash
from streamcoref.language.lexicon import Lexicon
from streamcoref.language.names import Words, without_possessive
from streamcoref.model.features.base import FeatureOptions, PairFeature
from streamcoref.model.notes import Array, BoolArray, Notes
from streamcoref.model.parts import Surroundings
from streamcoref.model.spans import SegmentSpans


class Match(PairFeature):
    """Strings as hashes, case and a possessive ending ignored; an entity remembers `forms` of its latest ones."""

    buckets = 2

    def __init__(self, name: str, column: str, forms: int, last_word: bool, lexicon: Lexicon) -> None:
        self.name, self.forms, self.last_word, self.lexicon = name, forms, last_word, lexicon
        self.mine, self.theirs = column, f"{column}s"
        self.span_columns = np.dtype([(self.mine, np.int64)])
        self.entity_columns = np.dtype([(self.theirs, np.int64, (forms,))])  # 0 where there is none yet

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        place = int(self.last_word)
        return {self.mine: np.array([both[place] for both in spans.read(_hashes, self.lexicon)], dtype=np.int64)}

    def note(self, entities: Notes, slot: int, spans: Notes, span: int) -> None:
        entities[self.theirs][slot, (entities["size"][slot] - 1) % self.forms] = spans[self.mine][span]

    def merge(self, entities: Notes, kept: int, gone: int) -> None:
        """What the younger one was called goes where the older one has room."""
        own, others = entities[self.theirs][kept], entities[self.theirs][gone]
        room = np.flatnonzero(own == 0)
        new = others[(others != 0) & ~np.isin(others, own)][: len(room)]
        own[room[: len(new)]] = new

    def compare(self, spans: Notes, entities: Notes) -> BoolArray:
        same: BoolArray = (entities[self.theirs] == spans[self.mine][..., None]).any(-1)
        return same


def _hashes(words: Words, lexicon: Lexicon) -> tuple[int, int]:
    """Of all words and of the last one."""
    words = without_possessive(tuple(word.lower() for word in words), lexicon)
    return text_hash(" ".join(words)), text_hash(words[-1])


class ExactMatchOptions(FeatureOptions):
    name: Literal["exact_match"] = "exact_match"
    forms: PositiveInt = 8

    def build(self, around: Surroundings) -> PairFeature:
        return Match(self.name, "form", self.forms, last_word=False, lexicon=around.lexicon)


class LastWordMatchOptions(FeatureOptions):
    name: Literal["last_word_match"] = "last_word_match"
    forms: PositiveInt = 8

    def build(self, around: Surroundings) -> PairFeature:
        return Match(self.name, "last_word", self.forms, last_word=True, lexicon=around.lexicon)
