"""Answers: JSON, packed for those who take gzip, and records one after another while a text is read."""

from __future__ import annotations

import asyncio
import gzip
import io
import json
from collections.abc import AsyncIterator, Iterable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Send

from streamcoref.document import Document
from streamcoref.events import Event
from streamcoref.formats.event_lines import json_line
from streamcoref.formats.json_out import write_document

JSON, LINES, SERVER_SENT = "application/json", "application/x-ndjson", "text/event-stream"
_WORTH_PACKING = 1024  # bytes


def as_bytes(text: str) -> bytes:
    """JSON as UTF-8. Half a character, which UTF-8 cannot hold, is escaped as JSON escapes it: `\\ud800`."""
    return text.encode("utf-8", "backslashreplace")


def event_texts(events: Iterable[Event], key: str) -> list[str]:
    """Each event as the format `events` has it, without the line end."""
    return [json_line(event, key).rstrip("\n") for event in events]


def document_text(document: Document) -> str:
    """The document as the format `json` writes it."""
    stream = io.StringIO()
    write_document(document.with_text(), stream)
    return stream.getvalue()


def record(event: str, **values: Any) -> str:
    return json.dumps({"event": event, **values}, ensure_ascii=False)


def json_answer(request: Request, value: Any, status: int = 200) -> Response:
    """Plain values, or JSON that is text already."""
    return _packed(
        request, as_bytes(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)), status
    )


def _packed(request: Request, body: bytes, status: int) -> Response:
    headers = {"Vary": "Accept-Encoding"}
    taken = {part.split(";")[0].strip() for part in request.headers.get("accept-encoding", "").split(",")}
    if len(body) >= _WORTH_PACKING and "gzip" in taken:
        body = gzip.compress(body, 1, mtime=0)
        headers["Content-Encoding"] = "gzip"
    return Response(body, status, headers, JSON)


def wants_records(request: Request) -> str | None:
    """The kind of records that the caller asks for; None for one answer at the end."""
    accepted = request.headers.get("accept", "")
    return next((kind for kind in (LINES, SERVER_SENT) if kind in accepted), None)


class Records(StreamingResponse):
    """Records as they come: lines of JSON, or server-sent events. A caller who takes nothing for a while is left."""

    def __init__(self, records: AsyncIterator[str], kind: str, stall_seconds: float) -> None:
        self._stall_seconds = stall_seconds
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(_framed(records, kind), headers=headers, media_type=kind)

    async def stream_response(self, send: Send) -> None:
        async def patiently(message: Message) -> None:
            async with asyncio.timeout(self._stall_seconds):
                await send(message)

        try:
            await super().stream_response(patiently)
        except TimeoutError:
            await self.body_iterator.aclose()  # type: ignore[attr-defined]
            raise ConnectionResetError("a reader who takes nothing") from None


async def _framed(records: AsyncIterator[str], kind: str) -> AsyncIterator[bytes]:
    frame = "{}\n" if kind == LINES else "data: {}\n\n"
    async for one in records:
        yield as_bytes(frame.format(one))
