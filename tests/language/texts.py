"""Words of a text as trackers are given them."""

from __future__ import annotations

from collections.abc import Sequence

from streamcoref.document import Document
from streamcoref.model.words import Word, document_words
from streamcoref.text import split_text


def tracked(words: Sequence[str], speakers: Sequence[str] = ()) -> list[Word]:
    """Words without a text, so that nothing is known of paragraphs."""
    names = speakers or [""] * len(words)
    return [Word(word, 0, opens=False, ends=False, speaker=name) for word, name in zip(words, names, strict=True)]


def words_of(text: str) -> list[Word]:
    """The words of a text, with its paragraphs."""
    spans, ends = split_text(text)
    document = Document("text", tuple(text[a:b] for a, b in spans), tuple(ends), text=text, offsets=tuple(spans))
    words = []
    before = 0
    for word, (start, end) in zip(document_words(document), spans, strict=True):
        words.append(word._replace(start=start, end=end, gap="" if word.opens else text[before:start]))
        before = end
    return words
