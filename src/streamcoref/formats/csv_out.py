"""CSV out: one row a mention, with the entity it belongs to."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, TextIO

from streamcoref.document import Document
from streamcoref.formats.base import Format, Writer
from streamcoref.formats.fields import refuse

# A cell that begins so is a formula to spreadsheet programs, which may run what a stranger's text says.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")

COLUMNS = (
    "document",
    "entity",
    "name",
    "size",
    "text",
    "start",
    "end",
    "word_start",
    "word_end",
    "sentence",
    "score",
)
TYPE_COLUMNS = ("type", "type_score")


def columns(document: Document) -> tuple[str, ...]:
    """The names of a document's columns; types have theirs where its entities have any."""
    return COLUMNS + TYPE_COLUMNS if any(entity.type is not None for entity in document.entities) else COLUMNS


def rows(document: Document) -> Iterator[tuple[Any, ...]]:
    """Mentions in the order of the text, an outer one before those inside it: a value for each column and for types."""
    mentions = sorted(
        ((mention, entity) for entity in document.with_text().entities for mention in entity.mentions),
        key=lambda pair: (pair[0].word_start, -pair[0].word_end),
    )
    for mention, entity in mentions:
        yield (
            document.key,
            entity.id,
            entity.name,
            entity.size,
            mention.text,
            mention.start,
            mention.end,
            mention.word_start,
            mention.word_end,
            mention.sentence,
            mention.score,
            entity.type,
            entity.type_score,
        )


def write(documents: Iterable[Document], stream: TextIO, *, defuse: bool = False) -> None:
    """Write a header and then the rows of each document.

    Whether there are columns for types the first document with entities tells: one without has no row.
    """
    cell = _defused if defuse else _as_it_is
    table = csv.writer(stream, lineterminator="\n")
    header: tuple[str, ...] = ()
    for document in documents:
        if not document.entities:
            continue
        if not header:
            header = columns(document)
            table.writerow(header)
        elif len(columns(document)) > len(header):
            raise refuse(document, "its entities have types and those of documents before it have none", FORMAT.name)
        table.writerows(map(cell, row[: len(header)]) for row in rows(document))
    if not header:
        table.writerow(COLUMNS)


def writer(*, defuse: bool) -> Writer:
    """A writer for `write_with`; with `defuse`, cells that a spreadsheet would take for formulas begin with a '."""
    return partial(write, defuse=defuse)


def _as_it_is(value: Any) -> Any:
    return value


def _defused(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value


FORMAT = Format(
    name="csv",
    description="one row a mention",
    endings=(".csv",),
    write=write,
)
