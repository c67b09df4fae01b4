"""Paragraphs for documents that have lost theirs: where the corpus knows who speaks, one begins with each speaker."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from streamcoref.document import Document, Span
from streamcoref.errors import InputError
from streamcoref.formats.files import read_lines

_ENDING = ".ann"
_QUOTE, _ATTRIBUTION = "QUOTE", "ATTRIB"


def with_paragraphs(document: Document, folder: str | Path) -> Document:
    """The document with a text whose paragraphs begin where LitBank's `quotations` say that another one speaks.

    The file is called after the document: a line `QUOTE name sentence word sentence word text` a quotation, and
    `ATTRIB name speaker`. A document with a text stays as it is.
    """
    file = Path(folder) / f"{document.key}{_ENDING}"
    if document.text is not None:
        return document
    if not file.exists():
        raise InputError(f"there are no quotations for the document {document.key}", Path(folder))
    begins = {0}
    before: str | None = None
    for start, speaker in sorted(_quotations(document, file)):
        if speaker != before:
            begins.add(_sentence_start(document, start))
        before = speaker
    offsets: list[Span] = []
    text = ""
    for number, word in enumerate(document.words):
        text += "" if not number else "\n\n" if number in begins else " "
        offsets.append((len(text), len(text) + len(word)))
        text += word
    return replace(document, text=text, offsets=tuple(offsets))


def _quotations(document: Document, file: Path) -> list[tuple[int, str]]:
    """The first word and the speaker of each."""
    sentences = list(pairwise((0, *document.sentence_ends)))
    starts: dict[str, int] = {}
    found: list[tuple[int, str]] = []
    for number, line in enumerate(read_lines(file), start=1):
        cells = line.rstrip("\r\n").split("\t")
        if cells[0] == _QUOTE and len(cells) > 3 and cells[2].isdecimal() and cells[3].isdecimal():
            sentence, word = int(cells[2]), int(cells[3])
            if sentence >= len(sentences) or word >= sentences[sentence][1] - sentences[sentence][0]:
                raise InputError(f"the document {document.key} has no word {word} in sentence {sentence}", file, number)
            starts[cells[1]] = sentences[sentence][0] + word
        elif cells[0] == _ATTRIBUTION and len(cells) == 3 and cells[1] in starts:
            found.append((starts[cells[1]], cells[2]))
        elif line.strip():
            raise InputError(f"neither a quotation ({_QUOTE}) nor who says one ({_ATTRIBUTION})", file, number)
    return found


def _sentence_start(document: Document, word: int) -> int:
    while not document.opens_sentence(word):
        word -= 1
    return word
