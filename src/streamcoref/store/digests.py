"""What the rows of a store amount to: for each table a sum of their hashes, by which changes of others are noticed.

A sum knows no order: a row that comes is added to it, one that goes is subtracted. The triggers that do so belong to
the writer's connection, not to the file. So whatever statement changes a row changes the sum in the same transaction,
and any program may read the file, and write to it beside our tables.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from hashlib import blake2b
from pathlib import Path

from streamcoref.store.checking import damaged
from streamcoref.store.schema import TABLES, TEXT_TABLE

_Value = int | float | str | bytes | None  # what SQLite has
_BYTES = 16
_EVERYTHING = 1 << 8 * _BYTES


def check_sums(path: Path, connection: sqlite3.Connection) -> None:
    """Raise unless the rows of every table are those that were written, and the indices lead to them.

    Takes time by the number of rows, and the memory of one.
    """
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        raise damaged(path, "its file does not hang together")
    kept = dict(connection.execute("SELECT name, sum FROM digests"))
    for table, total in _sums(connection):
        if kept.pop(table, None) != total:
            raise damaged(path, f"its table {table} is not as it was written (if you changed it, see Store.accept)")
    if kept:
        raise damaged(path, "it has digests of tables that are not there")


def write_sums(connection: sqlite3.Connection) -> None:
    """Take the rows as they are."""
    connection.execute("DELETE FROM digests")
    connection.executemany("INSERT INTO digests VALUES (?, ?)", _sums(connection))


def keep_sums(connection: sqlite3.Connection) -> None:
    """From now on let the sums change with the rows, by whatever statement of this connection."""
    _define(connection)
    connection.create_function("plus", -1, lambda total, *row: _blob(_number(total) + _hash(row)), deterministic=True)
    connection.create_function("minus", -1, lambda total, *row: _blob(_number(total) - _hash(row)), deterministic=True)
    for table in _tables(connection):
        old, new = _cells(connection, table, "OLD."), _cells(connection, table, "NEW.")
        for change, total in (
            ("INSERT", f"plus(sum, {new})"),
            ("UPDATE", f"plus(minus(sum, {old}), {new})"),
            ("DELETE", f"minus(sum, {old})"),
        ):
            connection.execute(
                f"CREATE TEMP TRIGGER {change}_{table} AFTER {change} ON main.{table} "
                f"BEGIN UPDATE digests SET sum = {total} WHERE name = '{table}'; END"
            )


def _sums(connection: sqlite3.Connection) -> Iterator[tuple[str, bytes]]:
    _define(connection)
    for table in _tables(connection):
        rows = connection.execute(f"SELECT {_cells(connection, table)} FROM {table}")
        yield table, _blob(sum(map(_hash, rows)))


def _tables(connection: sqlite3.Connection) -> list[str]:
    """Those that are ours."""
    has_text = connection.execute("SELECT 1 FROM sqlite_master WHERE sql = ?", (TEXT_TABLE,)).fetchone()
    return [*TABLES, *(["text"] if has_text else [])]


def _cells(connection: sqlite3.Connection, table: str, of: str = "") -> str:
    """A row for a statement: with its number, if it has no key of its own, and with long values as hashes."""
    columns = connection.execute(f"PRAGMA table_info({table})").fetchall()
    cells = [f"brief({of}{name})" if kind == "BLOB" else f"{of}{name}" for _, name, kind, *_ in columns]
    has_key = any(place for *_, place in columns)
    return ", ".join(cells if has_key else [f"{of}rowid", *cells])


def _define(connection: sqlite3.Connection) -> None:
    connection.create_function("brief", 1, _brief, deterministic=True)


def _brief(value: _Value) -> _Value:
    return blake2b(value, digest_size=_BYTES).digest() if isinstance(value, bytes) else value


def _hash(row: tuple[_Value, ...]) -> int:
    """Of its values and their types: so written, they are the same everywhere and told apart from all others."""
    return _number(blake2b(ascii(row).encode(), digest_size=_BYTES).digest())


def _number(total: bytes) -> int:
    return int.from_bytes(total, "big")


def _blob(total: int) -> bytes:
    return (total % _EVERYTHING).to_bytes(_BYTES, "big")
