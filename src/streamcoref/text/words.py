"""Words of raw text, close to the Penn treebank's, as the coreference corpora have them.

Punctuation stands alone; clitics are split off (do|n't, Emma|'s, can|not); hyphenated words stay whole, dashes and
ellipses do not; numbers keep their points and commas, abbreviations and initials their stop. A Han or kana character is
a word of its own, since nothing in the text divides them.

These belong to no word and divide words: white space, control characters, the byte order mark U+FEFF, zero width
space U+200B, word joiner U+2060, and the direction marks U+061C, U+200E, U+200F, U+202A-E, U+2066-9. Joiners inside a
word or an emoji (U+200C, U+200D), soft hyphens and combining marks stay inside it; elsewhere they too are in no word.
"""

from __future__ import annotations

import re

from streamcoref.document import Span
from streamcoref.text.abbreviations import BEFORE_NUMBER, LEADING, TRAILING

LONGEST_WORD = 100  # characters; a longer unbroken run is cut, so that no input makes a word of unbounded size

# Inside a character class. `re` has no \p{...}, and its \w lacks combining marks, so a letter is whatever is neither
# blank nor punctuation nor a symbol: that also keeps marks, unassigned and private characters inside their word.
BLANK = r"\s\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff"
_JOINER = r"\u00ad\u200c\u200d\ufe00-\ufe0f\U000e0100-\U000e01ef"
_HAN = r"\u3005-\u3007\u3041-\u30fa\u30fd-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_SYMBOL = (
    r"!-/:-@\[-`{-~\u00a1-\u00a9\u00ab\u00ac\u00ae-\u00b1\u00b4\u00b6-\u00b8\u00bb\u00bf\u00d7\u00f7"  # ASCII, Latin-1
    r"\u055a-\u055f\u0589\u05be\u05c0\u05c3\u060c\u061b\u061f\u066a-\u066d\u06d4\u0964\u0965\u0e3f\u104a\u104b"
    r"\u1361-\u1368\u17d4-\u17da\u1800-\u180a\u2010-\u2027\u2030-\u205e\u20a0-\u20cf\u2190-\u2bff\u2e00-\u2e7f"
    r"\u3001-\u3004\u3008-\u3020\u3030\u30fb\ufe10-\ufe6f\uff01-\uff0f\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65"
    r"\uffe0-\uffee\U0001f000-\U0001faff"
)
_FIRST = rf"[^{BLANK}{_SYMBOL}{_HAN}{_JOINER}]"  # a letter, digit or mark
_REST = rf"[^{BLANK}{_SYMBOL}{_HAN}]"  # the same, or a joiner
_RUN = rf"{_FIRST}{_REST}{{0,{LONGEST_WORD - 1}}}+"
_EDGE = rf"(?!{_REST})"
_APOSTROPHE = r"['\u2019]"

_TWO_IN_ONE = "(?i:cannot|gonna|wanna|gotta|gimme|lemme)"  # which `_CLITIC` divides

# One pass, first alternative that fits. Every repetition is bounded, and all but a web address's possessive, so that
# time is linear.
_WORD = re.compile(
    rf"""
      (?P<plain>(?!{_TWO_IN_ONE}[ ,;\n])[A-Za-z]{{1,{LONGEST_WORD}}}+(?=[ ,;\n]))  # most words, as they are below
    | (?:https?://|www\.)[^{BLANK}<>"]{{1,1000}}(?<![.,;:!?)'\]])
    | [A-Za-z0-9._%+-]{{1,64}}+@[A-Za-z0-9-]{{1,63}}+(?:\.[A-Za-z0-9-]{{1,63}}+){{1,8}}+
    | \.{{2,{LONGEST_WORD}}}+ | -{{2,{LONGEST_WORD}}}+ | ``|''
    | (?P<mark>[*_=~#])(?P=mark){{0,{LONGEST_WORD - 1}}}+
    | {_APOSTROPHE}(?:s|re|ve|ll|d|m){_EDGE}                                  # a clitic after a quotation mark
    | {_APOSTROPHE}[tT](?=(?:is|was|were|will|would|ain){_EDGE})                  # 't|is
    | {_APOSTROPHE}(?:em|im|til|cause|cos|bout|round|n){_EDGE}
    | \d{{1,{LONGEST_WORD}}}+(?:[.,:/]\d{{1,30}}+){{1,20}}+(?:{_REST}{{1,20}}+)?  # 40,000  7.2  08:00  1/2  1.5kg
    | (?:[A-Za-z]\.){{2,10}}+{_EDGE}                                          # U.S.  e.g.  a.m.
    | (?:Ph\.D|Ph\.Ds|M\.Sc|B\.Sc)\.
    | (?:{"|".join(sorted(LEADING | TRAILING))})\.(?!{_REST})
    | (?:{"|".join(sorted(BEFORE_NUMBER))})\.(?=[{BLANK}]{{0,2}}\d)
    | [A-HJ-Z]\.(?=[{BLANK}])                                                 # an initial; "I." is the pronoun
    | (?:[a-z0-9-]{{2,63}}+\.){{1,8}}+(?:com|org|net|edu|gov|info|co|io|uk|de|fr|mx){_EDGE}
    | {_RUN}(?:(?:{_APOSTROPHE}|[-\u2010\u2011&_])(?={_FIRST}){_RUN}){{0,20}}+(?:-(?=[{BLANK}]))?
    | [\U0001f1e6-\U0001f1ff]{{2}}                                            # a flag
    | (?:[{_SYMBOL}])(?:[\ufe0f\U0001f3fb-\U0001f3ff]|\u200d[{_SYMBOL}]){{0,20}}+   # any other mark; an emoji family
    | [{_HAN}]
    """,
    re.VERBOSE,
)
# A clitic at the end of a word, or the second half of two words written as one.
_CLITIC = re.compile(
    rf"(?:n{_APOSTROPHE}t|{_APOSTROPHE}(?:s|re|ve|ll|d|m))$"
    rf"|(?<=^can)not$|(?<=^gon)na$|(?<=^wan)na$|(?<=^got)ta$|(?<=^gim)me$|(?<=^lem)me$",
    re.IGNORECASE,
)
_MAY_HAVE_CLITIC = re.compile(r"['\u2019]|(?:not|na|ta|me)$", re.IGNORECASE)


# How many characters from its first one on decide a word, at most: a run with 20 hyphens in it is the longest.
HORIZON = 22 * (LONGEST_WORD + 1)
# What stands before a blank is decided by what stands up to there, the blank, and two characters more: "No. 5".
BLANK_LOOK_AHEAD = 3
_BLANK = re.compile(f"[{BLANK}]")


def is_blank(character: str) -> bool:
    return _BLANK.match(character) is not None


def split_words(text: str, begin: int = 0, limit: int | None = None) -> tuple[list[Span], int]:
    """The words that begin in `text[begin:limit]` as spans of characters, in order, and where the last of them ends."""
    spans: list[Span] = []
    stop = len(text) if limit is None else limit
    done = begin
    for match in _WORD.finditer(text, begin):
        start, end = match.span()
        if start >= stop:
            break
        if match.lastgroup == "plain":
            spans.append((start, end))
        elif end - start > LONGEST_WORD:
            spans.extend((a, min(a + LONGEST_WORD, end)) for a in range(start, end, LONGEST_WORD))
        elif end - start > 2 and _MAY_HAVE_CLITIC.search(match[0]):
            spans.extend(_split_clitics(match[0], start))
        else:
            spans.append((start, end))
        done = end
    return spans, done


def _split_clitics(word: str, start: int) -> list[Span]:
    """I'd've as I, 'd and 've."""
    spans: list[Span] = []
    while (found := _CLITIC.search(word)) and found.start() > 0:
        spans.append((start + found.start(), start + len(word)))
        word = word[: found.start()]
    spans.append((start, start + len(word)))
    return spans[::-1]
