"""CSV out: one row a mention, with the entity it belongs to."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import TextIO

from streamcoref.document import Document
from streamcoref.formats.base import Format

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


def write(documents: Iterable[Document], stream: TextIO) -> None:
    """Write a header and then mentions in the order of the text, an outer one before those inside it."""
    rows = csv.writer(stream, lineterminator="\n")
    rows.writerow(COLUMNS)
    for document in documents:
        mentions = sorted(
            ((mention, entity) for entity in document.with_text().entities for mention in entity.mentions),
            key=lambda pair: (pair[0].word_start, -pair[0].word_end),
        )
        for mention, entity in mentions:
            rows.writerow(
                (
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
            )


FORMAT = Format(
    name="csv",
    description="one row a mention; write only",
    suffix=".csv",
    read=None,
    write=write,
    matches=lambda name, lines: False,  # noqa: ARG005
)
