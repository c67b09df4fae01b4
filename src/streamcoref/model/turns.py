"""The turns of a conversation, and who speaks and listens by what is known of those around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from streamcoref.document import Span

NOBODY = -1  # where an entity's number would stand
MOST_TURNS = 3  # the latest ones, of which the next segment may tell more


class Way(StrEnum):
    """How a speaker is known."""

    UNKNOWN = "unknown"
    NAMED = "named"  # “…,” said Anna
    PRONOUN = "pronoun"  # “…,” she said
    NARRATION = "narration"  # Anna smiled. “…”
    TURNS = "turns"  # speakers alternate
    CALLED = "called"  # the turn before or after calls them by name


BY_CUES = (Way.NAMED, Way.PRONOUN, Way.NARRATION)

# How often each way is right in LitBank's training part, given its mentions: with paragraphs that begin where the
# speaker changes, and without any.
_WITH_PARAGRAPHS = {
    Way.UNKNOWN: 0.0,
    Way.NAMED: 0.94,
    Way.PRONOUN: 0.93,
    Way.TURNS: 0.81,
    Way.NARRATION: 0.68,
    Way.CALLED: 0.67,
}
_WITHOUT = {
    Way.UNKNOWN: 0.0,
    Way.NAMED: 0.75,
    Way.PRONOUN: 0.84,
    Way.TURNS: 0.64,
    Way.NARRATION: 0.61,
    Way.CALLED: 0.52,
}
_CALLED = 0.9  # how sure it is who listens, if called by name


def score_of(way: Way, has_paragraphs: bool) -> float:
    return (_WITH_PARAGRAPHS if has_paragraphs else _WITHOUT)[way]


class SpokenQuotation(NamedTuple):
    """Words `span` of the text, a quotation with its marks; entities by their numbers, NOBODY where unknown."""

    span: Span
    start: int | None  # its characters, if the text has them
    end: int | None
    speaker: int
    addressee: int
    way: Way
    score: float


@dataclass(slots=True)
class Turn:
    """What one person says until another one speaks."""

    number: int
    first_paragraph: int
    last_paragraph: int
    end: int  # the number of words before its end
    gap: int  # words of narration before it
    speaker: int = NOBODY
    addressee: int = NOBODY
    way: Way = Way.UNKNOWN
    score: float = 0.0  # how sure the speaker is
    heard: float = 0.0  # and the addressee
    named: bool = False  # whether a cue says who it is, be that somebody we know or not
    called: int = NOBODY  # whom it calls by name
    pending: list[tuple[int, int, int | None, int | None]] = field(default_factory=list)  # quotations not reported yet
    own: list[tuple[int, int]] = field(default_factory=list)  # quotations with a name beside them: first word, speaker

    def told(self, speaker: int, way: Way, has_paragraphs: bool) -> None:
        self.speaker, self.way = speaker, way
        self.score = score_of(way, has_paragraphs)

    def speaks(self, word: int, speaker: int) -> None:
        """The quotation of a word has a name beside it; or, if NOBODY, a pronoun, which is the turn's speaker, whatever
        name stands before the quotation."""
        start = next((start for start, end, *_ in self.pending if start <= word < end), None)
        if start is not None:
            self.own = [one for one in self.own if one[0] < start] + [(start, speaker)] * (speaker != NOBODY)

    def at(self, word: int) -> tuple[int, int]:
        """Who says a word, and to whom: as the quotation's own name tells, or that of the one before, or the turn's."""
        speaker = next((who for start, who in reversed(self.own) if start <= word), self.speaker)
        return speaker, self.speaker if speaker == self.addressee else self.addressee

    def way_at(self, word: int, has_paragraphs: bool) -> tuple[Way, float]:
        """How it is known who says a word, and how sure that is."""
        if any(start <= word for start, _ in self.own):
            return Way.NAMED, score_of(Way.NAMED, has_paragraphs)
        return self.way, self.score

    @property
    def last_speaker(self) -> int:
        return self.own[-1][1] if self.own else self.speaker

    def is_sound(self) -> bool:
        """Whether its values, which were saved and may have been changed, go together."""
        if (self.speaker == NOBODY) != (self.way == Way.UNKNOWN) or (self.addressee == NOBODY and self.heard):
            return False
        places = [place for start, end, _, _ in self.pending for place in (start, end)]
        if places != sorted(set(places)) or (places and places[-1] != self.end) or self.gap > self.end:
            return False
        characters = [place for _, _, *held in self.pending for place in held if place is not None]
        starts = [start for start, _ in self.own]
        if starts != sorted(set(starts)) or any(start >= self.end or who < 0 for start, who in self.own):
            return False
        return characters == sorted(characters) and self.score in (_WITH_PARAGRAPHS[self.way], _WITHOUT[self.way])


class Expected(NamedTuple):
    """Of a mention that tells who speaks a turn: entities by their numbers, NOBODY where unknown."""

    speaks: int = NOBODY  # who has been said to speak it, by other words
    expected: int = NOBODY  # who would speak it by turns, or was spoken to
    spoke: int = NOBODY  # who spoke the turn before
    hears: int = NOBODY  # whom it calls by name


def adjacent(one: Turn, other: Turn, has_paragraphs: bool, longest_gap: int) -> bool:
    """Whether a turn follows another without narration that would end a conversation."""
    if other.number != one.number + 1:
        return False
    if has_paragraphs:
        return other.first_paragraph - one.last_paragraph <= 1
    return other.gap <= longest_gap


def by_turns(turns: Sequence[Turn], has_paragraphs: bool, longest_gap: int) -> list[int]:
    """The speaker of each: who is known, or who spoke before the last one, or was called by the last one."""
    speakers: list[int] = []
    for n, turn in enumerate(turns):
        speaker = turn.speaker
        if speaker == NOBODY and not turn.named and n and adjacent(turns[n - 1], turn, has_paragraphs, longest_gap):
            last, before = speakers[n - 1], NOBODY
            if n > 1 and adjacent(turns[n - 2], turns[n - 1], has_paragraphs, longest_gap):
                before = speakers[n - 2]
            speaker = next((who for who in (before, turns[n - 1].called) if who not in (NOBODY, last)), NOBODY)
        speakers.append(turn.last_speaker if turn.own else speaker)
    return speakers


def take_turns(turns: Sequence[Turn], has_paragraphs: bool, longest_gap: int) -> None:
    """Give turns without a cue a speaker: who spoke before the last one, or was called by the last one."""

    def follow(a: int, b: int) -> bool:
        return 0 <= a < b < len(turns) and adjacent(turns[a], turns[b], has_paragraphs, longest_gap)

    def open_(turn: Turn) -> bool:
        return turn.speaker == NOBODY and not turn.named

    for n, turn in enumerate(turns):
        if open_(turn) and follow(n - 1, n):
            last, spoke = turns[n - 1], turns[n - 1].last_speaker
            if follow(n - 2, n - 1) and turns[n - 2].last_speaker not in (NOBODY, spoke):
                turn.told(turns[n - 2].last_speaker, Way.TURNS, has_paragraphs)
            elif last.called not in (NOBODY, spoke):
                turn.told(last.called, Way.CALLED, has_paragraphs)
    for n, turn in reversed(list(enumerate(turns))):
        if open_(turn) and follow(n, n + 1):
            next_ = turns[n + 1]
            if follow(n + 1, n + 2) and turns[n + 2].speaker not in (NOBODY, next_.speaker):
                turn.told(turns[n + 2].speaker, Way.TURNS, has_paragraphs)
            elif next_.called not in (NOBODY, next_.speaker):
                turn.told(next_.called, Way.CALLED, has_paragraphs)


def address(turns: Sequence[Turn], has_paragraphs: bool, longest_gap: int) -> None:
    """Who listens: who is called by name, else who spoke just before, else who speaks next."""
    for n, turn in enumerate(turns):
        before = turns[n - 1] if n and adjacent(turns[n - 1], turn, has_paragraphs, longest_gap) else None
        after = turns[n + 1] if n + 1 < len(turns) else None
        if after is not None and not adjacent(turn, after, has_paragraphs, longest_gap):
            after = None
        earlier = turns[n - 2] if n > 1 and turns[n - 2].speaker == turn.speaker else None
        candidates = [
            (turn.called, _CALLED),
            (before.last_speaker, before.score) if before else (NOBODY, 0.0),
            (after.speaker, after.score) if after else (NOBODY, 0.0),
        ]
        if earlier is not None and turn.first_paragraph - earlier.last_paragraph <= MOST_TURNS + 1:
            candidates.append((earlier.addressee, earlier.heard))
        for who, sure in candidates:
            if who not in (NOBODY, turn.speaker):
                turn.addressee, turn.heard = who, sure if who == turn.called else sure * turn.score
                break
