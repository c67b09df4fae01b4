"""What a server keeps on disk: streams and jobs as rows of one SQLite file. What is written is safe when it returns."""

from __future__ import annotations

import fcntl
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any, TextIO

from streamcoref.errors import StreamcorefError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS streams (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    calls INTEGER NOT NULL,
    position INTEGER NOT NULL,
    words INTEGER NOT NULL,
    alive INTEGER NOT NULL,
    closed INTEGER NOT NULL,
    events TEXT NOT NULL,
    state BLOB NOT NULL,
    made REAL NOT NULL,
    used REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS streams_by_owner ON streams (owner, closed);
CREATE INDEX IF NOT EXISTS streams_by_end ON streams (used) WHERE closed = 1;
CREATE TABLE IF NOT EXISTS jobs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    name TEXT NOT NULL,
    file TEXT NOT NULL,
    settings TEXT NOT NULL,
    state TEXT NOT NULL,
    error TEXT,
    characters INTEGER NOT NULL,
    characters_in_all INTEGER,
    words INTEGER NOT NULL,
    entities INTEGER NOT NULL,
    made REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS jobs_by_owner ON jobs (owner, made);
CREATE TABLE IF NOT EXISTS tried (id INTEGER PRIMARY KEY);
"""


class ServerDatabase:
    """One connection for all threads. One server at a time has a folder.

    `trouble` is what was wrong with the latest attempt to write, None if nothing was.
    """

    def __init__(self, folder: Path) -> None:
        self._mark = _taken(folder)
        self.trouble: str | None = None
        self._lock = Lock()
        path = folder / "server.sqlite"
        try:
            self._connection = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
            self._connection.row_factory = sqlite3.Row
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")  # a caller is told that it is safe
            self._connection.executescript(_SCHEMA)
        except sqlite3.Error as error:
            raise StreamcorefError(f"{path}: cannot be used: {error}") from None

    def write(self, statement: str, values: Sequence[Any] = ()) -> int:
        """How many rows were changed."""
        with self._lock:
            try:
                changed = self._connection.execute(statement, values).rowcount
            except sqlite3.Error as error:
                self.trouble = str(error)
                raise
            self.trouble = None
            return changed

    def rows(self, statement: str, values: Sequence[Any] = ()) -> list[sqlite3.Row]:
        with self._lock:
            return self._connection.execute(statement, values).fetchall()

    def row(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Row | None:
        found = self.rows(statement, values)
        return found[0] if found else None

    def try_again(self) -> None:
        """See whether the trouble is over."""
        self.write("INSERT OR REPLACE INTO tried VALUES (1)")

    def close(self) -> None:
        with self._lock:
            self._connection.close()
        self._mark.close()


def _taken(folder: Path) -> TextIO:
    """A file of the folder, locked as long as it is open; the system lets go of it however a process ends."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark = (folder / "lock").open("w", encoding="ascii")
    except OSError as error:
        raise StreamcorefError(f"{folder}: cannot be used: {error.strerror}") from None
    try:
        fcntl.flock(mark, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        mark.close()
        raise StreamcorefError(f"{folder}: another server uses this folder; give each its own") from None
    return mark
