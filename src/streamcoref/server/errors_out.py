"""Errors on their way out: always `{"error": sentence}`, with the right status, and nothing of our inside."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket

from streamcoref.errors import StreamcorefError
from streamcoref.server.answers import JSON, as_bytes
from streamcoref.server.refusals import cannot_save, sentence

_NO_OBJECT = ("missing", "model_attributes_type", "model_type", "dict_type")  # of pydantic, for a whole body
_SAID = {404: "there is nothing of this name", 405: "not with this method"}


def error_answer(status: int, said: str, headers: Any = None) -> Response:
    return Response(as_bytes(json.dumps({"error": said}, ensure_ascii=False)), status, headers, JSON)


async def refuse(refusal: HTTPException, scope: Scope, receive: Receive, send: Send) -> None:
    """Before any route is asked."""
    answer = error_answer(refusal.status_code, refusal.detail, refusal.headers)
    if scope["type"] == "websocket":  # which can be told why as long as it was not accepted
        await WebSocket(scope, receive, send).send_denial_response(answer)
        return
    await answer(scope, receive, send)


def add_handlers(app: FastAPI) -> None:
    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        plain = type(error) is HTTPException and error.status_code in _SAID
        said = _SAID[error.status_code] if plain else str(error.detail)
        return error_answer(error.status_code, said, error.headers)

    @app.exception_handler(StreamcorefError)
    async def wrong(_: Request, error: StreamcorefError) -> Response:
        return error_answer(400, sentence(error))

    @app.exception_handler(sqlite3.OperationalError)
    async def unsaved(_: Request, error: sqlite3.OperationalError) -> Response:
        refusal = cannot_save(error)
        return error_answer(refusal.status_code, refusal.detail, refusal.headers)

    @app.exception_handler(RequestValidationError)
    async def misshaped(_: Request, error: RequestValidationError) -> Response:
        return error_answer(422, describe(error))


def describe(error: RequestValidationError) -> str:
    """Every mistake with its place, in one sentence, and nothing of what was sent."""
    mistakes = []
    for mistake in error.errors():
        place = ".".join(str(step) for step in mistake["loc"][1:])
        if mistake["type"] == "json_invalid":
            return f"the body is no JSON; what is wrong is near character {place}"
        if mistake["loc"] == ("body",) and mistake["type"] in _NO_OBJECT:
            return "the body must be a JSON object, sent with Content-Type: application/json"
        said = "unknown key" if mistake["type"] == "extra_forbidden" else mistake["msg"].removeprefix("Value error, ")
        mistakes.append(f"{place}: {said}" if place else said)
    return "; ".join(mistakes)
