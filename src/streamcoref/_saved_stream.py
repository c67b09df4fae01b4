"""What the JSON of a saved stream may hold. A state can come from anywhere: all of it is checked before any is used."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Self

from pydantic import Field, StrictBool, model_validator

from streamcoref._precisions import FLOAT32, PrecisionName
from streamcoref.checked import Count, Finite, Options, Positive, Text
from streamcoref.document import Mention
from streamcoref.language.is_english import ENOUGH
from streamcoref.language.running_name import FORMS
from streamcoref.model.words import Word
from streamcoref.text.sentences import LOOK_AHEAD, SentenceEnds
from streamcoref.text.splitter import MOST_LINE_ENDS, STEP
from streamcoref.text.words import HORIZON, split_words

LONGEST_WINDOW = 1 << 20  # characters that a splitter holds, far more than it ever does
Number = Annotated[str, Field(pattern=r"^(0|[1-9][0-9]{0,14})$")]  # of an entity, where JSON has only text

# As Mention has its fields, Word, Tracked and RunningName theirs.
SavedMention = tuple[Count, Count, Count | None, Count | None, Text, Count, Annotated[Finite, Field(ge=0, le=1)]]
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
        """What a splitter holds between two chunks; see `TextSplitter`."""
        if len(self.window) > LONGEST_WINDOW:
            raise ValueError("the splitter's window is longer than any")
        held = len(self.window) - self.new
        if not (self.scanned <= held <= self.scanned + HORIZON and self.new < max(STEP, held - self.scanned)):
            raise ValueError("the splitter would have read what it holds")
        if not self.decided <= len(self.words) <= LOOK_AHEAD + self.decided:
            raise ValueError("the splitter would have given words that it holds")
        if any(start >= end for start, end in self.words):
            raise ValueError("the splitter's words are out of order")
        gaps = pairwise([0, *(place for word in self.words for place in word), self.scanned])
        for number, (before, after) in enumerate(gaps):
            is_word = number % 2 == 1
            if before > after or (not is_word and split_words(self.window[before:after])[0]):
                raise ValueError("the splitter's words are out of order")
        length, stop, opened = self.sentence
        if not SentenceEnds(length, stop, set(opened)).is_sound():
            raise ValueError("a sentence that no text has")
        return self


class SavedSegments(Options):
    words: list[SavedWord]
    first_word: Count
    position: Count
    number: Count
    speaker: Text
    trackers: dict[str, list[Any]]  # each tracker knows its own

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """A segment has a word at least, and two pieces more than its words have."""
        begun = (self.number > 0, self.first_word > 0, self.position > 0)
        if len(set(begun)) > 1 or self.first_word < self.number or self.position < 2 * self.number:
            raise ValueError("other numbers of words and segments than a text has")
        for text, start, end in ((word.text, word.start, word.end) for word in self.open):
            if (start is None) != (end is None) or (start is not None and end != start + len(text)):
                raise ValueError("a word that is not where it stands")
        for before, after in pairwise(self.open):
            _follows(before, after)
        return self

    @property
    def open(self) -> list[Word]:
        """The words of the open segment."""
        return [Word(*word) for word in self.words]

    @property
    def unfinished(self) -> int:
        """Words at the end whose sentence is open."""
        ends = [number for number, word in enumerate(self.open, 1) if word.ends]
        return len(self.words) - (ends[-1] if ends else 0)


def _follows(before: Word, after: Word) -> None:
    """Raise unless a word can stand behind the one before it."""
    jumps = after.sentence <= before.sentence if before.ends else after.sentence != before.sentence
    if after.opens != before.ends or jumps:
        raise ValueError("the sentences of the open segment are out of order")
    if before.end is None or after.start is None:  # fed as words
        return
    if after.start < before.end or (not before.ends and len(after.gap) != after.start - before.end):
        raise ValueError("the words of the open segment are out of order")
    if not before.ends and after.speaker != before.speaker:
        raise ValueError("a sentence of a text that two people say")


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
    entities: dict[Number, SavedEntity]
    past: dict[Number, Count] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _belongs_together(self) -> Self:
        words, read = self.segments.open, self.splitter.begin + self.splitter.scanned
        if words:
            self._check_latest(words[-1], read)
        if self.sentence > self.segments.first_word + len(words):
            raise ValueError("more sentences than words")
        length, unfinished = self.splitter.sentence[0], self.segments.unfinished
        if length < unfinished or (length > unfinished and unfinished < len(words)):
            raise ValueError("a sentence of other words than the open segment's")
        if self.closed and (words or self.entities or self.past or self.splitter.window):
            raise ValueError("a stream that is closed holds nothing")
        sentence = words[0].sentence if words else self.sentence
        for number, *mentions in (entity[:3] for entity in self.entities.values()):
            first, last = (Mention(*mention) for mention in mentions)
            if number in self.past.values() or not first.sentence <= last.sentence <= sentence:
                raise ValueError("an entity that is finished or yet to come")
            for mention in (first, last):
                check_mention(mention, self.segments.first_word, read)
        return self

    def _check_latest(self, word: Word, read: int) -> None:
        """Raise unless this can be the last word that was given, of a text of which so many characters were read."""
        if word.sentence + word.ends != self.sentence or (word.end or 0) > read:
            raise ValueError("the open segment has words that were not read yet")
        if not word.ends and word.speaker != self.speaker:
            raise ValueError("an open sentence that another one says")
        if self.splitter.decided and word.end != self.splitter.begin + self.splitter.words[0][1]:
            raise ValueError("the last word that was read is not where the splitter has it")

    @model_validator(mode="after")
    def _counts_words(self) -> Self:
        words, english, others, marked, letters, not_latin, decided = self.language
        enough = words < ENOUGH or (words == ENOUGH and decided == 1)
        if decided > 1 or not (english + others + marked <= words <= letters and not_latin <= letters and enough):
            raise ValueError("other words than a language check has read")
        return self


def check_mention(mention: Mention, words: int, characters: int) -> None:
    """Raise unless a mention was read among so many words and characters."""
    if not mention.word_start < mention.word_end <= words:
        raise ValueError("an entity has a mention that was not read yet")
    start, end, text = mention.start, mention.end, mention.text
    if (start is None) != (end is None) or (start is not None and end != start + len(text)) or (end or 0) > characters:
        raise ValueError("a mention that is not where it stands")
