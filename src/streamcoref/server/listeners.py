"""Who listens to a stream: each has a short queue, and who lets it run full is let go."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Listener:
    """Records as they come; None is the end. `behind` is set when they came faster than they were taken."""

    def __init__(self, length: int, characters: int) -> None:
        self.behind = asyncio.Event()
        self._queue: asyncio.Queue[list[str] | None] = asyncio.Queue()
        self._length, self._characters = length, characters
        self._waiting = 0  # characters

    def tell(self, records: list[str]) -> None:
        # However long one answer is, it is sent to who has taken all before it.
        if self._queue.qsize() >= self._length or self._waiting > self._characters:
            self.behind.set()
        if not self.behind.is_set():
            self._waiting += sum(map(len, records))
            self._queue.put_nowait(records)

    async def next(self) -> list[str] | None:
        records = await self._queue.get()
        self._waiting -= sum(map(len, records or ()))
        return records

    def end(self) -> None:
        self._queue.put_nowait(None)


class Listeners:
    """Those of all streams."""

    def __init__(self, length: int, characters: int) -> None:
        self._length, self._characters = length, characters
        self._listeners: dict[str, set[Listener]] = {}

    @contextmanager
    def listening(self, stream: str) -> Iterator[Listener]:
        listener = Listener(self._length, self._characters)
        self._listeners.setdefault(stream, set()).add(listener)
        try:
            yield listener
        finally:
            others = self._listeners[stream]
            others.discard(listener)
            if not others:
                del self._listeners[stream]

    def tell(self, stream: str, records: list[str]) -> None:
        for listener in self._listeners.get(stream, ()):
            listener.tell(records)

    def end(self, stream: str) -> None:
        for listener in self._listeners.get(stream, ()):
            listener.end()

    def __len__(self) -> int:
        return sum(map(len, self._listeners.values()))
