"""What a job has found, page by page, from its store; also while it is being read."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any

from streamcoref.document import Mention, Quotation
from streamcoref.store import StoredEntity
from streamcoref.store.checking import checked_entity, checked_mention, checked_place, checked_quotation
from streamcoref.store.connection import absent, connect, explained
from streamcoref.store.schema import columns

_MENTION_ORDER = ("entity", "text", "start", "end", "word_start", "word_end", "sentence", "score")


def entities(path: Path, offset: int, limit: int, name: str | None, type_: str | None) -> dict[str, Any]:
    """The entities with the most mentions first.

    With a `name`, those whose name has it, or a mention that reads so; with a type, those of it.
    """
    wanted, values = [], []
    if name:
        like = "%" + "".join(f"\\{c}" if c in "\\%_" else c for c in name) + "%"
        wanted.append("(name LIKE ? ESCAPE '\\' OR id IN (SELECT entity FROM mentions WHERE text = ? COLLATE NOCASE))")
        values += [like, name]
    if type_:
        wanted.append("type = ?")
        values.append(type_)
    where = f"WHERE {' AND '.join(wanted)}" if wanted else ""
    rows, found = _page(path, columns(StoredEntity), f"entities {where}", "size DESC, id", values, offset, limit)
    return {"entities": [asdict(checked_entity(path, row)) for row in rows], "all": found, "offset": offset}


def mentions_of(path: Path, entity: int, offset: int, limit: int) -> dict[str, Any]:
    """Those of one entity, in the order of the text."""
    return _mentions(path, "WHERE entity = ?", [entity], offset, limit)


def mentions_between(path: Path, start: int, end: int, offset: int, limit: int) -> dict[str, Any]:
    """All that have a character there, in the order of the text."""
    return _mentions(path, "WHERE start < ? AND end > ?", [end, start], offset, limit)


def quotations(path: Path, start: int, end: int, speaker: int | None, offset: int, limit: int) -> dict[str, Any]:
    """All that have a character there, or those of them that an entity says, in the order of the text."""
    what = "quotations WHERE start < ?1 AND end > ?2 AND (?3 IS NULL OR speaker = ?3)"
    values = [end, start, speaker]
    rows, found = _page(path, columns(Quotation), what, "word_start, word_end", values, offset, limit)
    return {"quotations": [asdict(checked_quotation(path, row)) for row in rows], "all": found, "offset": offset}


def _mentions(path: Path, where: str, values: Sequence[Any], offset: int, limit: int) -> dict[str, Any]:
    names = f"start, entity, {columns(Mention)}"
    rows, found = _page(path, names, f"mentions {where}", "word_start, word_end", values, offset, limit)
    told = [{"entity": checked_place(path, row[:2])[1]} | asdict(checked_mention(path, row[2:])) for row in rows]
    return {"mentions": [{name: one[name] for name in _MENTION_ORDER} for one in told], "all": found, "offset": offset}


def _page(
    path: Path, names: str, what: str, order: str, values: Sequence[Any], offset: int, limit: int
) -> tuple[list[sqlite3.Row], int]:
    """Rows and how many there are in all; none from a store that is not there yet."""
    if absent(path):
        return [], 0
    with explained(path), closing(connect(path, writable=False)) as connection:
        connection.execute("BEGIN")  # both answers are of one moment
        (found,) = connection.execute(f"SELECT count(*) FROM {what}", values).fetchone()
        statement = f"SELECT {names} FROM {what} ORDER BY {order} LIMIT ? OFFSET ?"
        return connection.execute(statement, [*values, limit, offset]).fetchall(), found
