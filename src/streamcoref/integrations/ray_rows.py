"""Answers as rows of Arrow tables, whose columns have the same types whatever is in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from typing import Any

from streamcoref.document import Document
from streamcoref.integrations.extras import import_extra

ANSWER = ("entities", "quotations", "error", "warning")


@cache
def answer_schema() -> Any:
    """The columns of an answer. A row has entities and quotations, or an error in their place."""
    pa = import_extra("pyarrow", "ray")
    number, text, real = pa.int64(), pa.string(), pa.float64()
    place = [("start", number), ("end", number), ("word_start", number), ("word_end", number)]
    mention = pa.struct([("text", text), *place, ("sentence", number), ("score", real)])
    kind = [("type", text), ("type_score", real)]
    entity = pa.struct([("id", number), ("name", text), ("size", number), *kind, ("mentions", pa.list_(mention))])
    quotation = pa.struct([*place, ("speaker", number), ("addressee", number), ("kind", text), ("score", real)])
    columns = pa.list_(entity), pa.list_(quotation), text, text
    return pa.schema(list(zip(ANSWER, columns, strict=True)))


@cache
def document_schema() -> Any:
    """The columns of a file with whole documents."""
    pa = import_extra("pyarrow", "ray")
    text = [pa.field(name, pa.string()) for name in ("file", "key", "text")]
    return pa.schema([*text, pa.field("words", pa.int64()), *list(answer_schema())[:2]])


def answer_row(document: Document) -> dict[str, Any]:
    """Entities and quotations, as the format `json` has them; characters are those of `document.with_text()`."""
    document = document.with_text()
    return {
        "entities": [asdict(entity) | {"size": entity.size} for entity in document.entities],
        "quotations": [asdict(quotation) for quotation in document.quotations],
    }


def document_row(file: str, document: Document) -> dict[str, Any]:
    document = document.with_text()
    whole = {"file": file, "key": document.key, "text": document.text, "words": len(document.words)}
    return whole | answer_row(document)


def table_of(rows: Sequence[Mapping[str, Any]], schema: Any) -> Any:
    return import_extra("pyarrow", "ray").Table.from_pylist(list(rows), schema=schema)
