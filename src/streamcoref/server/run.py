"""A server in this process, until it is told to end: SIGTERM lets it finish what it does and save everything."""

from __future__ import annotations

import logging
import signal
import socket
from typing import TYPE_CHECKING

import uvicorn

from streamcoref.server.app import create_app
from streamcoref.server.crowd import accepted, allow_files
from streamcoref.server.logs import set_up_logs
from streamcoref.server.settings import ServerSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from streamcoref.resolver import Resolver

_log = logging.getLogger("streamcoref.server")


class DrainingServer(uvicorn.Server):
    """Tells the application before it waits for connections, so that those which would never end do."""

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        app: FastAPI = self.config.app  # type: ignore[assignment]
        app.state.service.drain()
        await super().shutdown(sockets)


def make_server(resolver: Resolver, settings: ServerSettings) -> DrainingServer:
    """To be run by its `run`."""
    limits = settings.limits
    return DrainingServer(
        uvicorn.Config(
            create_app(resolver, settings),
            host=settings.host,
            port=settings.port,
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            ws_max_size=limits.body_bytes,
            limit_concurrency=accepted(limits),
            timeout_graceful_shutdown=int(limits.request_seconds),
        )
    )


def serve(resolver: Resolver, settings: ServerSettings) -> None:
    """Returns when it has ended."""
    set_up_logs()
    files = allow_files(settings.limits)
    if files < accepted(settings.limits):
        values = {"files": files, "connections": settings.limits.connections}
        _log.warning("the system allows fewer open files than connections may need", extra={"values": values})
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn obeys them, and raises them once more when all is done: to have been told to end is no failure.
        signal.signal(number, _ended)
    make_server(resolver, settings).run()


def _ended(_number: int, _frame: object) -> None:
    """Nothing more to do."""
