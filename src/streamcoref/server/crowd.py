"""How many calls and WebSockets there may be at once: who is one too many is told so, and disturbs nobody."""

from __future__ import annotations

import resource

from starlette.types import ASGIApp, Receive, Scope, Send

from streamcoref.server.errors_out import refuse
from streamcoref.server.gate import GUARDED
from streamcoref.server.limits import Limits
from streamcoref.server.refusals import Refusal

_FILES = 1000  # besides those of connections: stores, uploads, the model


class Crowd:
    """Counts what is under way. How the server is can be asked for however many there are."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._most = app, limits.connections
        self._there = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket") or not scope["path"].startswith(GUARDED):
            await self._app(scope, receive, send)
            return
        if self._there >= self._most:
            refusal = Refusal(429, f"there are {self._there} connections already; try again", retry_after=1)
            await refuse(refusal, scope, receive, send)
            return
        self._there += 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._there -= 1


def accepted(limits: Limits) -> int:
    """The connections that are accepted at all: as many again may be open between two calls."""
    return 2 * limits.connections


def allow_files(limits: Limits) -> int:
    """Let this process open as many files as its connections need, if it may: how many it may open now."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = accepted(limits) + _FILES
    if soft != resource.RLIM_INFINITY and soft < wanted:
        soft = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft if soft != resource.RLIM_INFINITY else wanted
