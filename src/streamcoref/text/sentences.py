"""Where sentences end, by rule, given the words of `text.words`.

A sentence ends after a stop (. ! ? … and other scripts' own) together with the quotes and brackets that close there,
unless what follows continues it: a lower-case word, a comma, a name after a title or an initial. A blank line
always ends a sentence; a single line end never does. One pass that looks back no further than the sentence at hand
and ahead no further than the few words that open the next.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from streamcoref.document import Span
from streamcoref.text.abbreviations import BEFORE_NUMBER, LEADING, TRAILING

PARAGRAPH = re.compile(r"(?>\r\n|[\n\r\x85\u2028])[^\S\n\r\x85\u2028]*+[\n\r\x85\u2028]|[\f\u2029]")
_STOP = re.compile(r"[.!?…‼⁇⁈⁉。！？｡؟۔।॥։።፧។]|\.{2,}")
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
_LONGEST_OPENING = 4  # quotes and brackets before a sentence's first word


def split_sentences(text: str, words: Sequence[Span]) -> list[int]:
    """After how many words each sentence ends; the last is the number of words. No words, no sentences."""
    ends: list[int] = []
    begin = 0
    stop = ""  # the stop that may end the sentence here, kept while quotes and brackets close behind it
    opened: set[str] = set()  # quotation marks that could be either, open in this sentence
    for i in range(len(words)):
        word = text[slice(*words[i])]
        if _is_stop(word):
            stop = word
        elif not (stop and _closes(text, words, i, opened)):
            stop = ""
        if word in _EITHER:
            opened ^= {word}
        if i + 1 < len(words) and not PARAGRAPH.search(text, words[i][1], words[i + 1][0]):
            if not stop or (i + 1 - begin == 2 and _NUMBER_OR_LETTER.fullmatch(text[slice(*words[begin])])):
                continue  # the second case is the number of a list: "1. Wash the leaves."
            if _closes(text, words, i + 1, opened) or not _begins(text, words, i + 1, stop):
                continue
        ends.append(i + 1)
        begin, stop, opened = i + 1, "", set()
    return ends


def _is_stop(word: str) -> bool:
    return bool(_STOP.fullmatch(word)) or (word[-1] == "." and len(word) > 1 and word[-2] != ".")


def _closes(text: str, words: Sequence[Span], i: int, opened: set[str]) -> bool:
    """Whether word i closes something: a bracket, a citation, a quote right behind a word or with one still open."""
    start, end = words[i]
    word = text[start:end]
    if _CITATION.match(text, start if word == "[" else max(start - 1, 0)):
        return True
    if word not in _CLOSER and word not in _EITHER:
        return False
    if word not in _EITHER or start == 0 or words[i - 1][1] == start:
        return True
    stands_alone = i + 1 == len(words) or words[i + 1][0] > end
    return stands_alone and word in opened


def _begins(text: str, words: Sequence[Span], i: int, stop: str) -> bool:
    """Whether a new sentence begins with word i, after `stop`."""
    first = i
    while first < min(i + _LONGEST_OPENING, len(words) - 1) and text[slice(*words[first])] in _OPENER:
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
