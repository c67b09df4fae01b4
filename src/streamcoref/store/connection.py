"""The file of a store: opened, refused, removed; and what SQLite complains of, as a sentence."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.store.schema import APPLICATION, VERSION

_PATIENCE = 30.0  # seconds to wait for another process that reads or writes
_COMPANIONS = ("", "-wal", "-shm", "-journal")  # SQLite's files beside a database


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
    with explained(path):
        connection = connect(path, writable=False)
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
            f"{path}: this store has version {version}, and this release reads version {VERSION}",
            Remedy.OTHER_RELEASE,
        )
    return False


def clear(path: Path) -> None:
    """Make room for a new store where something is, whatever it is. The writer's lock must be held.

    A store is emptied inside SQLite: whoever reads it just now goes on, and nobody's files are taken away. Anything
    else is removed, with SQLite's files beside it.
    """
    try:
        is_store = path.exists() and not absent(path)
    except StreamcorefError:
        is_store = False
    if is_store:
        try:
            _empty(path)
            return
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorname", "").startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
                with explained(path):
                    raise
    remove(path)


def _empty(path: Path) -> None:
    """Drop everything that a database has, in one transaction, so that it is as new."""
    with closing(connect(path, writable=True)) as connection:
        with transaction(connection):
            for kind in ("trigger", "view", "table"):
                names = connection.execute("SELECT name FROM sqlite_master WHERE type = ?", (kind,)).fetchall()
                for (name,) in names:
                    if not name.startswith("sqlite_"):
                        connection.execute(f'DROP {kind} IF EXISTS "{name.replace(chr(34), chr(34) * 2)}"')
            connection.execute("PRAGMA application_id = 0")
            connection.execute("PRAGMA user_version = 0")
        with suppress(sqlite3.Error):  # somebody reads it: then the room is used again instead
            connection.execute("VACUUM")


def remove(path: Path) -> None:
    """Delete whatever is there, with SQLite's files beside it."""
    try:
        for ending in _COMPANIONS:
            path.with_name(path.name + ending).unlink(missing_ok=True)
    except OSError as error:
        raise StreamcorefError(f"{path}: cannot be replaced: {error.strerror}") from None


def connect(path: Path, *, writable: bool) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?mode={'rwc' if writable else 'ro'}"
    connection = sqlite3.connect(uri, timeout=_PATIENCE, isolation_level=None, uri=True)
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def begin(connection: sqlite3.Connection) -> None:
    """Open a transaction, unless one is open. Closed without a commit, a connection undoes it."""
    if not connection.in_transaction:
        connection.execute("BEGIN IMMEDIATE")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of what happens inside, and since the transaction was opened that is open, or nothing."""
    begin(connection)
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself when the disk is full
            connection.execute("ROLLBACK")
        raise


@contextmanager
def snapshot(connection: sqlite3.Connection) -> Iterator[None]:
    """All that is read inside is of one moment, whatever another process writes."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        if connection.in_transaction:  # SQLite has rolled back by itself when it cannot read on
            connection.execute("ROLLBACK")


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """What SQLite complains of, as a sentence."""
    try:
        yield
    except sqlite3.Error as error:
        name = getattr(error, "sqlite_errorname", "")
        what = " ".join(str(error).split())[:200]  # it may quote what is damaged, at any length
        remedy = None
        if name == "SQLITE_NOTADB":
            said, remedy = "this file exists and is not a streamcoref store", Remedy.ANOTHER_STORE
        elif name == "SQLITE_FULL":
            said, remedy = "the disk is full", Remedy.MAKE_ROOM
        elif name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            said = "another process is writing to this store; let it finish first"
        elif name.startswith(("SQLITE_READONLY", "SQLITE_CANTOPEN")):
            said = "the store cannot be opened here; is the folder there, and may you write to it?"
        elif name.startswith("SQLITE_CORRUPT") or (not name and isinstance(error, sqlite3.OperationalError)):
            said, remedy = f"this store is damaged ({what})", Remedy.MAKE_ANEW
        else:
            said, remedy = f"the store cannot be used: {what}", Remedy.MEND_AND_GO_ON
        raise StreamcorefError(f"{path}: {said}", remedy) from None
    except (UnicodeError, OverflowError):  # what is damaged is part of SQLite's own complaint, or of a number
        raise StreamcorefError(f"{path}: this store is damaged", Remedy.MAKE_ANEW) from None
