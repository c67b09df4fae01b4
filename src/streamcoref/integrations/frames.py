"""Entities, mentions and quotations as data frames of pandas or polars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats import quotations_out
from streamcoref.formats.csv_out import columns, rows
from streamcoref.integrations.extras import import_extra

# The kind of a column's values where it is not text. A score may be missing, in gold data, and so may who speaks.
_NUMBERS = {
    **dict.fromkeys(("entity", "size", "start", "end", "word_start", "word_end", "sentence", "last_sentence"), "Int64"),
    "score": "Float64",
    "type_score": "Float64",
    **dict.fromkeys(("speaker", "addressee"), "Int64"),
}
_MISSING = ("speaker", "addressee")  # whole numbers that may be missing, for which pandas has a kind of its own
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


def quotation_frame(document: Document, kind: str) -> Any:
    """One row a quotation, in the order of the text: what the format `quotations` writes."""
    return _frame(kind, quotations_out.COLUMNS, quotations_out.rows(document))


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
    columns = {name: pandas.Series(values, dtype=_pandas_kind(name)) for name, values in table.items()}
    return pandas.DataFrame(columns)


def _pandas_kind(name: str) -> str:
    kind = _NUMBERS.get(name, "str")
    return kind if name in _MISSING else kind.lower()


def _polars(table: Mapping[str, Sequence[Any]]) -> Any:
    polars = import_extra("polars", "polars")
    columns = [
        polars.Series(name, values, dtype=getattr(polars, _NUMBERS.get(name, "String")))
        for name, values in table.items()
    ]
    return polars.DataFrame(columns)
