"""CSV out: one row a mention, with the entity it belongs to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any, TextIO

from streamcoref.document import Document, Entity, Mention
from streamcoref.formats.base import Format, Writer
from streamcoref.formats.csv_cells import row_writer
from streamcoref.formats.fields import refuse

if TYPE_CHECKING:
    from streamcoref.store import StoredEntity

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


def row(key: str, entity: Entity | StoredEntity, mention: Mention) -> tuple[Any, ...]:
    """A value for each column and for types."""
    place = mention.start, mention.end, mention.word_start, mention.word_end, mention.sentence
    what = entity.type, entity.type_score
    return (key, entity.id, entity.name, entity.size, mention.text, *place, mention.score, *what)


def rows(document: Document) -> Iterator[tuple[Any, ...]]:
    """Mentions in the order of the text, an outer one before those inside it."""
    mentions = sorted(
        ((mention, entity) for entity in document.with_text().entities for mention in entity.mentions),
        key=lambda pair: (pair[0].word_start, -pair[0].word_end),
    )
    for mention, entity in mentions:
        yield row(document.key, entity, mention)


def write(documents: Iterable[Document], stream: TextIO, *, defuse: bool = False) -> None:
    """Write a header and then the rows of each document.

    Whether there are columns for types the first document with entities tells: one without has no row.
    """
    put = row_writer(stream, defuse=defuse)
    header: tuple[str, ...] = ()
    for document in documents:
        if not document.entities:
            continue
        if not header:
            header = columns(document)
            put([header])
        elif len(columns(document)) > len(header):
            raise refuse(document, "its entities have types and those of documents before it have none", FORMAT.name)
        put(row[: len(header)] for row in rows(document))
    if not header:
        put([COLUMNS])


def writer(*, defuse: bool) -> Writer:
    """A writer for `write_with`; with `defuse`, cells that a spreadsheet would take for formulas begin with a '."""
    return partial(write, defuse=defuse)


FORMAT = Format(
    name="csv",
    description="one row a mention",
    endings=(".csv",),
    write=write,
    write_defused=writer(defuse=True),
)
