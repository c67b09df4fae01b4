"""Who listens to a stream: each has a short queue, and who lets it run full is let go."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager


class Listener:
    """Records as they come; None is the end. `behind` is set when they came faster than they were taken."""

    def __init__(self, length: int) -> None:
        self.queue: asyncio.Queue[list[str] | None] = asyncio.Queue()
        self.behind = asyncio.Event()
        self._length = length

    def tell(self, records: list[str]) -> None:
        if self.queue.qsize() >= self._length:
            self.behind.set()
        if not self.behind.is_set():
            self.queue.put_nowait(records)

    def end(self) -> None:
        self.queue.put_nowait(None)


class Listeners:
    """Those of all streams."""

    def __init__(self, length: int) -> None:
        self._length = length
        self._listeners: dict[str, set[Listener]] = {}

    @contextmanager
    def listening(self, stream: str) -> Iterator[Listener]:
        listener = Listener(self._length)
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
