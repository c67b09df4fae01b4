"""JSON out: a list of documents, each with its text and its entities, one entity a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any, TextIO

from streamcoref.document import Document, Entity
from streamcoref.formats.base import Format


def write(documents: Iterable[Document], stream: TextIO) -> None:
    """Write a list even of one document or none, so that a program that reads it has one shape to expect."""
    stream.write("[")
    for number, document in enumerate(documents):
        stream.write(",\n" if number else "\n")
        write_document(document.with_text(), stream)
    stream.write("\n]\n")


def write_document(document: Document, stream: TextIO) -> None:
    """One document, which must have its text."""
    fields = {
        "key": document.key,
        "genre": document.genre,
        "text": document.text,
        "words": len(document.words),
        "sentences": len(document.sentence_ends),
        "sections": [asdict(section) for section in document.sections],
    }
    stream.write(_dump(fields)[:-1] + ', "entities": [')
    for number, entity in enumerate(document.entities):
        stream.write((",\n  " if number else "\n  ") + _dump(_entity(entity)))
    stream.write("\n]" if document.entities else "]")
    if document.quotations:
        stream.write(', "quotations": [')
        for number, quotation in enumerate(document.quotations):
            stream.write((",\n  " if number else "\n  ") + _dump(asdict(quotation)))
        stream.write("\n]")
    stream.write("}")


def _entity(entity: Entity) -> dict[str, Any]:
    order = ("text", "start", "end", "word_start", "word_end", "sentence", "score")
    mentions = [{name: fields[name] for name in order} for fields in map(asdict, entity.mentions)]
    kind = {} if entity.type is None else {"type": entity.type, "type_score": entity.type_score}
    return {"id": entity.id, "name": entity.name, "size": entity.size, **kind, "mentions": mentions}


def _dump(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


FORMAT = Format(
    name="json",
    description="entities with names, mentions and character offsets",
    endings=(".json",),
    write=write,
)
