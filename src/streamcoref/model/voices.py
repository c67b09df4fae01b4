"""Who says each word of a text, as one number a word: its narrator, a turn in quotation marks, or a speaker."""

from __future__ import annotations

from collections.abc import Sequence

from streamcoref.model.hashes import text_hash

NARRATOR = 1  # 0 is nobody
FIRST_TURN = 2  # and above are turns: a turn's voice is twice its number, plus one if no word lies between it and
# the turn before; speakers are negative
_CLOSING = {'"': '"', "“": "”", "‘": "’", "``": "''", "«": "»", "„": "“"}
_PAUSES = frozenset(", ; - – — --".split())  # what a speaker's own next words follow: "No," he said, "not today."
_LONGEST = 400  # words of a quotation; if it is longer, a mark was missing
_ASIDE = 12  # words of narration, at most, that do not end a turn


class Voices:
    """Follows a text word by word and remembers a few numbers of it, however long it is."""

    def __init__(self) -> None:
        self.turn = 0
        self.answers = 0  # whether this turn follows the one before directly
        self.closing = ""  # the mark that will end the quotation; none is open if empty
        self.length = 0  # of the quotation, or of the narration since the last one, in words
        self.pauses = 0  # whether the word before is one that a speaker's own next words follow

    def read(self, words: Sequence[str], speakers: Sequence[str]) -> list[int]:
        """The voices of the next words; `speakers` has a name for each, "" where unknown."""
        return [self._next(word, speaker) for word, speaker in zip(words, speakers, strict=True)]

    def _next(self, word: str, speaker: str) -> int:
        if speaker:
            self.closing, self.length, self.pauses = "", 0, 0
            return -text_hash(speaker)
        goes_on, self.pauses = self.pauses, int(word in _PAUSES)
        self.length += 1
        if not self.closing:
            if word in _CLOSING:
                self._open(word, goes_on)
            return NARRATOR
        if word == self.closing or self.length > _LONGEST:
            self.closing, self.length = "", 0
        return FIRST_TURN * self.turn + self.answers

    def _open(self, mark: str, goes_on: int) -> None:
        aside = self.length - 1  # words since the last quotation
        if not (self.turn and goes_on and aside <= _ASIDE):
            self.answers = int(self.turn > 0 and aside == 0)
            self.turn += 1
        self.closing, self.length = _CLOSING[mark], 0

    def to_values(self) -> list[int | str]:
        return [self.turn, self.answers, self.closing, self.length, self.pauses]

    @classmethod
    def from_values(cls, values: Sequence[int | str]) -> Voices:
        voices = cls()
        voices.turn, voices.answers, voices.closing, voices.length, voices.pauses = values  # type: ignore[assignment]
        return voices
