"""The store: entities and their mentions in an SQLite file, with what it takes to go on after being killed.

Output, position in the input and state of the stream are committed in one transaction, so that they always belong
together. The schema is described, with example queries, in docs/store.md.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from streamcoref.document import Mention
from streamcoref.errors import StreamcorefError
from streamcoref.events import EntityFinished, EntityStarted, Event
from streamcoref.naming import clean_name, is_pronoun

APPLICATION = 0x53434F52  # "SCOR" in the header of the file: what tells our stores from other databases
VERSION = 1
_PATIENCE = 30.0  # seconds to wait for another process that reads or writes
_COMPANIONS = ("", "-wal", "-shm", "-journal")  # SQLite's files beside a database

_SCHEMA = (
    """CREATE TABLE input (
        id INTEGER PRIMARY KEY CHECK (id = 1),
        path TEXT NOT NULL,
        size INTEGER,
        sha256 TEXT NOT NULL,
        model TEXT NOT NULL,
        fingerprint TEXT NOT NULL,
        options TEXT NOT NULL,
        bytes_read INTEGER NOT NULL,
        lines INTEGER NOT NULL,
        characters INTEGER NOT NULL,
        words INTEGER NOT NULL,
        decoder TEXT NOT NULL,
        state BLOB,
        done INTEGER NOT NULL
    )""",
    """CREATE TABLE entities (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL,
        size INTEGER NOT NULL,
        start INTEGER,
        end INTEGER,
        word_start INTEGER NOT NULL,
        word_end INTEGER NOT NULL,
        finished INTEGER NOT NULL
    )""",
    """CREATE TABLE mentions (
        entity INTEGER NOT NULL REFERENCES entities (id),
        start INTEGER,
        end INTEGER,
        word_start INTEGER NOT NULL,
        word_end INTEGER NOT NULL,
        text TEXT NOT NULL,
        sentence INTEGER NOT NULL,
        score REAL
    )""",
    "CREATE INDEX entities_by_size ON entities (size DESC, id)",
    "CREATE INDEX entities_by_name ON entities (name COLLATE NOCASE)",
    "CREATE INDEX mentions_by_entity ON mentions (entity, word_start)",
    "CREATE INDEX mentions_by_place ON mentions (word_start)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {VERSION}",
)


@dataclass(frozen=True, slots=True)
class Source:
    """What a store is made from; all but `path` and `model`, which are only for people, must stay the same.

    `size` and `sha256` are of the whole input file. Of standard input, whose end nobody knows, `size` is None and
    `sha256` that of the bytes read so far. `fingerprint` is the model's, `options` a JSON object.
    """

    path: str
    size: int | None
    sha256: str
    model: str
    fingerprint: str
    options: str


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the input has been read, what the decoder holds of a character cut in two, and the stream's state."""

    bytes_read: int = 0
    lines: int = 0
    characters: int = 0
    words: int = 0
    decoder: str = ""
    state: bytes | None = None
    done: bool = False


@dataclass(frozen=True, slots=True)
class StoredEntity:
    """A row of `entities`: from the start of its first mention to the end of its latest."""

    id: int
    name: str
    size: int
    start: int | None
    end: int | None
    word_start: int
    word_end: int
    finished: bool


class Store:
    """One input's entities in one file. `source` and `progress` are as of the latest commit."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection
        with _explained(path):
            # Names of entities that are alive are provisional; see _LINK.
            connection.create_function("is_pronoun", 1, lambda name: is_pronoun(name.split()), deterministic=True)
            row = connection.execute(f"SELECT {_columns(Source)}, {_columns(Progress)} FROM input").fetchone()
        if row is None:
            raise StreamcorefError(f"{path}: this store is damaged: it does not say what it was made from")
        split = len(fields(Source))
        self.source = Source(*row[:split])
        self.progress = Progress(*_with_flag(row[split:]))

    @classmethod
    def create(cls, path: Path, source: Source) -> Store:
        """A new store that has nothing yet. A file that is there must have been found `absent`."""
        with _explained(path):
            connection = _connect(path)
            # Readers go on while we write. A process that is killed loses nothing by synchronous = NORMAL.
            connection.execute("PRAGMA journal_mode = WAL")
            with _transaction(connection):
                for statement in _SCHEMA:
                    connection.execute(statement)
                values = [getattr(source, field.name) for field in fields(Source)]
                begin = [getattr(Progress(), field.name) for field in fields(Progress)]
                connection.execute(
                    f"INSERT INTO input (id, {_columns(Source)}, {_columns(Progress)}) "
                    f"VALUES (1{', ?' * (len(values) + len(begin))})",
                    (*values, *begin),
                )
        return cls(path, connection)

    @classmethod
    def open(cls, path: Path, *, readonly: bool = False) -> Store:
        """A store that exists. One opened for reading may be written by another process meanwhile."""
        if absent(path):
            raise StreamcorefError(f"{path}: no such store; make one with: streamcoref resolve TEXT -o {path}")
        with _explained(path):
            return cls(path, _connect(path, readonly=readonly))

    def commit(self, events: Iterable[Event], progress: Progress, sha256: str | None = None) -> None:
        """Add what a stream reported on its way to `progress`, all of it or, after an error, nothing.

        `sha256` is given for standard input: that of the bytes read so far.
        """
        connection, before = self._connection, self.progress
        with _explained(self.path), _transaction(connection):
            moved = connection.execute(
                f"UPDATE input SET ({_columns(Progress)}, sha256) = (?, ?, ?, ?, ?, ?, ?, coalesce(?, sha256)) "
                "WHERE bytes_read = ? AND characters = ? AND done = 0",
                (
                    *(getattr(progress, field.name) for field in fields(Progress)),
                    sha256,
                    before.bytes_read,
                    before.characters,
                ),
            )
            if moved.rowcount != 1:
                raise StreamcorefError(f"{self.path}: another process is writing to this store; let it finish first")
            for event in events:
                _add(connection, event)
        self.progress = progress

    def rename_input(self, path: str) -> None:
        """Note where the same input is found now."""
        with _explained(self.path), _transaction(self._connection):
            self._connection.execute("UPDATE input SET path = ?", (path,))

    def close(self) -> None:
        if self.progress.done:
            # One file, readable from read-only folders too; whoever reads just now keeps it as it is.
            with suppress(sqlite3.Error):
                self._connection.execute("PRAGMA journal_mode = DELETE")
        self._connection.close()

    def counts(self) -> tuple[int, int]:
        """Entities and mentions so far."""
        with _explained(self.path):
            row = self._connection.execute("SELECT count(*), coalesce(sum(size), 0) FROM entities").fetchone()
        return row[0], row[1]

    def largest(self, top: int) -> list[StoredEntity]:
        """The entities with the most mentions."""
        return self._entities("ORDER BY size DESC, id LIMIT ?", top)

    def named(self, text: str) -> list[StoredEntity]:
        """The entities called so, whole names before parts of names, large ones first; if there are none, those with
        a mention that reads so."""
        like = "%" + "".join(f"\\{c}" if c in "\\%_" else c for c in text) + "%"
        found = self._entities(
            "WHERE name LIKE ? ESCAPE '\\' ORDER BY name = ? COLLATE NOCASE DESC, size DESC, id", like, text
        )
        return found or self._entities(
            "WHERE id IN (SELECT entity FROM mentions WHERE text = ? COLLATE NOCASE) ORDER BY size DESC, id", text
        )

    def _entities(self, clause: str, *values: object) -> list[StoredEntity]:
        with _explained(self.path):
            rows = self._connection.execute(f"SELECT {_columns(StoredEntity)} FROM entities {clause}", values)
            return [StoredEntity(*_with_flag(row)) for row in rows]

    def mentions(self, entity: int) -> Iterator[Mention]:
        """An entity's mentions in the order of the text."""
        with _explained(self.path):
            yield from (
                Mention(*row)
                for row in self._connection.execute(
                    f"SELECT {_columns(Mention)} FROM mentions WHERE entity = ? ORDER BY word_start, word_end",
                    (entity,),
                )
            )

    def timeline(self, entity: int, places: int) -> list[int]:
        """How many mentions an entity has in each of so many equal parts of the words read so far."""
        counts = [0] * places
        with _explained(self.path):
            rows = self._connection.execute(
                "SELECT min(word_start * ? / ?, ? - 1) AS place, count(*) FROM mentions WHERE entity = ? GROUP BY 1",
                (places, max(1, self.progress.words), places, entity),
            )
            for place, count in rows:
                counts[place] = count
        return counts


def absent(path: Path) -> bool:
    """Whether there is no store yet: no file, or what is left of one that was killed while it was being made.

    Anything else but a store of ours is an error: it is not ours to write to.
    """
    try:
        if not path.exists() or (path.is_file() and path.stat().st_size == 0):
            return True
    except OSError as error:
        raise StreamcorefError(f"{path}: cannot be read: {error.strerror}") from None
    if not path.is_file():
        raise StreamcorefError(f"{path}: this is not a file; name a file for the store")
    with _explained(path):
        connection = _connect(path, readonly=True)
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        finally:
            connection.close()
    if application == 0 and version == 0 and tables == 0:
        return True
    if application != APPLICATION:
        raise StreamcorefError(f"{path}: this is a database of another program, not a streamcoref store; name another")
    if version != VERSION:
        raise StreamcorefError(
            f"{path}: this store has version {version}, and this release reads version {VERSION}; "
            "make it anew with --force or use the release that made it"
        )
    return False


def remove(path: Path) -> None:
    """Delete a store, or whatever else is there, with SQLite's files beside it."""
    try:
        for ending in _COMPANIONS:
            path.with_name(path.name + ending).unlink(missing_ok=True)
    except OSError as error:
        raise StreamcorefError(f"{path}: cannot be replaced: {error.strerror}") from None


_START = "INSERT INTO entities VALUES (?, ?, 1, ?, ?, ?, ?, 0)"
# The latest mention is not always the one that reaches farthest: one may stand inside another.
_LINK = """UPDATE entities SET size = size + 1, end = max(end, ?), word_end = max(word_end, ?),
    name = CASE WHEN is_pronoun(name) THEN ? ELSE name END WHERE id = ?"""
_FINISH = "UPDATE entities SET name = ?, size = ?, finished = 1 WHERE id = ?"
_MENTION = "INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def _add(connection: sqlite3.Connection, event: Event) -> None:
    if isinstance(event, EntityFinished):
        connection.execute(_FINISH, (event.name, event.size, event.entity))
        return
    m = event.mention
    place = m.start, m.end, m.word_start, m.word_end
    if isinstance(event, EntityStarted):
        connection.execute(_START, (event.entity, clean_name(m.text), *place))
    else:
        connection.execute(_LINK, (m.end, m.word_end, clean_name(m.text), event.entity))
    connection.execute(_MENTION, (event.entity, *place, m.text, m.sentence, m.score))


def _columns(row: type[Source | Progress | StoredEntity | Mention]) -> str:
    return ", ".join(field.name for field in fields(row))


def _with_flag(row: Sequence[Any]) -> list[Any]:
    """A row whose last column is a flag, which SQLite keeps as a number."""
    return [*row[:-1], bool(row[-1])]


def _connect(path: Path, *, readonly: bool = False) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode={'ro' if readonly else 'rwc'}"
    connection = sqlite3.connect(uri, timeout=_PATIENCE, isolation_level=None, uri=True)
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself when the disk is full
            connection.execute("ROLLBACK")
        raise


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """What SQLite complains of, as a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_NOTADB":
            said = "this file exists and is not a streamcoref store; name another file, or replace it with --force"
        elif name == "SQLITE_FULL":
            said = "the disk is full; make room and give the same command again: it goes on from what is stored"
        elif name.startswith("SQLITE_BUSY") or name.startswith("SQLITE_LOCKED"):
            said = "another process is writing to this store; let it finish first"
        elif name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
            said = "the store cannot be opened here; is the folder there, and may you write to it?"
        elif name.startswith("SQLITE_CORRUPT"):
            said = f"this store is damaged ({error}); make it anew with --force"
        else:
            said = f"the store cannot be used: {error}; mend that and give the same command again"
        raise StreamcorefError(f"{path}: {said}") from None
