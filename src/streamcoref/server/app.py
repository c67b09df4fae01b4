"""The application: routes, and what every request passes through before it comes to one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware

from streamcoref import __version__
from streamcoref.server import routes_jobs, routes_resolve, routes_status, routes_streams
from streamcoref.server.body_limit import BodyLimit
from streamcoref.server.crowd import Crowd
from streamcoref.server.errors_out import add_handlers
from streamcoref.server.gate import Gate
from streamcoref.server.head_requests import Heads
from streamcoref.server.logs import RequestLog
from streamcoref.server.page_files import page_router
from streamcoref.server.schemas import ERRORS, with_whole_examples
from streamcoref.server.service import Service
from streamcoref.server.settings import ServerSettings

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver

_ABOUT = (
    "Coreference for text of any length: whole texts, texts that flow, and books. A stream has a WebSocket, too, "
    '/v1/streams/{stream}/live: it takes frames {"text": ..., "speaker": ...}, {"flush": true} and {"close": true}, '
    "and sends events as they become certain."
)


def create_app(resolver: Resolver, settings: ServerSettings) -> FastAPI:
    """An ASGI application that serves one model. Its state is in `settings.data`, which it has for itself."""
    settings.check()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = service = Service(resolver, settings)
        await service.start()
        try:
            yield
        finally:
            await service.end()

    passed = [
        Middleware(Heads),
        Middleware(RequestLog),
        *_cors(settings.cors),
        Middleware(Gate, settings=settings),
        Middleware(Crowd, limits=settings.limits),
        Middleware(BodyLimit, limits=settings.limits),
    ]
    app = FastAPI(
        title="streamcoref",
        version=__version__,
        description=_ABOUT,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
        middleware=passed,
        responses=ERRORS,
    )
    add_handlers(app)
    for router in (routes_resolve.router, routes_streams.router, routes_jobs.router, routes_status.router):
        app.include_router(router)
    app.include_router(page_router())
    app.openapi = lambda: with_whole_examples(FastAPI.openapi(app))  # type: ignore[method-assign]
    return app


def _cors(origins: tuple[str, ...]) -> list[Middleware]:
    """None unless origins are named."""
    if not origins:
        return []
    methods, headers = ["GET", "POST", "DELETE"], ["authorization", "content-type", "content-encoding"]
    exposed = ["Retry-After", "X-Request-Id"]
    return [
        Middleware(
            CORSMiddleware,
            allow_origins=list(origins),
            allow_methods=methods,
            allow_headers=headers,
            expose_headers=exposed,
        )
    ]
