"""What the JSON of a saved stream may hold. A state can come from anywhere: all of it is checked before any is used."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, model_validator

from streamcoref._precisions import FLOAT32, PrecisionName
from streamcoref.checked import Count, Finite, Options, Positive, Text
from streamcoref.language.running_name import FORMS
from streamcoref.text.sentences import LOOK_AHEAD
from streamcoref.text.splitter import MOST_LINE_ENDS

LONGEST_WINDOW = 1 << 20  # characters that a splitter holds, far more than it ever does

# As Mention has its fields, Word, Tracked and RunningName theirs.
SavedMention = tuple[Count, Count, Count | None, Count | None, Text, Count, Finite | None]
SavedWord = tuple[Text, Count, StrictBool, StrictBool, Text, Count | None, Count | None, Text, StrictBool]
SavedForm = tuple[Annotated[list[Text], Field(min_length=1)], StrictBool, Positive, Text]
SavedEntity = tuple[
    Count,
    SavedMention,
    SavedMention,
    Finite,
    Positive,
    StrictBool,
    Annotated[list[SavedForm], Field(min_length=1, max_length=FORMS)],
    list[Annotated[Finite, Field(ge=0)]],
]


class SavedSplitter(Options):
    window: Text
    new: Count
    begin: Count
    scanned: Count
    words: Annotated[list[tuple[Count, Count]], Field(max_length=LOOK_AHEAD + 1)]
    decided: Annotated[int, Field(strict=True, ge=0, le=1)]
    line_ends: Annotated[int, Field(strict=True, ge=0, le=MOST_LINE_ENDS)]
    sentence: tuple[Count, Text, list[Text]]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(self.window) > LONGEST_WINDOW:
            raise ValueError("the splitter's window is longer than any")
        held = len(self.window) - self.new
        flat = [place for word in self.words for place in word]
        if not (self.scanned <= held and self.decided <= len(self.words)):
            raise ValueError("the splitter's window is shorter than what was found in it")
        in_order = all(before <= after for before, after in pairwise([*flat, held]))
        if not in_order or any(start == end for start, end in self.words):
            raise ValueError("the splitter's words are out of order")
        return self


class SavedSegments(Options):
    words: list[SavedWord]
    first_word: Count
    position: Count
    number: Count
    speaker: Text
    trackers: dict[str, list[Any]]  # each tracker knows its own


class SavedStream(Options):
    version: Count
    fingerprint: Text
    precision: PrecisionName = FLOAT32
    options: dict[str, Any]  # ResolveOptions knows them
    closed: StrictBool
    speaker: Text
    sentence: Count
    splitter: SavedSplitter
    segments: SavedSegments
    language: Annotated[list[Count], Field(min_length=7, max_length=7)]  # of LanguageCheck
    entities: dict[Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,14})$")], SavedEntity]

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        words = self.segments.words
        if any(before[1] > after[1] for before, after in pairwise(words)) or (words and words[-1][1] > self.sentence):
            raise ValueError("the sentences of the open segment are out of order")
        for _, first, last, *_ in self.entities.values():
            for mention in (first, last):
                if not mention[0] < mention[1] <= self.segments.first_word:
                    raise ValueError("an entity has a mention that was not read yet")
        return self
