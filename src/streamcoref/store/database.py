"""The store: entities and their mentions in an SQLite file, with what it takes to go on after being killed.

Output, position in the text and state of the stream are committed in one transaction, so that they always belong
together.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from dataclasses import astuple
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

from streamcoref.document import Mention, Quotation, Section
from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.events import EntitiesMerged, EntityFinished, EntityStarted, Event, QuotationFound
from streamcoref.language.labels import clean_name, is_pronoun
from streamcoref.store.checking import (
    check_rows,
    check_tables,
    checked_entity,
    checked_input,
    checked_mention,
    checked_place,
    checked_quotation,
    checked_section,
    damaged,
)
from streamcoref.store.connection import absent, clear, connect, explained, snapshot, transaction
from streamcoref.store.digests import check_sums, keep_sums, write_sums
from streamcoref.store.lock import WriterLock
from streamcoref.store.schema import SCHEMA, TEXT_TABLE, ReadingPosition, StoredEntity, StoreOrigin, columns
from streamcoref.text.sections import Heading

if TYPE_CHECKING:
    from streamcoref.model.memory import EntityMemory
    from streamcoref.model.register import AreRows
    from streamcoref.store.register_table import RegisterTable

TEXT_PART = 1 << 16  # characters of a text in a row
_EVERY = -1  # as SQLite says "no limit"
_MOST = (1 << 63) - 1  # the largest number that it knows


class Store:
    """One text's entities in one file. `origin` and `position` are as of the latest commit; `connection` is SQLite's,
    for queries of one's own.

    To be closed after use, or used in a `with` block.
    """

    def __init__(self, path: Path, connection: sqlite3.Connection, lock: WriterLock | None = None) -> None:
        self.path = path
        self.connection, self._lock = connection, lock
        with explained(path):
            check_tables(path, connection)
            # Names of entities that are alive are provisional; see _LINK.
            connection.create_function("is_pronoun", 1, lambda name: is_pronoun(name.split()), deterministic=True)
            with snapshot(connection):
                statement = f"SELECT {columns(StoreOrigin)}, {columns(ReadingPosition)} FROM input"
                self.origin, self.position = checked_input(path, connection.execute(statement).fetchone())
                check_sums(path, connection)
            if lock is not None:
                keep_sums(connection)
            self._identity = path.stat()

    @classmethod
    def create(cls, path: str | Path, origin: StoreOrigin, *, text: str | None = None, force: bool = False) -> Store:
        """A new store that has nothing yet, but for a `text` that it is to keep.

        What is there must have been found `absent`, or `force` replaces it.
        """
        path = Path(path)
        with ExitStack() as held:
            lock = WriterLock(path)
            held.callback(lock.release)
            if force:
                clear(path)
            if not absent(path):
                raise StreamcorefError(f"{path}: another process has made this store meanwhile", Remedy.GO_ON)
            with explained(path):
                connection = connect(path, writable=True)
                held.callback(connection.close)
                # Readers go on while we write. A process that is killed loses nothing by synchronous = NORMAL.
                connection.execute("PRAGMA journal_mode = WAL")
                with transaction(connection):
                    for statement in SCHEMA:
                        connection.execute(statement)
                    values = [*astuple(origin), *astuple(ReadingPosition())]
                    connection.execute(
                        f"INSERT INTO input (id, {columns(StoreOrigin)}, {columns(ReadingPosition)}) "
                        f"VALUES (1{', ?' * len(values)})",
                        values,
                    )
                    if text is not None:
                        connection.execute(TEXT_TABLE)
                        parts = ((at, text[at : at + TEXT_PART]) for at in range(0, len(text), TEXT_PART))
                        connection.executemany("INSERT INTO text VALUES (?, ?)", parts)
                    write_sums(connection)
                store = cls(path, connection, lock)
            held.pop_all()  # they are the store's now
            return store

    @classmethod
    def open(cls, path: str | Path, *, writable: bool = False) -> Store:
        """A store that exists. One opened for reading may be written by another process meanwhile.

        Of those that are writable there is one at a time, in all processes together.
        """
        path = _existing(path)
        with ExitStack() as held, explained(path):
            lock = WriterLock(path) if writable else None
            if lock is not None:
                held.callback(lock.release)
            connection = connect(path, writable=writable)
            held.callback(connection.close)
            store = cls(path, connection, lock)
            held.pop_all()  # they are the store's now
            return store

    @classmethod
    def accept(cls, path: str | Path) -> None:
        """Take the rows of a store as they are: whoever has changed some by hand says so with this.

        The tables must agree: entities have the mentions that they count, and whoever else is named is one of them.
        """
        path = _existing(path)
        with ExitStack() as held, explained(path):
            held.callback(WriterLock(path).release)
            connection = held.enter_context(closing(connect(path, writable=True)))
            check_tables(path, connection)
            with transaction(connection):
                check_rows(path, connection)
                write_sums(connection)
        cls.open(path).close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def commit(
        self,
        events: Iterable[Event],
        position: ReadingPosition,
        sha256: str | None = None,
        *,
        headings: Sequence[Heading] = (),
        length: int | None = None,
    ) -> None:
        """Add what a stream reported on its way to `position`, all of it or, after an error, nothing.

        `sha256` is given for a pipe: that of the bytes read so far. `headings` are those met on the way; `length` is
        that of the whole text, where its last sections end, if that is at its end.
        """
        connection, before = self.connection, self.position
        self._check_place()
        with explained(self.path), transaction(connection):
            moved = connection.execute(
                f"UPDATE input SET ({columns(ReadingPosition)}, sha256) = (?, ?, ?, ?, ?, ?, ?, coalesce(?, sha256)) "
                "WHERE bytes_read = ? AND characters = ? AND done = 0",
                (*astuple(position), sha256, before.bytes_read, before.characters),
            )
            if moved.rowcount != 1:
                raise StreamcorefError(f"{self.path}: another process is writing to this store; let it finish first")
            for event in events:
                _add(connection, event)
            for heading in headings:
                connection.execute(_END_SECTIONS, (heading.start, heading.level))
                connection.execute(_SECTION, (heading.title, heading.level, heading.start))
            if length is not None:
                connection.execute(_END_SECTIONS, (length, 0))
            if position.done:  # nobody comes back any more
                connection.execute("DELETE FROM register")
                connection.execute("DELETE FROM register_words")
        self._check_place()
        self.position = position

    def register(self, memory: EntityMemory, are_rows: AreRows) -> RegisterTable:
        """Who may come back into a memory like this one, as of the store's position.

        What changes in it is part of the next commit, or of none if the store is closed before.
        """
        from streamcoref.store.register_table import RegisterTable

        table = RegisterTable(self.path, self.connection, memory, are_rows)
        if self.position.state is None and len(table):
            raise table.damaged()
        return table

    def begin_again(self, state: bytes) -> None:
        """Forget what has been found: the text is read once more from its beginning, by a stream of this state."""
        before, begin = self.position, ReadingPosition(state=state)
        self._check_place()
        with explained(self.path), transaction(self.connection):
            moved = self.connection.execute(
                f"UPDATE input SET ({columns(ReadingPosition)}) = (?, ?, ?, ?, ?, ?, ?) "
                "WHERE bytes_read = ? AND characters = ? AND done = 0",
                (*astuple(begin), before.bytes_read, before.characters),
            )
            if moved.rowcount != 1:
                raise StreamcorefError(f"{self.path}: another process is writing to this store; let it finish first")
            for table in ("mentions", "quotations", "merges", "sections", "entities"):
                self.connection.execute(f"DELETE FROM {table}")
        self._check_place()
        self.position = begin

    def _check_place(self) -> None:
        """Raise if what is written no longer gets to where the store was: its file is gone, or another one."""
        if not self._in_place():
            raise StreamcorefError(
                f"{self.path}: this store was removed or replaced while it was being written; what was read is lost",
                Remedy.GO_ON,
            )

    def _in_place(self) -> bool:
        try:
            return os.path.samestat(self._identity, self.path.stat())
        except OSError:
            return False

    def rename_input(self, path: str) -> None:
        """Note where the same text is found now."""
        with explained(self.path), transaction(self.connection):
            self.connection.execute("UPDATE input SET path = ?", (path,))

    def close(self) -> None:
        if self.position.done and self._in_place():  # or the files beside it are another's
            # One file, readable from read-only folders too; whoever reads just now keeps it as it is.
            with suppress(sqlite3.Error):
                self.connection.execute("PRAGMA journal_mode = DELETE")
        self.connection.close()
        if self._lock is not None:
            self._lock.release()

    def counts(self) -> tuple[int, int]:
        """Entities and mentions so far."""
        with explained(self.path):
            row = self.connection.execute("SELECT count(*), coalesce(sum(size), 0) FROM entities").fetchone()
        return row[0], row[1]

    def entities(self, top: int | None = None, type: str | None = None) -> list[StoredEntity]:  # noqa: A002
        """The entities, those with the most mentions first: all, or so many; all types, or one."""
        limit = _EVERY if top is None else min(top, _MOST)
        return self._entities("WHERE ?1 IS NULL OR type = ?1 ORDER BY size DESC, id LIMIT ?2", type, limit)

    def types(self) -> dict[str, int]:
        """How many entities of each type are finished, the most frequent types first; nothing of a model without."""
        counted = (
            "SELECT type, count(*) FROM entities WHERE type IS NOT NULL GROUP BY type ORDER BY count(*) DESC, type"
        )
        with explained(self.path):
            found = dict(self.connection.execute(counted))
        if not all(isinstance(name, str) for name in found):
            raise damaged(self.path, "it has values that no store has")
        return found

    def entity(self, number: int) -> StoredEntity:
        """The entity with that `id`."""
        found = self._entities("WHERE id = ?", number)
        if not found:
            raise StreamcorefError(f"{self.path}: there is no entity {number}")
        return found[0]

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
        with explained(self.path):
            rows = self.connection.execute(f"SELECT {columns(StoredEntity)} FROM entities {clause}", values)
            return [checked_entity(self.path, row) for row in rows]

    def mentions(self, entity: int) -> Iterator[Mention]:
        """The mentions of the entity with that `id`, in the order of the text."""
        with explained(self.path):
            yield from (
                checked_mention(self.path, row)
                for row in self.connection.execute(
                    f"SELECT {columns(Mention)} FROM mentions WHERE entity = ? ORDER BY word_start, word_end",
                    (entity,),
                )
            )

    def all_mentions(self) -> Iterator[tuple[int, Mention]]:
        """Every mention with its entity's `id`, in the order of the text, an outer one before those inside it."""
        with explained(self.path):
            rows = self.connection.execute(
                f"SELECT start, entity, {columns(Mention)} FROM mentions ORDER BY word_start, word_end DESC"
            )
            yield from ((checked_place(self.path, row[:2])[1], checked_mention(self.path, row[2:])) for row in rows)

    def sections(self) -> list[Section]:
        """The chapters of the text so far, in its order; the last ones end where it has been read to."""
        with explained(self.path):
            rows = self.connection.execute(
                "SELECT title, level, start, coalesce(end, max(start, ?)) FROM sections ORDER BY start, rowid",
                (self.position.characters,),
            )
            return [checked_section(self.path, row) for row in rows]

    def text(self) -> Iterator[str] | None:
        """The text that was taken out of a book, in parts; None if the text is a file of its own.

        The places of mentions, sections and quotations are in it.
        """
        with explained(self.path):
            found = self.connection.execute("SELECT 1 FROM sqlite_master WHERE sql = ?", (TEXT_TABLE,)).fetchone()
        return None if found is None else self._text()

    def _text(self) -> Iterator[str]:
        length = 0
        with explained(self.path):
            for start, characters in self.connection.execute("SELECT start, characters FROM text ORDER BY start"):
                if start != length or not isinstance(characters, str):
                    raise damaged(self.path, "its text has gaps")
                length += len(characters)
                yield characters

    def places(self) -> Iterator[tuple[int | None, int]]:
        """Where each mention starts, and its entity's id, in the order of the text."""
        with explained(self.path):
            rows = self.connection.execute("SELECT start, entity FROM mentions ORDER BY word_start, word_end")
            yield from (checked_place(self.path, row) for row in rows)

    def quotations(self, speaker: int | None = None) -> Iterator[Quotation]:
        """What is said, in the order of the text: all of it, or by the entity with that `id`."""
        clause = "" if speaker is None else "WHERE speaker = ?"
        with explained(self.path):
            yield from (
                checked_quotation(self.path, row)
                for row in self.connection.execute(
                    f"SELECT {columns(Quotation)} FROM quotations {clause} ORDER BY word_start, word_end",
                    () if speaker is None else (speaker,),
                )
            )

    def timeline(self, entity: int, places: int) -> list[int]:
        """How many mentions an entity has in each of so many equal parts of the words read so far."""
        counts = [0] * places
        with explained(self.path):
            rows = self.connection.execute(
                "SELECT max(0, min(CAST(word_start AS INTEGER) * ? / ?, ? - 1)) AS place, count(*) "
                "FROM mentions WHERE entity = ? GROUP BY 1",
                (places, max(1, self.position.words), places, entity),
            )
            for place, count in rows:
                counts[place] = count
        return counts


def _existing(path: str | Path) -> Path:
    """The path of a store, unless there is none."""
    path = Path(path)
    if absent(path):
        raise StreamcorefError(f"{path}: no such store", Remedy.MAKE_STORE)
    return path


_SECTION = "INSERT INTO sections VALUES (?, ?, ?, NULL)"
_END_SECTIONS = "UPDATE sections SET end = ? WHERE end IS NULL AND level >= ?"
_START = "INSERT INTO entities VALUES (?, ?, 1, ?, ?, ?, ?, NULL, NULL, 0)"
# The latest mention is not always the one that reaches farthest: one may stand inside another.
_LINK = """UPDATE entities SET size = size + 1, end = max(end, ?), word_end = max(word_end, ?),
    name = CASE WHEN is_pronoun(name) THEN ? ELSE name END WHERE id = ?"""
_FINISH = "UPDATE entities SET name = ?, size = ?, type = ?, type_score = ?, finished = 1 WHERE id = ?"
# A number that is gone stays known by the one that it has become.
_MERGE = (
    """UPDATE entities SET (size, start, end, word_start, word_end) = (
        SELECT entities.size + gone.size, min(entities.start, gone.start), max(entities.end, gone.end),
            min(entities.word_start, gone.word_start), max(entities.word_end, gone.word_end)
        FROM entities AS gone WHERE gone.id = :gone) WHERE id = :kept""",
    "UPDATE mentions SET entity = :kept WHERE entity = :gone",
    "UPDATE quotations SET speaker = :kept WHERE speaker = :gone",
    "UPDATE quotations SET addressee = :kept WHERE addressee = :gone",
    "UPDATE merges SET kept = :kept WHERE kept = :gone",
    "INSERT INTO merges VALUES (:gone, :kept)",
    "DELETE FROM entities WHERE id = :gone",
)
_QUOTATION = "INSERT INTO quotations VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_MENTION = "INSERT INTO mentions VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


def _add(connection: sqlite3.Connection, event: Event) -> None:
    if isinstance(event, EntityFinished):
        connection.execute(_FINISH, (event.name, event.size, event.type, event.type_score, event.entity))
        return
    if isinstance(event, EntitiesMerged):
        for statement in _MERGE:
            connection.execute(statement, {"kept": event.kept, "gone": event.gone})
        return
    if isinstance(event, QuotationFound):
        q = event.quotation
        place = q.start, q.end, q.word_start, q.word_end
        connection.execute(_QUOTATION, (*place, q.speaker, q.addressee, q.kind, q.score))
        return
    m = event.mention
    place = m.start, m.end, m.word_start, m.word_end
    if isinstance(event, EntityStarted):
        connection.execute(_START, (event.entity, clean_name(m.text), *place))
    else:
        connection.execute(_LINK, (m.end, m.word_end, clean_name(m.text), event.entity))
    connection.execute(_MENTION, (event.entity, *place, m.text, m.sentence, m.score))
