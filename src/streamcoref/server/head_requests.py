"""HEAD: what GET would say, without the body. For the page and for how the server is; the API has no use for it."""

from __future__ import annotations

from starlette.types import ASGIApp, Receive, Scope, Send

from streamcoref.server.gate import GUARDED


class Heads:
    """The application sees a GET; the server that carries it knows better, and leaves the body out."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] == "HEAD" and not scope["path"].startswith(GUARDED):
            scope = {**scope, "method": "GET"}
        await self._app(scope, receive, send)
