"""Logs: one JSON object a line, with who, what, how long, and never with what was said in a text."""

from __future__ import annotations

import json
import logging
import secrets
import sys
import time
import traceback
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from streamcoref.server.errors_out import error_answer
from streamcoref.server.metrics import Metrics

_log = logging.getLogger("streamcoref.server")


class JsonLines(logging.Formatter):
    """An error is logged by its type and the places it came through: what it says may be from a text."""

    def format(self, record: logging.LogRecord) -> str:
        values: dict[str, Any] = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created)) + f".{int(record.msecs):03}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage() if record.exc_info is None else str(record.msg),
        }
        values |= getattr(record, "values", {})
        if record.exc_info is not None and record.exc_info[0] is not None:
            values["error"] = record.exc_info[0].__name__
            values["places"] = places(record.exc_info[1])
        return json.dumps(values)


def places(error: BaseException | None) -> list[str]:
    frames = traceback.extract_tb(error.__traceback__) if error is not None else []
    return [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in frames[-8:]]


def set_up_logs() -> None:
    """All of ours and uvicorn's to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    for name in ("streamcoref.server", "uvicorn", "uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        logger.handlers, logger.propagate = [handler], False
        logger.setLevel(logging.INFO)


class RequestLog:
    """A line and a count for each request, and the answer to what nobody foresaw."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        began, status, id_ = time.perf_counter(), 0, secrets.token_hex(8)

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", id_.encode())]
            elif message["type"] == "websocket.accept":
                status = 101
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ConnectionResetError:  # the caller has gone, or takes nothing
            pass
        except Exception:
            _log.error("a mistake of ours", exc_info=True, extra={"values": {"request": id_}})
            if not status and scope["type"] == "http":
                await error_answer(500, f"a mistake of ours; the log knows more about request {id_}")(
                    scope, receive, noting
                )
        finally:
            self._note(scope, status, id_, time.perf_counter() - began)

    def _note(self, scope: Scope, status: int, id_: str, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        method = scope.get("method", "WEBSOCKET")
        method = method if method in ("GET", "POST", "DELETE", "HEAD", "OPTIONS", "WEBSOCKET") else "OTHER"
        metrics: Metrics = scope["app"].state.service.metrics
        metrics.requests.labels(method, route, str(status)).inc()
        metrics.seconds.labels(route).observe(seconds)
        values = {"request": id_, "method": method, "route": route, "status": status, "seconds": round(seconds, 4)}
        _log.info("request", extra={"values": values | {"key": scope.get("owner", "")[:8]}})
