"""The original text in CoNLL-U: characters around and under the words, by UDPipe's attributes in MISC."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from streamcoref.document import Document, Span
from streamcoref.formats.fields import refuse

# https://ufal.mff.cuni.cz/udpipe/1/users-manual#run_udpipe_tokenizer, "Preserving original spaces"
_ESCAPES = {"s": " ", "t": "\t", "r": "\r", "n": "\n", "p": "|", "\\": "\\"}
_UNESCAPES = str.maketrans({character: f"\\{letter}" for letter, character in _ESCAPES.items()})


def escape(text: str) -> str:
    return text.translate(_UNESCAPES)


def unescape(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[0]), text)


class TextBuilder:
    """Puts a document's text together token by token. `range_end` is the last word of an unfinished range."""

    def __init__(self) -> None:
        self.range_end: int | None = None
        self._pieces: list[str] = []
        self._length = 0
        self._offsets: list[Span] = []
        self._gap, self._gap_is_explicit = "", False
        self._range: Span = (0, 0)
        self._range_words: list[str] = []

    def new_paragraph(self) -> None:
        if self._pieces and not self._gap_is_explicit:
            self._gap = "\n\n"

    def add_word(self, number: int, form: str, attributes: Mapping[str, str]) -> None:
        if self.range_end is None:
            self._offsets.append(self._add_token(form, attributes))
            return
        self._range_words.append(form)
        if number >= self.range_end:
            self._end_range()

    def add_range(self, last: int, form: str, attributes: Mapping[str, str]) -> None:
        self.range_end = last
        self._range = self._add_token(form, attributes)
        self._range_words = []

    def _end_range(self) -> None:
        """Each word its own characters where the words make up the surface, else all of the surface's."""
        start, end = self._range
        if "".join(self._range_words) == self._pieces[-1]:
            for word in self._range_words:
                self._offsets.append((start, start + len(word)))
                start += len(word)
        else:
            self._offsets.extend([(start, end)] * len(self._range_words))
        self.range_end = None

    def _add_token(self, form: str, attributes: Mapping[str, str]) -> Span:
        inside = attributes.get("SpacesInToken")
        surface = form if inside is None else unescape(inside)
        before = self._gap + unescape(attributes.get("SpacesBefore", ""))
        self._pieces += (before, surface)
        start = self._length + len(before)
        self._length = start + len(surface)
        after = attributes.get("SpacesAfter")
        self._gap_is_explicit = after is not None
        self._gap = unescape(after) if after is not None else "" if attributes.get("SpaceAfter") == "No" else " "
        return start, self._length

    def finish(self) -> tuple[str, tuple[Span, ...]]:
        """The text, without the blank that follows the last word by default, and the offsets of the words."""
        if self._gap_is_explicit:
            self._pieces.append(self._gap)
        return "".join(self._pieces), tuple(self._offsets)


@dataclass(frozen=True, slots=True)
class Surface:
    """The words from `first` up to `end` and the line that gives their characters."""

    first: int
    end: int
    form: str
    attributes: list[str]


def surfaces(document: Document, format_name: str) -> list[Surface]:
    """What CoNLL-U says of the characters of each word, or of words that share theirs; nothing without a text."""
    text = document.text
    if text is None:
        return []
    if text and not document.words:
        raise refuse(document, "it has a text but no words", format_name)
    groups = _shared_characters(document, format_name)
    result: list[Surface] = []
    for (first, end), (following, _) in pairwise([*groups, (len(document.words), 0)]):
        start, stop = document.offsets[first]
        surface = text[start:stop]
        attributes: list[str] = []
        gap = text[stop : document.offsets[following][0] if following < len(document.words) else len(text)]
        if not gap:
            attributes.append("SpaceAfter=No")
        elif gap != " " or following == len(document.words):
            attributes.append(f"SpacesAfter={escape(gap)}")
        if first == 0 and start > 0:
            attributes.append(f"SpacesBefore={escape(text[:start])}")
        form = re.sub(r"[\t\r\n]", " ", surface) if end - first > 1 else document.words[first]
        if form != surface:
            attributes.append(f"SpacesInToken={escape(surface)}")
        result.append(Surface(first, end, form, attributes))
    return result


def _shared_characters(document: Document, format_name: str) -> list[Span]:
    """Group neighbours of a sentence with the same offsets; refuse what the format cannot say."""
    groups: list[Span] = []
    position = 0  # the end of the characters seen so far
    for word, (start, end) in enumerate(document.offsets):
        same = word > 0 and document.offsets[word - 1] == (start, end)
        if same and document.sentence_of_word[word - 1] == document.sentence_of_word[word]:
            groups[-1] = (groups[-1][0], word + 1)
            continue
        if start < position or start >= end or end > len(document.text or ""):
            raise refuse(
                document, f"the characters {start} to {end} of word {word} are empty or overlap others", format_name
            )
        groups.append((word, word + 1))
        position = end
    for first, last in groups:
        surface = (document.text or "")[slice(*document.offsets[first])]
        if last - first > 1 and "".join(document.words[first:last]) == surface:
            raise refuse(document, f"words {first} to {last - 1} share the characters they are made of", format_name)
    return groups
