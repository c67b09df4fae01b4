"""CSV out: one row a mention, with the entity it belongs to."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, TextIO

from streamcoref.document import Document
from streamcoref.formats.base import Format, Writer

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


def rows(document: Document) -> Iterator[tuple[Any, ...]]:
    """Mentions in the order of the text, an outer one before those inside it: a value for each of `COLUMNS`."""
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
        )


def write(documents: Iterable[Document], stream: TextIO, *, defuse: bool = False) -> None:
    """Write a header and then the rows of each document."""
    cell = _defused if defuse else _as_it_is
    table = csv.writer(stream, lineterminator="\n")
    table.writerow(COLUMNS)
    for document in documents:
        table.writerows(map(cell, row) for row in rows(document))


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
