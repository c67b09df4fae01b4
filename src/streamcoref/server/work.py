"""The threads that link, and who waits for them: never more than the queue holds, none for longer than it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, TypeVar

from streamcoref.server.limits import Limits
from streamcoref.server.refusals import UNAVAILABLE, Refusal

Result = TypeVar("Result")


class Work:
    """Callers get a place, or are told to come again; what they want done is done in a thread."""

    def __init__(self, workers: int, limits: Limits) -> None:
        self._pool = ThreadPoolExecutor(workers, "work")
        self._beside = ThreadPoolExecutor(1, "beside")
        self._limits = limits
        self._tasks: set[asyncio.Task[Any]] = set()  # a task that nobody refers to may vanish
        self.taken = 0  # places
        self.draining = False

    @contextmanager
    def place(self) -> Iterator[None]:
        self.refuse_if_full()
        self.taken += 1
        try:
            yield
        finally:
            self.taken -= 1

    def refuse_if_full(self) -> None:
        self.refuse_if_draining()
        if self.taken >= self._limits.queue:
            raise Refusal(429, f"{self.taken} calls are waiting already; try again", retry_after=1)

    def refuse_if_draining(self) -> None:
        if self.draining:
            raise Refusal(UNAVAILABLE, "the server is stopping; try again when it is back", retry_after=5)

    async def run(self, function: Callable[[], Result]) -> Result:
        """In a thread. Cancelled before it has begun it is never done; after that it is waited for, so that nobody
        else touches what it works on."""
        return await _done(self._pool, function)

    async def run_beside(self, function: Callable[[], Result]) -> Result:
        """The same for what takes a moment, as to save a stream: it does not wait behind texts that take minutes."""
        return await _done(self._beside, function)

    def begin(self, doing: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
        """Something that goes on whoever waits for it."""
        task = asyncio.create_task(doing)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def in_time(self, doing: Coroutine[Any, Any, Result]) -> Result:
        """The result, if it comes before the time for a request is over. What has begun by then is done to its end."""
        task = self.begin(doing)
        done, _ = await asyncio.wait({task}, timeout=self._limits.request_seconds)
        if not done:
            task.cancel()
            raise Refusal(504, f"no answer within {self._limits.request_seconds:g} seconds", retry_after=5)
        return task.result()

    async def finish(self) -> None:
        """Wait for what was begun."""
        self.draining = True
        while self._tasks:
            await asyncio.wait(self._tasks)
        for pool in (self._pool, self._beside):
            await asyncio.to_thread(pool.shutdown)


async def _done(pool: ThreadPoolExecutor, function: Callable[[], Result]) -> Result:
    future = pool.submit(function)
    wrapped = asyncio.wrap_future(future)
    try:
        return await asyncio.shield(wrapped)
    except asyncio.CancelledError:
        if not future.cancel():
            await asyncio.wait([wrapped])
        raise
