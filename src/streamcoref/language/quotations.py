"""Where somebody speaks: the quotations of a text, word by word, and which of them one person says.

A *turn* is all that one person says until another one speaks, as far as marks and paragraphs tell: the quotations of
one paragraph, and those of the next ones if each is left open and opened anew. Where a text has no paragraphs, what is
said about a quotation ("she replied") may stand between two of one turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from streamcoref.language.lexicon import Lexicon

if TYPE_CHECKING:
    from streamcoref.model.words import Word

NARRATED = 0  # the "turn" of a word that nobody says
_PARAGRAPH = "\n"  # closes what a dash has opened; no word is this
_MOST = 1 << 48  # words or turns of a saved text


class Quotations:
    """The number of the turn that each word belongs to, marks included; 0 outside. A `WordTracker`.

    It remembers a few values, however long the text is. A quotation that is never closed ends with its paragraph, or
    where the text has none after `longest_quotation` words. Single marks open one only in texts that have not used
    double ones, dashes only in texts that have used no marks at all. Words of a speaker whom the text itself names are
    nobody's quotation.
    """

    name: ClassVar[str] = "quotations"

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.turn = 0
        self.closing = ""  # the mark that will end the quotation; none is open if empty
        self.length = 0  # of the quotation, or of the narration since the last one, in words
        self.paragraphs = 0  # whether the text has any
        self.fresh = 1  # whether a paragraph has begun since the last quotation
        self.goes_on = 0  # whether that paragraph's first mark opens the quotation anew that the last one left open
        self.aside = 0  # whether the narration since may be about the last quotation: "said he"
        self.double = 0  # whether double marks have been used
        self.last = ""  # the word before

    def read(self, words: Sequence[Word]) -> list[int]:
        return [self._next(word) for word in words]

    def _next(self, word: Word) -> int:
        if word.paragraph:
            self.paragraphs = self.paragraphs or int(self.turn > 0 or self.length > 0)
            self.goes_on, self.fresh = int(self.closing not in ("", _PARAGRAPH)), 1
            if self.closing:
                self.closing, self.length = "", 0
        if word.speaker:
            self.closing, self.length, self.last = "", 0, ""
            return NARRATED
        self.length += 1
        turn = self._inside(word) if self.closing else self._outside(word)
        self.last = word.text
        if not word.paragraph and turn == NARRATED:
            self.goes_on = 0
        return turn

    def _inside(self, word: Word) -> int:
        closes = word.text == self.closing and (
            self.closing not in self.lexicon.single_marks.values() or self._ends(word)
        )
        if closes or (not self.paragraphs and self.length > self.lexicon.longest_quotation):
            self.aside = int(self.last in self.lexicon.pauses)
            self.closing, self.length, self.fresh = "", 0, 0
        return self.turn

    def _ends(self, word: Word) -> bool:
        """Whether a single mark closes: an apostrophe stands behind a letter."""
        return (word.start is None or word.gap == "") and not self.last[-1:].isalnum()

    def _outside(self, word: Word) -> int:
        closing = self._opened_by(word)
        if not closing:
            text = word.text
            if (self.length == 1 and text[:1].islower()) or text.lower() in self.lexicon.speech_verbs:
                self.aside = 1
            return NARRATED
        if not self._same_turn(self.length - 1):
            self.turn += 1
        self.closing, self.length, self.fresh, self.goes_on = closing, 0, 0, 0
        return self.turn

    def _opened_by(self, word: Word) -> str:
        """The mark that will close what this word opens, if it does."""
        text = word.text
        if text in self.lexicon.double_marks:
            self.double = 1
            return self.lexicon.double_marks[text]
        if self.double:
            return ""
        begins = word.paragraph or not self.last or not self.last[-1:].isalnum()
        if text in self.lexicon.single_marks and begins and (word.start is None or word.opens or word.gap != ""):
            return self.lexicon.single_marks[text]
        return _PARAGRAPH if word.paragraph and self.paragraphs and text in self.lexicon.dashes else ""

    def _same_turn(self, narrated: int) -> bool:
        """Whether what is opened behind so many words of narration is said by who spoke last."""
        if not self.turn:
            return False
        if self.paragraphs:
            return not self.fresh or bool(self.goes_on)
        return bool(self.aside) and 0 < narrated <= self.lexicon.longest_aside

    def to_values(self) -> list[int | str]:
        numbers = self.turn, self.length, self.paragraphs, self.fresh, self.goes_on, self.aside, self.double
        return [*numbers, self.closing, self.last]

    def restore(self, values: Sequence[int | str]) -> None:
        *numbers, closing, last = values
        most = (_MOST, _MOST, 1, 1, 1, 1, 1)
        marks = (*self.lexicon.double_marks.values(), *self.lexicon.single_marks.values())
        if closing not in ("", _PARAGRAPH, *marks) or type(last) is not str:
            raise ValueError("a quotation that nothing can end")
        if any(type(n) is not int or not 0 <= n <= limit for n, limit in zip(numbers, most, strict=True)):
            raise ValueError("a number of a saved text that it cannot have")
        turn, length, paragraphs, fresh, goes_on, aside, double = (int(number) for number in numbers)
        self.turn, self.length, self.paragraphs, self.fresh = turn, length, paragraphs, fresh
        self.goes_on, self.aside, self.double, self.closing, self.last = goes_on, aside, double, str(closing), last
