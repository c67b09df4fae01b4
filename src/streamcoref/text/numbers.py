"""Numbers as headings write them: 12, XII, TWELVE, THE TWELFTH."""

from __future__ import annotations

import re

_ONES = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_TENTHS = "twentieth thirtieth fortieth fiftieth sixtieth seventieth eightieth ninetieth"
_WORDS = {word: number for number, word in enumerate(f"{_ONES} eighteen nineteen".split(), 1)}
_WORDS |= {word: number for number, word in enumerate(_ORDINALS.split(), 1)}
_WORDS |= {word: 10 * number for words in (_TENS, _TENTHS) for number, word in enumerate(words.split(), 2)}
_ROMAN = {"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}
_ROMAN_NUMERAL = re.compile(r"c{0,3}(xc|xl|l?x{0,4})(ix|iv|v?i{0,4})")  # also IIII, as clocks and old books have it

_WORD = "|".join(sorted(_WORDS, key=len, reverse=True))
NUMBER = rf"(?:\d{{1,4}}|[ivxlc]{{1,12}}|last|(?:{_WORD})(?:[ -](?:{_WORD}))?)"  # any case; `number_of` says which


def number_of(text: str) -> int | None:
    """The number; None if it is written as one that none is, or "the last"."""
    text = text.lower()
    if text.isdecimal():
        return int(text)
    words = text.replace("-", " ").split()
    if all(word in _WORDS for word in words):
        return sum(_WORDS[word] for word in words)
    if not _ROMAN_NUMERAL.fullmatch(text):
        return None
    values = [_ROMAN[letter] for letter in text]
    following = [*values[1:], 0]
    return sum(-value if value < after else value for value, after in zip(values, following, strict=True))
