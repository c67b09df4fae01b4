"""Bodies of requests: never larger than allowed, also when they come packed, and never waited for too long."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Iterator

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamcoref.server.errors_out import refuse
from streamcoref.server.limits import Limits
from streamcoref.server.refusals import Refusal

UPLOADS = ("/v1/jobs",)  # where files come
_GZIP = 16 + zlib.MAX_WBITS  # what zlib calls gzip
_STEP = 1 << 16


class BodyLimit:
    """Counts and unpacks what comes in; the application never sees more than it may."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app, self._limits = app, limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._limits.file_bytes if scope["path"].rstrip("/") in UPLOADS else self._limits.body_bytes
        headers = Headers(scope=scope)
        packing = headers.get("content-encoding", "identity").lower()
        try:
            if packing not in ("identity", "gzip"):
                raise Refusal(415, f"the body is packed by {packing[:20]!r}; gzip is known here")
            length = headers.get("content-length", "0")
            if not length.isdigit() or int(length) > limit:
                raise _too_large(limit)
        except Refusal as refusal:
            await refuse(refusal, scope, receive, send)
            return
        body = _Body(receive, limit, self._limits.stall_seconds, packed=packing == "gzip")
        await self._app(scope, body.receive, send)


class _Body:
    """A body on its way in."""

    def __init__(self, receive: Receive, limit: int, seconds: float, *, packed: bool) -> None:
        self._receive, self._limit, self._seconds = receive, limit, seconds
        self._unpacker = zlib.decompressobj(_GZIP) if packed else None
        self._size = 0
        self._whole = False

    async def receive(self) -> Message:
        if self._whole:  # what comes now is only whether the caller has gone, which may take its time
            return await self._receive()
        try:
            async with asyncio.timeout(self._seconds):
                message = await self._receive()
        except TimeoutError:
            raise Refusal(408, f"nothing came for {self._seconds:g} seconds") from None
        if message["type"] != "http.request":
            return message
        self._whole = not message.get("more_body", False)
        data = message.get("body", b"")
        if self._unpacker is not None:
            data = b"".join(self._unpacked(data))
            if self._whole and not self._unpacker.eof and self._size:
                raise Refusal(400, "damaged gzip data; the body may be cut short")
        else:
            self._count(len(data))
        return {"type": "http.request", "body": data, "more_body": not self._whole}

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        """Little by little, so that a few bytes cannot become more than there is room for."""
        assert self._unpacker is not None
        while data:
            try:
                part = self._unpacker.decompress(data, _STEP)
            except zlib.error:
                raise Refusal(400, "damaged gzip data") from None
            self._count(len(part))
            yield part
            data = self._unpacker.unconsumed_tail

    def _count(self, size: int) -> None:
        self._size += size
        if self._size > self._limit:
            raise _too_large(self._limit)


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"the body is too large; {limit:,} bytes are allowed")
