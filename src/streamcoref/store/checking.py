"""What a store holds, checked: it may have been damaged, or changed by somebody, and SQLite keeps anything anywhere."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from streamcoref.document import Mention, Quotation, Section
from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.store.schema import SCHEMA, ReadingPosition, StoredEntity, StoreOrigin

if TYPE_CHECKING:
    from pydantic import TypeAdapter

_LONGEST_MENTION = 1 << 20  # characters
_LONGEST_QUOTATION = 1 << 26  # a paragraph of that length may be one


class _Rows(NamedTuple):
    """What the rows of each table may be."""

    origin: TypeAdapter[Any]
    position: TypeAdapter[Any]
    entity: TypeAdapter[Any]
    mention: TypeAdapter[Any]
    section: TypeAdapter[Any]
    quotation: TypeAdapter[Any]


@cache
def _rows() -> _Rows:
    """Made when the first store is opened: pydantic takes time to import."""
    from pydantic import Field, StrictBool, TypeAdapter

    from streamcoref.checked import Count, Finite, Positive, Text

    state = Annotated[bytes, Field(strict=True)] | None
    return _Rows(
        origin=TypeAdapter(tuple[Text, Count | None, Text, Text, Text, Text]),
        position=TypeAdapter(tuple[Count, Count, Count, Count, Text, state, StrictBool]),
        entity=TypeAdapter(
            tuple[
                Count, Text, Positive, Count | None, Count | None, Count, Count, Text | None, Finite | None, StrictBool
            ]
        ),
        mention=TypeAdapter(tuple[Count, Count, Count | None, Count | None, Text, Count, Finite | None]),
        section=TypeAdapter(tuple[Text, Positive, Count, Count]),
        quotation=TypeAdapter(
            tuple[Count, Count, Count | None, Count | None, Count | None, Count | None, Text, Finite]
        ),
    )


def check_tables(path: Path, connection: sqlite3.Connection) -> None:
    """Raise unless the tables and indices are ours, word for word. Others may be beside them, but nothing that acts."""
    found = {sql for _, sql in connection.execute("SELECT name, sql FROM sqlite_master")}
    ours = {statement for statement in SCHEMA if statement.startswith("CREATE")}
    (triggers,) = connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'trigger'").fetchone()
    if not ours <= found or triggers:
        raise damaged(path, "its tables are not as they were made")


# What the tables say of each other; false of no store that was only written by us.
_AGREE = (
    "SELECT NOT EXISTS (SELECT 1 FROM entities WHERE size IS NOT (SELECT count(*) FROM mentions WHERE entity = id))",
    "SELECT NOT EXISTS (SELECT 1 FROM entities "
    "WHERE word_end IS NOT (SELECT max(word_end) FROM mentions WHERE entity = id) "
    "OR word_start NOT IN (SELECT word_start FROM mentions WHERE entity = id))",
    "SELECT (SELECT total(size) FROM entities) = (SELECT count(*) FROM mentions)",
    "SELECT NOT EXISTS (SELECT 1 FROM merges WHERE gone IN (SELECT id FROM entities) OR typeof(gone) != 'integer' "
    "OR kept NOT IN (SELECT id FROM entities))",
    "SELECT NOT EXISTS (SELECT 1 FROM quotations WHERE speaker NOT IN (SELECT id FROM entities) "
    "OR addressee NOT IN (SELECT id FROM entities))",
)


def check_rows(path: Path, connection: sqlite3.Connection) -> None:
    """Raise unless entities have the mentions that they count, and whoever else is named is one of them."""
    for statement in _AGREE:
        (agree,) = connection.execute(statement).fetchone()
        if not agree:
            raise damaged(path, "its tables do not agree")


def checked_input(path: Path, row: Sequence[Any] | None) -> tuple[StoreOrigin, ReadingPosition]:
    if row is None:
        raise damaged(path, "it does not say what it was made from")
    split = len(fields(StoreOrigin))
    origin = StoreOrigin(*_checked(path, _rows().origin, row[:split]))
    position = ReadingPosition(*_checked(path, _rows().position, _with_flag(row[split:])))
    try:
        options = json.loads(origin.options)
    except (ValueError, RecursionError):
        options = None
    if not isinstance(options, dict):
        raise damaged(path, "its options cannot be read")
    begun = position.bytes_read > 0 or position.words > 0
    if position.done == (position.state is not None) and (position.done or begun):
        raise damaged(path, "it goes on after its end" if position.done else "it has no state to go on from")
    if origin.size is not None and position.bytes_read > origin.size:
        raise damaged(path, "more was read than there is")
    return origin, position


def checked_entity(path: Path, row: Sequence[Any]) -> StoredEntity:
    return StoredEntity(*_checked(path, _rows().entity, _with_flag(row)))


def checked_mention(path: Path, row: Sequence[Any]) -> Mention:
    mention = Mention(*_checked(path, _rows().mention, row))
    if not _is_within(mention, _LONGEST_MENTION):
        raise damaged(path, "a mention ends before it begins, or never")
    return mention


def _is_within(place: Mention | Quotation, longest: int) -> bool:
    """Whether it ends behind its beginning, and its characters, if it has some, are no more than these."""
    if place.word_start >= place.word_end or (place.start is None) != (place.end is None):
        return False
    return place.start is None or place.end is None or 0 <= place.end - place.start <= longest


def checked_place(path: Path, row: Sequence[Any]) -> tuple[int | None, int]:
    """Where a mention starts, and its entity. There are many of these."""
    start, entity = row
    if type(entity) is not int or (start is not None and type(start) is not int):
        raise damaged(path, "it has values that no store has")
    return start, entity


def checked_section(path: Path, row: Sequence[Any]) -> Section:
    return Section(*_checked(path, _rows().section, row))


def checked_quotation(path: Path, row: Sequence[Any]) -> Quotation:
    quotation = Quotation(*_checked(path, _rows().quotation, row))
    if not _is_within(quotation, _LONGEST_QUOTATION):
        raise damaged(path, "a quotation ends before it begins, or never")
    return quotation


def _checked(path: Path, kind: TypeAdapter[Any], row: Sequence[Any]) -> tuple[Any, ...]:
    from pydantic import ValidationError

    try:
        values: tuple[Any, ...] = kind.validate_python(tuple(row))
    except ValidationError:
        raise damaged(path, "it has values that no store has") from None
    return values


def _with_flag(row: Sequence[Any]) -> list[Any]:
    """A row whose last column is a flag, which SQLite keeps as a number."""
    return [*row[:-1], {0: False, 1: True}.get(row[-1]) if type(row[-1]) is int else None]


def damaged(path: Path, why: str) -> StreamcorefError:
    return StreamcorefError(f"{path}: this store is damaged: {why}", Remedy.MAKE_ANEW)
