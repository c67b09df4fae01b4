"""Entities for people to read: the largest first, each with its mentions and where they stand. Write only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from streamcoref.document import Document, Entity
from streamcoref.formats.event_lines import one_line


def write(documents: Iterable[Document], stream: TextIO) -> None:
    """A heading for each document, an entity a paragraph. Numbers are characters of the text, from 0."""
    for number, document in enumerate(documents):
        document = document.with_text()
        entities = sorted(document.entities, key=lambda entity: (-entity.size, entity.id))
        mentions = sum(entity.size for entity in entities)
        stream.write("\n" if number else "")
        stream.write(
            f"{one_line(document.key)}: {_count(len(document.words), 'word', 'words')}, "
            f"{_count(len(entities), 'entity', 'entities')}, {_count(mentions, 'mention', 'mentions')}\n"
        )
        for entity in entities:
            _write_entity(entity, stream)


def _write_entity(entity: Entity, stream: TextIO) -> None:
    stream.write(f"\n{one_line(entity.name)} ({_count(entity.size, 'mention', 'mentions')})\n")
    for mention in entity.mentions:
        stream.write(f"  {mention.start:>8}  {one_line(mention.text)}\n")


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"
