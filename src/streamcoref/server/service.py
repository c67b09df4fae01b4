"""What a server consists of: one for all its routes."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING

from streamcoref._process_memory import give_back
from streamcoref.server.database import ServerDatabase
from streamcoref.server.jobs import JobTable
from streamcoref.server.metrics import Metrics
from streamcoref.server.settings import ServerSettings
from streamcoref.server.streams import StreamTable
from streamcoref.server.work import Work

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver

SWEEP_SECONDS = 0.5
_log = logging.getLogger("streamcoref.server")


class Service:
    """Made in the event loop that it lives in. `stopping` is set when the server has been told to end."""

    def __init__(self, resolver: Resolver, settings: ServerSettings) -> None:
        self.resolver, self.settings, self.limits = resolver, settings, settings.limits
        self.stopping = asyncio.Event()
        self.metrics = Metrics()
        self.database = ServerDatabase(settings.data)
        self.work = Work(settings.workers, self.limits)
        self.streams = StreamTable(resolver, self.database, self.work, self.limits, self.metrics)
        self.jobs = JobTable(resolver, self.database, settings, self.metrics)
        watch = self.metrics.watch
        watch("streams_in_memory", "Streams that are not on disk alone", lambda: self.streams.in_memory)
        watch("queue", "Calls that are worked on or wait", lambda: self.work.taken)
        watch("listeners", "WebSockets", lambda: len(self.streams.listeners))
        watch("segments_under_way", "Segments that are encoded or wait for it", lambda: resolver.segments_under_way)
        watch("jobs_waiting", "Jobs that wait or are being read", lambda: self.jobs.unfinished)
        self._sweeping: asyncio.Task[None] | None = None

    @property
    def unready(self) -> str | None:
        """Why nothing should be sent here; None if it should."""
        if self.stopping.is_set():
            return "the server is stopping"
        if self.database.trouble:
            return f"nothing can be saved: {self.database.trouble}"
        return None

    async def start(self) -> None:
        await asyncio.to_thread(lambda: self.resolver.fingerprint)  # goes over all weights: not in somebody's call
        self.jobs.start()
        self._sweeping = asyncio.create_task(self._sweep())

    def drain(self) -> None:
        """From now on nothing new is begun."""
        self.stopping.set()
        self.work.draining = True
        self.jobs.stop()

    async def end(self) -> None:
        """Finish what is being done, and save everything."""
        self.drain()
        if self._sweeping is not None:
            self._sweeping.cancel()
            with suppress(asyncio.CancelledError):
                await self._sweeping
        await self.jobs.ended()
        lost = await self.streams.save_all()
        if lost:
            _log.error("streams could not be saved", extra={"values": {"streams": lost}})
        await self.work.finish()
        self.database.close()

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_SECONDS)
            try:
                await self.streams.sweep()
                await asyncio.to_thread(give_back)
            except Exception as error:  # a sweep that fails is tried again
                _log.error("a sweep failed", extra={"values": {"error": type(error).__name__}})
