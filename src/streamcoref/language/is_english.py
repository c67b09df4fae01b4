"""Whether a text is English, the only language that the models know, told by its first words as they come.

A language is known by its small words. English prose has one among two or three words; a list of names, a table or a
program may have none, and is still no other language. So a text is called foreign only if it has small words of other
languages, or words with marks that English does not write, and more of them than English ones; or if most of its
letters are not Latin.

Measured on windows of 20 to 300 words of English novels, news, talk, forums, manuals, poems and scientific papers, and
on sentences of some thirty languages: `tests/language/test_is_english.py`. A library that knows a hundred languages
would bring megabytes of tables for a question that has two answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from streamcoref.language.english import SMALL_WORDS as ENGLISH
from streamcoref.language.other_languages import SMALL_WORDS as OTHERS

ENOUGH = 300  # words, after which it is decided
_FEWEST = 3  # words of other languages that make a text foreign
_SHARE = 0.12  # of all words that these are at least
_LETTERS = 12  # that are not Latin make a text foreign, if they are more than half of all
_LAST_LATIN = "\u024f"


class LanguageCheck:
    """Reads words and says once, with True, that they are not English: after `ENOUGH` of them, or at the text's end.

    It remembers a few numbers, and nothing changes them once it is decided.
    """

    def __init__(self) -> None:
        self.words = 0  # with letters
        self.english = self.others = self.marked = 0  # of them: small words, and others with a mark on a letter
        self.letters = self.not_latin = 0
        self.decided = False

    def read(self, words: Iterable[str]) -> bool:
        for word in words:
            if self.decided:
                return False
            self._count(word)
            if self.words == ENOUGH:
                return self.end()
        return False

    def end(self) -> bool:
        """Decide by what has come; more may follow, and changes nothing."""
        if self.decided:
            return False
        self.decided = True
        if self.not_latin >= _LETTERS and 2 * self.not_latin > self.letters:
            return True
        # "naïve" and "café" alone make no French.
        others = self.others + (self.marked if self.others or 2 * self.marked > self.words else 0)
        return others >= max(_FEWEST, _SHARE * self.words) and others > self.english

    def _count(self, word: str) -> None:
        letters = [character for character in word if character.isalpha()]
        if not letters:
            return
        self.words += 1
        self.letters += len(letters)
        self.not_latin += sum(not _is_latin(letter) for letter in letters)
        lowered = word.lower()
        if lowered in ENGLISH:
            self.english += 1
        elif lowered in OTHERS and (len(word) > 2 or word.islower()):  # "Su" and "Tu" are days of opening
            self.others += 1
        elif word.islower() and any(letter > "\x7f" and _is_latin(letter) for letter in letters):
            self.marked += 1

    def to_values(self) -> list[int]:
        return [self.words, self.english, self.others, self.marked, self.letters, self.not_latin, int(self.decided)]

    @classmethod
    def from_values(cls, values: Sequence[int]) -> LanguageCheck:
        check = cls()
        check.words, check.english, check.others, check.marked, check.letters, check.not_latin, decided = values
        check.decided = bool(decided)
        return check


def is_english(words: Iterable[str]) -> bool:
    """Whether these words, or the first of them if they are many, are English as far as can be told."""
    check = LanguageCheck()
    return not (check.read(words) or check.end())


def _is_latin(letter: str) -> bool:
    """Latin with all its marks; the wide forms of East Asian type too."""
    return letter <= _LAST_LATIN or "\u1e00" <= letter <= "\u1eff" or "\uff21" <= letter <= "\uff5a"
