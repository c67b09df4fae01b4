"""The page: its files are read once, at the start, and nothing else of that folder or any other is ever opened."""

from __future__ import annotations

from importlib import resources

from fastapi import APIRouter
from starlette.responses import Response

from streamcoref.server.refusals import unknown

TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".mjs": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".ico": "image/x-icon",
    ".txt": "text/plain; charset=utf-8",
    ".woff2": "font/woff2",
}
# Nothing from elsewhere, nothing inside the text of a page, and in nobody's frame.
HEADERS = {
    "Content-Security-Policy": "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


def read_page() -> dict[str, tuple[bytes, str]]:
    """Each file of the package's folder `page` with its type."""
    folder = resources.files("streamcoref") / "page"
    files = [file for file in folder.iterdir() if file.is_file()] if folder.is_dir() else []
    typed = [(file, TYPES.get("." + file.name.rpartition(".")[2])) for file in files]
    return {file.name: (file.read_bytes(), kind) for file, kind in typed if kind is not None}


def page_router() -> APIRouter:
    router = APIRouter(include_in_schema=False)
    files = read_page()

    @router.get("/")
    async def index() -> Response:
        return await file("index.html")

    @router.get("/page/{name}")
    async def file(name: str) -> Response:
        if name not in files:
            raise unknown("file")
        content, kind = files[name]
        return Response(content, headers={**HEADERS, "Content-Type": kind})

    return router
