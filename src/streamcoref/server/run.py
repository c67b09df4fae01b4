"""A server in this process, until it is told to end: SIGTERM lets it finish what it does and save everything."""

from __future__ import annotations

import signal
import socket
from typing import TYPE_CHECKING

import uvicorn

from streamcoref.server.app import create_app
from streamcoref.server.logs import set_up_logs
from streamcoref.server.settings import ServerSettings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from streamcoref.resolver import Resolver


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
            limit_concurrency=limits.connections,
            timeout_graceful_shutdown=int(limits.request_seconds),
        )
    )


def serve(resolver: Resolver, settings: ServerSettings) -> None:
    """Returns when it has ended."""
    set_up_logs()
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn obeys them, and raises them once more when all is done: to have been told to end is no failure.
        signal.signal(number, _ended)
    make_server(resolver, settings).run()


def _ended(_number: int, _frame: object) -> None:
    """Nothing more to do."""
