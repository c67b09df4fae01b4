"""Streams of all callers: in memory while they are used, on disk when they are not, each in its own order."""

from __future__ import annotations

import asyncio
import json
import secrets
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from streamcoref.errors import StreamcorefError
from streamcoref.events import Event
from streamcoref.server.answers import event_texts, record
from streamcoref.server.database import ServerDatabase
from streamcoref.server.limits import Limits
from streamcoref.server.listeners import Listeners
from streamcoref.server.metrics import Metrics
from streamcoref.server.refusals import Refusal, unknown
from streamcoref.server.work import Work

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver
    from streamcoref.stream import Stream

# What a call does to a stream, and the events that this brings.
Act = Callable[["Stream"], list[Event]]


@dataclass(slots=True)
class OpenStream:
    """A stream in memory. `events` is the answer to its latest call, for a caller who has missed it."""

    id: str
    owner: str
    stream: Stream
    calls: int
    events: str
    safe_calls: int
    safe_position: int
    used: float = field(default_factory=time.monotonic)
    unsaved_since: float | None = None

    def values(self) -> dict[str, Any]:
        """What every answer says of a stream."""
        return {
            "id": self.id,
            "position": self.stream.position,
            "safe_position": self.safe_position,
            "calls": self.calls,
            "safe_calls": self.safe_calls,
            "words": self.stream.words_read,
            "alive": self.stream.alive,
            "closed": self.stream.closed,
        }


@dataclass(slots=True)
class Seat:
    """Where calls to one stream wait for each other, in the order in which they came."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    open: OpenStream | None = None


FORGET = "DELETE FROM streams WHERE closed = 1 AND used < ?"
_PLACE = "id, calls, position, words, alive, closed"


def _saved_values(row: sqlite3.Row) -> dict[str, Any]:
    """The same of a stream on disk."""
    values = {"id": row["id"], "position": row["position"], "safe_position": row["position"]}
    values |= {"calls": row["calls"], "safe_calls": row["calls"], "words": row["words"]}
    return values | {"alive": row["alive"], "closed": bool(row["closed"])}


def refuse_if_closed(stream: Stream) -> None:
    if stream.closed:
        raise Refusal(409, "this stream is closed; make another")


class StreamTable:
    """Every stream by its id and its owner; somebody else's is as unknown as one that never was."""

    def __init__(
        self, resolver: Resolver, database: ServerDatabase, work: Work, limits: Limits, metrics: Metrics
    ) -> None:
        self._resolver, self._database, self._work, self._limits = resolver, database, work, limits
        self._metrics = metrics
        self._seats: dict[str, Seat] = {}
        self.listeners = Listeners(limits.frames_behind, limits.body_bytes)

    @property
    def in_memory(self) -> int:
        return sum(seat.open is not None for seat in list(self._seats.values()))  # threads ask, too

    async def create(self, owner: str, options: dict[str, Any], state: bytes | None) -> dict[str, Any]:
        """A new stream, on disk from its first moment."""
        id_ = secrets.token_hex(16)
        async with self._seat(id_) as seat:
            seat.open = await self._work.run(partial(self._create, id_, owner, options, state))
            answer = seat.open.values()
        self._make_room()
        return answer

    def _create(self, id_: str, owner: str, options: dict[str, Any], state: bytes | None) -> OpenStream:
        counted = self._database.row("SELECT count(*) FROM streams WHERE owner = ? AND closed = 0", (owner,))
        if counted is not None and counted[0] >= self._limits.streams_per_key:
            raise Refusal(429, f"there are {counted[0]} open streams already; close some first", retry_after=60)
        stream = self._resolver.stream(**options) if state is None else self._restored(state, options)
        made = time.time()
        values = (
            id_,
            owner,
            0,
            stream.position,
            stream.words_read,
            stream.alive,
            stream.closed,
            "[]",
            stream.state(),
            made,
            made,
        )
        self._database.write(f"INSERT INTO streams VALUES (?{', ?' * (len(values) - 1)})", values)
        return OpenStream(id_, owner, stream, 0, "[]", 0, stream.position)

    def _restored(self, state: bytes, options: dict[str, Any]) -> Stream:
        """A stream from a caller's bytes, which may be anything and still have the right checksum."""
        try:
            stream = self._resolver.stream(state, **options)
            stream.state()
            stream.entities()
        except StreamcorefError:
            raise
        except Exception as error:
            raise StreamcorefError("this is not a saved stream, or it is damaged") from error
        return stream

    async def call(self, owner: str, id_: str, act: Act, number: int | None = None, *, save: bool = False) -> str:
        """Do something to a stream and answer with its events, as JSON. `number` is the call's, counted from 1: one
        that was done already gets its answer again, and one out of order is refused. `save` makes it safe at once."""
        async with self._seat(id_) as seat:
            loop = asyncio.get_running_loop()
            answer = await self._work.run(partial(self._call, seat, owner, id_, act, number, save, loop))
        self._make_room()
        return answer

    def _call(
        self,
        seat: Seat,
        owner: str,
        id_: str,
        act: Act,
        number: int | None,
        save: bool,
        loop: asyncio.AbstractEventLoop,
    ) -> str:
        one = self._opened(seat, owner, id_)
        one.used = time.monotonic()
        if number is not None and number == one.calls > 0:
            return self._answer(one)
        if number is not None and number != one.calls + 1:
            raise Refusal(409, f"this is call {number}, but the stream has had {one.calls}; go on with the next")
        refuse_if_closed(one.stream)
        before = one.stream.words_read
        try:
            found = event_texts(act(one.stream), id_)
        except Exception:
            seat.open = None  # who knows what it has read; it goes on from what is safe
            raise
        one.events = f"[{', '.join(found)}]"
        one.calls += 1
        one.unsaved_since = one.unsaved_since or one.used
        self._metrics.words.inc(one.stream.words_read - before)
        self._metrics.events.inc(len(found))
        if save or time.monotonic() - one.unsaved_since > self._limits.save_seconds:
            self._save(one)
        loop.call_soon_threadsafe(self.listeners.tell, id_, [*found, record("fed", **one.values())])
        return self._answer(one)

    def _answer(self, one: OpenStream) -> str:
        return f'{{"events": {one.events}, {json.dumps(one.values())[1:]}'

    def _opened(self, seat: Seat, owner: str, id_: str) -> OpenStream:
        """The stream in its seat, from the disk if it is not in memory. In a thread that has the seat."""
        if seat.open is None:
            if self._database.trouble and self.in_memory >= self._limits.streams_in_memory:
                raise Refusal(507, "the server cannot save just now, and its memory is full; try later", 30)
            row = self._row(owner, id_, "calls, events, state")
            stream = self._resolver.stream(row["state"])
            safe = row["calls"], stream.position
            seat.open = OpenStream(id_, owner, stream, row["calls"], row["events"], *safe)
        if seat.open.owner != owner:
            raise unknown("stream")
        return seat.open

    def _row(self, owner: str, id_: str, columns: str) -> sqlite3.Row:
        row = self._database.row(f"SELECT {columns} FROM streams WHERE id = ? AND owner = ?", (id_, owner))
        if row is None:
            raise unknown("stream")
        return row

    def _save(self, one: OpenStream) -> bool:
        """Whether it is safe now; if not, callers see it by the position that is."""
        stream = one.stream
        place = one.calls, stream.position, stream.words_read, stream.alive, stream.closed, one.events
        try:
            # Of a stream that was removed meanwhile no row is left to be changed.
            self._database.write(
                "UPDATE streams SET (calls, position, words, alive, closed, events, state, used)"
                " = (?, ?, ?, ?, ?, ?, ?, ?) WHERE id = ?",
                (*place, stream.state(), time.time(), one.id),
            )
        except sqlite3.Error:
            self._metrics.failed_saves.inc()
            return False
        self._metrics.saves.inc()
        one.safe_calls, one.safe_position, one.unsaved_since = one.calls, stream.position, None
        return True

    async def info(self, owner: str, id_: str) -> dict[str, Any]:
        """Where a stream stands; one on disk stays there."""
        async with self._seat(id_) as seat:
            if seat.open is not None and seat.open.owner == owner:
                return seat.open.values()
            return _saved_values(await self._work.run_beside(partial(self._row, owner, id_, _PLACE)))

    async def all(self, owner: str, offset: int, limit: int) -> dict[str, Any]:
        """The streams of an owner, the oldest first; those on disk stay there."""
        rows, found = await self._work.run_beside(partial(self._rows, owner, offset, limit))
        told = []
        for row in rows:
            one = seat.open if (seat := self._seats.get(row["id"])) is not None else None
            told.append(_saved_values(row) if one is None else one.values())
        return {"streams": told, "all": found, "offset": offset}

    def _rows(self, owner: str, offset: int, limit: int) -> tuple[list[sqlite3.Row], int]:
        # By rowid, which is the order in which they were made: the columns behind the state are far away.
        statement = f"SELECT {_PLACE} FROM streams WHERE owner = ? ORDER BY rowid LIMIT ? OFFSET ?"
        rows = self._database.rows(statement, (owner, limit, offset))
        counted = self._database.row("SELECT count(*) FROM streams WHERE owner = ?", (owner,))
        return rows, 0 if counted is None else int(counted[0])

    async def look(self, owner: str, id_: str, see: Callable[[Stream], Any]) -> Any:
        """What somebody wants to see of a stream, which is not changed."""
        async with self._seat(id_) as seat:
            found = await self._work.run(lambda: see(self._opened(seat, owner, id_).stream))
        self._make_room()
        return found

    async def remove(self, owner: str, id_: str) -> None:
        async with self._seat(id_) as seat:
            statement = "DELETE FROM streams WHERE id = ? AND owner = ?"
            if not await self._work.run_beside(partial(self._database.write, statement, (id_, owner))):
                raise unknown("stream")
            seat.open = None
        self.listeners.end(id_)

    @asynccontextmanager
    async def _seat(self, id_: str) -> AsyncIterator[Seat]:
        """A stream's seat, for one at a time."""
        seat = self._seats.setdefault(id_, Seat())
        seat.users += 1
        try:
            async with seat.lock:
                yield seat
        finally:
            seat.users -= 1
            if not seat.users and seat.open is None:
                self._seats.pop(id_, None)

    def _make_room(self) -> None:
        """Let those leave memory that were not used for the longest time, if there are too many."""
        excess = self.in_memory - self._limits.streams_in_memory
        if excess <= 0:
            return
        unused = [(seat.open.used, id_) for id_, seat in self._seats.items() if not seat.users and seat.open]
        for _, id_ in sorted(unused)[:excess]:
            self._work.begin(self._put_away(id_, leave=True))

    async def _put_away(self, id_: str, *, leave: bool) -> None:
        """Save a stream; one that is safe may leave memory."""
        async with self._seat(id_) as seat:
            one = seat.open
            if one is None:
                return
            safe = one.unsaved_since is None or await self._work.run_beside(partial(self._save, one))
            if safe and leave and seat.users == 1:
                seat.open = None

    async def sweep(self) -> None:
        """Save what has not been saved for long, put away what is idle, forget what was closed long ago."""
        now = time.monotonic()
        if self._database.trouble:
            try:
                await self._work.run_beside(self._database.try_again)
            except sqlite3.Error:
                return
        for id_, seat in list(self._seats.items()):
            one = seat.open
            if one is None or seat.users:
                continue
            idle = one.stream.closed or now - one.used > self._limits.idle_seconds
            if idle or (one.unsaved_since is not None and now - one.unsaved_since > self._limits.save_seconds):
                await self._put_away(id_, leave=idle)
        before = time.time() - self._limits.closed_seconds
        await self._work.run_beside(partial(self._database.write, FORGET, (before,)))

    async def save_all(self) -> int:
        """At the end; how many could not be saved."""
        for id_ in list(self._seats):
            await self._put_away(id_, leave=True)
        return self.in_memory
