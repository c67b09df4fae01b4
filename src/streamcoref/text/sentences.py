"""Where sentences end, by rule, given the words of `text.words`.

A sentence ends after a stop (. ! ? … and other scripts' own) together with the quotes and brackets that close there,
unless what follows continues it: a lower-case word, a comma, a name after a title or an initial. A blank line
always ends a sentence; a single line end never does. One pass that looks back one word, and ahead no further than
the few words that open the next sentence and never over a blank line.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from streamcoref.document import Span
from streamcoref.text.abbreviations import BEFORE_NUMBER, LEADING, TRAILING

PARAGRAPH = re.compile(r"(?>\r\n|[\n\r\x85\u2028])[^\S\n\r\x85\u2028]*+[\n\r\x85\u2028]|[\f\u2029]")
_STOPS = ".!?…‼⁇⁈⁉。！？｡؟۔।॥։።፧។"
_STOP = re.compile(rf"[{_STOPS}]|\.{{2,}}")
_CLOSER = frozenset("\" ' '' ” ’ » › ) ] } 」 』 ） 】 〉 》".split())
_OPENER = frozenset("\" ' `` ‘ “ „ « ‹ ( [ { 「 『 （ 【 〈 《 ¿ ¡ _ * - -- – —".split())
_EITHER = frozenset("\" ' ’ _ *".split())  # may open or close: white space and what is already open tell
_CONTINUES = frozenset(", ; : / % & …".split())
_CITATION = re.compile(r"\[\d{1,4}\]")  # "He left.[2] Later": the number belongs to what went before
_NUMBER_OR_LETTER = re.compile(r"\d+|[A-Za-z]|[IVXLC]+")
# Words that open sentences far more often than they continue one in capitals; they decide after "Inc.", "U.S.", "J.".
_STARTERS = frozenset(
    "The A An He She It They We You This That These Those There Here In On At As But And Or If When While For From To "
    "By With After Before Since Until Then Now So Yet Not No Yes His Her Its Their My Our Your What Who Why How Where "
    "Which Is Are Was Were Do Does Did However Although Though Because Once During Another Some Many Most All Both "
    "Each One Two I".split()
)
_WITHIN = ("", " ")  # what stands between words of one sentence, nearly always
_LONGEST_OPENING = 4  # quotes and brackets before a sentence's first word


# How many words further than a word must be known before it is decided whether a sentence ends behind it.
LOOK_AHEAD = 1 + _LONGEST_OPENING
# Characters between two words; a longer gap ends a sentence, so that no mention holds an unbounded stretch of blanks.
LONGEST_GAP = 1000


@dataclass
class SentenceEnds:
    """Finds the ends, some words at a time; between two calls it keeps what it knows of the sentence at hand."""

    length: int = 0  # of the sentence so far, in words
    stop: str = ""  # the stop that may end the sentence here, kept while quotes and brackets close behind it
    opened: set[str] = field(default_factory=set)  # quotation marks that could be either, open in this sentence

    def find(self, text: str, words: Sequence[Span], first: int, last: int) -> list[int]:
        """After how many of `words` a sentence ends, decided for `words[first:last]`.

        `words` goes on for LOOK_AHEAD words behind `last`, or else ends with it, as the text does; it begins with the
        word before `first`, if that is in the same sentence.
        """
        ends: list[int] = []
        length, stop, opened = self.length, self.stop, self.opened
        for i in range(first, last):
            length += 1
            start, end = words[i]
            word = text[start:end]
            if not stop and word[-1] not in _STOPS and word not in _EITHER:
                if i + 1 < len(words) and text[end : words[i + 1][0]] in _WITHIN:
                    continue  # nearly all
            elif _is_stop(word):
                stop = word
            elif not (stop and _closes(text, words, i, opened)):
                stop = ""
            if word in _EITHER:
                opened ^= {word}
            if i + 1 < len(words) and not _divided(text, words[i], words[i + 1]):
                if not stop or (length == 2 and _NUMBER_OR_LETTER.fullmatch(text[slice(*words[i - 1])])):
                    continue  # the second case is the number of a list: "1. Wash the leaves."
                if _closes(text, words, i + 1, opened) or not _begins(text, words, i + 1, stop):
                    continue
            ends.append(i + 1)
            length, stop, opened = 0, "", set()
        self.length, self.stop, self.opened = length, stop, opened
        return ends

    def is_sound(self) -> bool:
        """Whether these, which were saved and may have been changed, can be what `find` keeps."""
        known = not self.stop or (self.length > 0 and _is_stop(self.stop))
        return known and self.opened <= _EITHER and len(self.opened) <= self.length


def _divided(text: str, word: Span, following: Span) -> bool:
    """Whether a sentence ends between two words whatever they are."""
    if text[word[1] : following[0]] in _WITHIN:
        return False
    return following[0] - word[1] > LONGEST_GAP or PARAGRAPH.search(text, word[1], following[0]) is not None


def _is_stop(word: str) -> bool:
    if word[-1] not in _STOPS:  # nearly all
        return False
    return bool(_STOP.fullmatch(word)) or (word[-1] == "." and len(word) > 1 and word[-2] != ".")


def _closes(text: str, words: Sequence[Span], i: int, opened: set[str]) -> bool:
    """Whether word i closes something: a bracket, a citation, a quote right behind a word or with one still open."""
    start, end = words[i]
    word = text[start:end]
    if _CITATION.match(text, start if word == "[" else max(start - 1, 0)):
        return True
    if word not in _CLOSER and word not in _EITHER:
        return False
    if word not in _EITHER or words[i - 1][1] == start:
        return True
    stands_alone = i + 1 == len(words) or words[i + 1][0] > end
    return stands_alone and word in opened


def _begins(text: str, words: Sequence[Span], i: int, stop: str) -> bool:
    """Whether a new sentence begins with word i, after `stop`."""
    first = i
    while (
        first < min(i + _LONGEST_OPENING, len(words) - 1)
        and text[slice(*words[first])] in _OPENER
        and not _divided(text, words[first], words[first + 1])
    ):
        first += 1
    word = text[slice(*words[first])]
    if word[0].islower() or word in _CONTINUES or (_is_stop(word) and not word[0].isalnum()):
        return False
    spelled = stop[:-1]
    if not spelled or not spelled[0].isalpha():
        ellipsis = len(spelled) > 0 or stop == "…"
        return not (ellipsis and word == "I")
    if spelled in LEADING or spelled in BEFORE_NUMBER or spelled in ("e.g", "i.e"):
        return False
    if first > i and spelled in TRAILING:
        return True
    return word in _STARTERS
