"""Entities and mentions as data frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats.csv_out import columns, rows
from streamcoref.integrations.extras import import_extra

# The kind of a column's values where it is not text. All whole numbers are known; a score may be missing, in gold data.
_NUMBERS = {
    **dict.fromkeys(("entity", "size", "start", "end", "word_start", "word_end", "sentence", "last_sentence"), "Int64"),
    "score": "Float64",
    "type_score": "Float64",
}
ENTITY_COLUMNS = (
    "document",
    "entity",
    "name",
    "size",
    "start",
    "end",
    "word_start",
    "word_end",
    "sentence",
    "last_sentence",
    "type",
    "type_score",
)


def mention_frame(document: Document, kind: str) -> Any:
    """One row a mention, in the order of the text: what the format `csv` writes."""
    return _frame(kind, columns(document), rows(document))


def entity_frame(document: Document, kind: str) -> Any:
    """One row an entity; its places go from the beginning of its first mention to the end of its last."""
    typed = any(entity.type is not None for entity in document.entities)
    return _frame(kind, ENTITY_COLUMNS if typed else ENTITY_COLUMNS[:-2], _entity_rows(document))


def _entity_rows(document: Document) -> Iterable[tuple[Any, ...]]:
    for entity in document.with_text().entities:
        first, last = entity.mentions[0], entity.mentions[-1]
        yield (
            document.key,
            entity.id,
            entity.name,
            entity.size,
            first.start,
            max(mention.end or 0 for mention in entity.mentions),
            first.word_start,
            max(mention.word_end for mention in entity.mentions),
            first.sentence,
            last.sentence,
            entity.type,
            entity.type_score,
        )


def _frame(kind: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Any:
    """Of rows that may have more values than there are columns: types, where there are none."""
    values = list(zip(*rows, strict=True)) or [()] * len(columns)
    table = dict(zip(columns, values, strict=False))
    if kind == "pandas":
        return _pandas(table)
    if kind == "polars":
        return _polars(table)
    raise StreamcorefError(f"there are no frames of the kind {kind!r}; give pandas or polars")


def _pandas(table: Mapping[str, Sequence[Any]]) -> Any:
    pandas = import_extra("pandas", "pandas")
    columns = {
        name: pandas.Series(values, dtype=_NUMBERS[name].lower() if name in _NUMBERS else "str")
        for name, values in table.items()
    }
    return pandas.DataFrame(columns)


def _polars(table: Mapping[str, Sequence[Any]]) -> Any:
    polars = import_extra("polars", "polars")
    columns = [
        polars.Series(name, values, dtype=getattr(polars, _NUMBERS.get(name, "String")))
        for name, values in table.items()
    ]
    return polars.DataFrame(columns)
