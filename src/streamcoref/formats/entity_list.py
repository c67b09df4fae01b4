"""Entities for people to read: the largest first, each with its mentions and where they stand. Write only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from streamcoref._wording import counted
from streamcoref.document import Document, Entity
from streamcoref.formats.base import Format
from streamcoref.formats.event_lines import one_line


def write(documents: Iterable[Document], stream: TextIO) -> None:
    """A heading for each document, an entity a paragraph. Numbers are characters of the text, from 0."""
    for number, document in enumerate(documents):
        document = document.with_text()
        entities = sorted(document.entities, key=lambda entity: (-entity.size, entity.id))
        mentions = sum(entity.size for entity in entities)
        stream.write("\n" if number else "")
        stream.write(
            f"{one_line(document.key)}: {counted(len(document.words), 'word', 'words')}, "
            f"{counted(len(entities), 'entity', 'entities')}, {counted(mentions, 'mention', 'mentions')}\n"
        )
        for entity in entities:
            _write_entity(entity, stream)


def _write_entity(entity: Entity, stream: TextIO) -> None:
    kind = "" if entity.type is None else f"{one_line(entity.type)}, "
    stream.write(f"\n{one_line(entity.name)} ({kind}{counted(entity.size, 'mention', 'mentions')})\n")
    for mention in entity.mentions:
        stream.write(f"  {mention.start:>8}  {one_line(mention.text)}\n")


FORMAT = Format(
    name="entities",
    description="the entities and their mentions, for people to read",
    endings=(".entities.txt", ".txt"),
    write=write,
)
