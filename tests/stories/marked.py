"""Texts with their mentions in brackets, each with the letter of its entity: `[a Anna] lost [b [a her] hat].`"""

from __future__ import annotations

import re

from streamcoref import Document
from streamcoref.document import Span
from streamcoref.text import document_from_text

Places = dict[str, list[Span]]  # of each entity's letter: where its mentions are, in characters


def parse(marked: str) -> tuple[str, Places]:
    """The text without its brackets, and the mentions, which may nest, in the order of their ends."""
    text = ""
    opened: list[tuple[str, int]] = []
    places: Places = {}
    for piece in re.split(r"(\[\w |\])", marked):
        if re.fullmatch(r"\[\w ", piece):
            opened.append((piece[1], len(text)))
        elif piece == "]":
            assert opened, f"a bracket closes that was not opened: “{text[-30:]}]”"
            entity, start = opened.pop()
            places.setdefault(entity, []).append((start, len(text)))
        else:
            assert "[" not in piece, f"a bracket without the letter of an entity: “{piece}”"
            text += piece
    assert not opened, f"a bracket is left open: {opened}"
    return text, places


def marked_document(name: str, marked: str) -> Document:
    """A text as raw text is read, with its marked mentions as gold clusters; they must begin and end with words."""
    text, places = parse(marked)
    document = document_from_text(name, text)
    starts = {start: word for word, (start, _) in enumerate(document.offsets)}
    ends = {end: word + 1 for word, (_, end) in enumerate(document.offsets)}
    cut = [text[a:b] for spans in places.values() for a, b in spans if a not in starts or b not in ends]
    assert not cut, f"{name}: mentions that do not begin and end with words: {cut}"
    clusters = tuple(tuple((starts[a], ends[b]) for a, b in spans) for spans in places.values())
    return Document(name, document.words, document.sentence_ends, clusters, text=text, offsets=document.offsets)
