"""Who says each word of a text, as one number a word.

- 0 is nobody: what has no voice yet.
- 1, the `NARRATOR`, says what stands outside quotation marks, where no speaker is known.
- 2 and more are turns: what one person says in quotation marks until another one speaks. Turns are counted from 1. A
  turn's voice is twice its number, plus one if it answers: no word lies between it and the turn before.
- Negative ones are speakers that the text itself names: the hash of the name.

The functions below take such numbers apart, one or a whole numpy array of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar, overload

from streamcoref.language.hashes import text_hash
from streamcoref.language.lexicon import Lexicon
from streamcoref.language.quotations import NARRATED, Quotations

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from streamcoref.model.words import Word

    IntArray = npt.NDArray[np.int64]
    BoolArray = npt.NDArray[np.bool_]

NARRATOR = 1
_A_TURN = 2  # what each turn adds, and so the smallest voice of one
_MOST = 1 << 48  # words or turns of a saved text

_Numbers = TypeVar("_Numbers", int, "IntArray")


class Voices:
    """Follows a text word by word and remembers a few numbers of it, however long it is. A `WordTracker`."""

    name: ClassVar[str] = "voices"

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.turn = 0
        self.answers = 0  # whether this turn follows the one before directly
        self.closing = ""  # the mark that will end the quotation; none is open if empty
        self.length = 0  # of the quotation, or of the narration since the last one, in words
        self.pauses = 0  # whether the word before is one that a speaker's own next words follow

    def read(self, words: Sequence[Word]) -> list[int]:
        return [self._next(word.text, word.speaker) for word in words]

    def _next(self, word: str, speaker: str) -> int:
        if speaker:
            self.closing, self.length, self.pauses = "", 0, 0
            return speaker_voice(speaker)
        goes_on, self.pauses = self.pauses, int(word in self.lexicon.pauses)
        self.length += 1
        if not self.closing:
            if word in self.lexicon.quotation_marks:
                self._open(word, goes_on)
            return NARRATOR
        if word == self.closing or self.length > self.lexicon.longest_quotation:
            self.closing, self.length = "", 0
        return turn_voice(self.turn, self.answers)

    def _open(self, mark: str, goes_on: int) -> None:
        aside = self.length - 1  # words since the last quotation
        if not (self.turn and goes_on and aside <= self.lexicon.longest_aside):
            self.answers = int(self.turn > 0 and aside == 0)
            self.turn += 1
        self.closing, self.length = self.lexicon.quotation_marks[mark], 0

    def to_values(self) -> list[int | str]:
        return [self.turn, self.answers, self.closing, self.length, self.pauses]

    def restore(self, values: Sequence[int | str]) -> None:
        turn, answered, closing, length, pauses = values
        if closing not in ("", *self.lexicon.quotation_marks.values()):
            raise ValueError("a quotation that nothing can end")
        self.turn, self.length = _whole(turn, _MOST), _whole(length, _MOST)
        self.answers, self.pauses, self.closing = _whole(answered, 1), _whole(pauses, 1), str(closing)


class TurnVoices:
    """The same by turns as `Quotations` knows them, which a mark that is missing leads astray for a paragraph at most.
    A `WordTracker`."""

    name: ClassVar[str] = Voices.name

    def __init__(self, lexicon: Lexicon) -> None:
        self.quotations = Quotations(lexicon)
        self.turn = NARRATED  # the latest
        self.answers = 0  # whether it follows the one before directly
        self.told = 1  # whether a word of nobody's lies behind it
        self.turns: list[int] = []  # of the words that were read last

    def read(self, words: Sequence[Word]) -> list[int]:
        self.turns = self.quotations.read(words)
        return [self._voice(word.speaker, turn) for word, turn in zip(words, self.turns, strict=True)]

    def _voice(self, speaker: str, turn: int) -> int:
        if turn == NARRATED:
            self.told = 1
            return speaker_voice(speaker) if speaker else NARRATOR
        if turn != self.turn:
            self.turn, self.answers = turn, 1 - self.told
        self.told = 0
        return turn_voice(turn, self.answers)

    def to_values(self) -> list[int | str]:
        return [self.turn, self.answers, self.told, *self.quotations.to_values()]

    def restore(self, values: Sequence[int | str]) -> None:
        turn, answered, told, *rest = values
        self.quotations.restore(rest)
        self.turn, self.answers, self.told = _whole(turn, self.quotations.turn), _whole(answered, 1), _whole(told, 1)


class FollowedTurns:
    """The turns that voices have followed already, for whom the same words need not be followed again: what
    `Quotations` says of them. A `WordTracker`, which comes behind that of the voices."""

    name: ClassVar[str] = Quotations.name

    def __init__(self, voices: TurnVoices) -> None:
        self.voices = voices

    def read(self, words: Sequence[Word]) -> list[int]:
        return self.voices.turns

    def to_values(self) -> list[int | str]:
        return self.voices.quotations.to_values()

    def restore(self, values: Sequence[int | str]) -> None:
        if list(values) != self.to_values():
            raise ValueError("turns of other voices")


def _whole(value: int | str, most: int) -> int:
    if type(value) is not int or not 0 <= value <= most:
        raise ValueError("a number of a saved text that it cannot have")
    return value


def speaker_voice(name: str) -> int:
    return -text_hash(name)


def turn_voice(number: int, answers: int = 0) -> int:
    """`answers`: 1 if no word lies between this turn and the one before."""
    return _A_TURN * number + answers


@overload
def is_speaker(voice: int) -> bool: ...
@overload
def is_speaker(voice: IntArray) -> BoolArray: ...
def is_speaker(voice: int | IntArray) -> bool | BoolArray:
    return voice < 0


@overload
def is_turn(voice: int) -> bool: ...
@overload
def is_turn(voice: IntArray) -> BoolArray: ...
def is_turn(voice: int | IntArray) -> bool | BoolArray:
    return voice >= _A_TURN


def turn_of(voice: _Numbers) -> _Numbers:
    """The number of a turn, given its voice; of other voices it means nothing."""
    return voice // _A_TURN


def answers(voice: _Numbers) -> _Numbers:
    """1 if a turn, given its voice, follows the one before without a word between, else 0."""
    return voice % _A_TURN
