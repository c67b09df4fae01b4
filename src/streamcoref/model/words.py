"""Words on their way to a segment."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from streamcoref.document import Document


class Word(NamedTuple):
    """A word of a text, with all that an answer may have to say of it."""

    text: str
    sentence: int  # its number, from the beginning of the text
    opens: bool  # whether it is the first of its sentence
    ends: bool  # and the last
    speaker: str = ""  # "" where unknown
    start: int | None = None  # its characters in the whole text, if it came from text
    end: int | None = None
    gap: str = " "  # what stands between it and the word before, if they are in one sentence
    paragraph: bool = False  # whether a paragraph begins with it, as far as is known


def opens_paragraph(line_ends: int) -> bool:
    """Whether a word behind so many ends of lines does: there is an empty line, at least."""
    return line_ends > 1


def document_words(document: Document) -> Iterator[Word]:
    """The words of a document, in order."""
    opens = True
    ends = frozenset(document.sentence_ends)
    sentence = 0
    speakers = document.speakers or ("",) * len(document.words)
    before = 0  # where the word before ends in the text
    for number, (text, speaker) in enumerate(zip(document.words, speakers, strict=True), 1):
        paragraph = False
        if document.text is not None:
            start, end = document.offsets[number - 1]
            paragraph = opens_paragraph(document.text.count("\n", before, start))
            before = end
        yield Word(text, sentence, opens, number in ends, speaker, paragraph=paragraph)
        opens = number in ends
        sentence += opens
