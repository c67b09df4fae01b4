"""Quotations out, as CSV: one row a quotation, with who says it to whom."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, TextIO

from streamcoref.document import Document, Quotation
from streamcoref.formats.base import Format, Writer
from streamcoref.formats.csv_cells import row_writer

COLUMNS = (
    "document",
    "speaker",
    "speaker_name",
    "addressee",
    "addressee_name",
    "text",
    "start",
    "end",
    "word_start",
    "word_end",
    "kind",
    "score",
)


def row(key: str, one: Quotation, speaker: str | None, addressee: str | None, text: str) -> tuple[Any, ...]:
    """A value for each column, of a quotation, the names of its entities, if these are known, and its characters."""
    who = one.speaker, speaker, one.addressee, addressee
    return (key, *who, text, one.start, one.end, one.word_start, one.word_end, one.kind, one.score)


def rows(document: Document) -> Iterator[tuple[Any, ...]]:
    """Quotations in the order of the text."""
    document = document.with_text()
    names = {entity.id: entity.name for entity in document.entities} | {None: None}
    for one in document.quotations:
        text = document.span_text((one.word_start, one.word_end))
        yield row(document.key, one, names[one.speaker], names[one.addressee], text)


def write(documents: Iterable[Document], stream: TextIO, *, defuse: bool = False) -> None:
    """Write a header and then the rows of each document."""
    put = row_writer(stream, defuse=defuse)
    put([COLUMNS])
    for document in documents:
        put(rows(document))


def writer(*, defuse: bool) -> Writer:
    """A writer for `write_with`; with `defuse`, cells that a spreadsheet would take for formulas begin with a '."""
    return partial(write, defuse=defuse)


FORMAT = Format(
    name="quotations",
    description="one row a quotation, with who says it to whom, as CSV",
    endings=(".quotations.csv",),
    write=write,
    write_defused=writer(defuse=True),
)
