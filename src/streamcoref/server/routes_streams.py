"""`/v1/streams`: texts that flow."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body, Request, WebSocket
from starlette.responses import Response

from streamcoref.events import EntityFinished
from streamcoref.server import calls
from streamcoref.server.answers import event_texts, json_answer
from streamcoref.server.bodies import CallBody, FeedBody, PreviewBody, StreamBody
from streamcoref.server.live import live
from streamcoref.server.parts import Caller, Limit, Offset
from streamcoref.server.schemas import AliveEntities, FedAnswer, Preview, Removed, StreamAnswer, StreamList

router = APIRouter(prefix="/v1/streams", tags=["streams"])
MaybeCall = Annotated[CallBody, Body(default_factory=CallBody)]
_BYTES = {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}


@router.post(
    "", summary="Begin a stream", status_code=201, response_model=None, responses={201: {"model": StreamAnswer}}
)
async def create(body: StreamBody, request: Request, caller: Caller) -> Response:
    """A new stream; with a `state`, one that goes on where that one was, with its options."""
    work = caller.service.work
    with work.place():
        made = await work.in_time(caller.service.streams.create(caller.owner, body.options, body.state_bytes()))
    return json_answer(request, made, 201)


@router.get("", summary="All streams", response_model=None, responses={200: {"model": StreamList}})
async def streams(request: Request, caller: Caller, offset: Offset = 0, limit: Limit = 100) -> Response:
    """Those of this key, the oldest first, closed ones too as long as they can be looked at."""
    work = caller.service.work
    with work.place():
        return json_answer(request, await work.in_time(caller.service.streams.all(caller.owner, offset, limit)))


@router.post("/{stream}/feed", summary="Feed text or words", response_model=None, responses={200: {"model": FedAnswer}})
async def feed(stream: str, body: FeedBody, request: Request, caller: Caller) -> Response:
    """More text, with the name of its speaker, or more words. The events that have become certain by it come back."""
    work = caller.service.work
    calls.check_length(body.characters, caller.service.limits)
    with work.place():
        return json_answer(request, await work.in_time(calls.do_feed(caller.service, caller.owner, stream, body)))


@router.post("/{stream}/flush", summary="Read what was fed", response_model=None, responses={200: {"model": FedAnswer}})
async def flush(stream: str, body: MaybeCall, request: Request, caller: Caller) -> Response:
    """Word, sentence and segment end here, as in a pause of a conversation; and the stream is saved."""
    work = caller.service.work
    with work.place():
        return json_answer(request, await work.in_time(calls.do_flush(caller.service, caller.owner, stream, body)))


@router.post("/{stream}/close", summary="End a stream", response_model=None, responses={200: {"model": FedAnswer}})
async def close(stream: str, body: MaybeCall, request: Request, caller: Caller) -> Response:
    """Read the rest and finish every entity. The stream can be looked at for a day, and fed no more."""
    work = caller.service.work
    with work.place():
        return json_answer(request, await work.in_time(calls.do_close(caller.service, caller.owner, stream, body)))


@router.post(
    "/{stream}/preview", summary="What a text would bring", response_model=None, responses={200: {"model": Preview}}
)
async def preview(stream: str, body: PreviewBody, request: Request, caller: Caller) -> Response:
    """The events that would come if this were fed and flushed now, as while somebody types. Nothing is changed."""
    work = caller.service.work
    calls.check_length(body.characters, caller.service.limits)
    with work.place():
        found = await work.in_time(calls.do_preview(caller.service, caller.owner, stream, body))
    return json_answer(request, f'{{"events": [{", ".join(event_texts(found, stream))}]}}')


@router.get("/{stream}", summary="Where a stream stands", response_model=None, responses={200: {"model": StreamAnswer}})
async def info(stream: str, request: Request, caller: Caller) -> Response:
    work = caller.service.work
    with work.place():
        return json_answer(request, await work.in_time(caller.service.streams.info(caller.owner, stream)))


@router.get(
    "/{stream}/entities", summary="Entities alive", response_model=None, responses={200: {"model": AliveEntities}}
)
async def entities(stream: str, request: Request, caller: Caller) -> Response:
    """Those that may still get mentions; the others were finished by an event."""
    work = caller.service.work
    with work.place():
        found: list[EntityFinished] = await work.in_time(
            caller.service.streams.look(caller.owner, stream, lambda one: one.entities())
        )
    return json_answer(request, f'{{"entities": [{", ".join(event_texts(found, stream))}]}}')


@router.get(
    "/{stream}/state",
    summary="A stream as bytes",
    response_class=Response,
    responses={200: {"content": _BYTES, "description": "What Stream.state() gives in Python."}},
)
async def state(stream: str, caller: Caller) -> Response:
    """Everything: `POST /v1/streams` with these bytes goes on from here, on this server or on another."""
    work = caller.service.work
    with work.place():
        found = await work.in_time(caller.service.streams.look(caller.owner, stream, lambda one: one.state()))
    return Response(found, media_type="application/octet-stream")


@router.delete("/{stream}", summary="Remove a stream", response_model=None, responses={200: {"model": Removed}})
async def remove(stream: str, request: Request, caller: Caller) -> Response:
    """Forget a stream, open or closed."""
    work = caller.service.work
    with work.place():
        await work.in_time(caller.service.streams.remove(caller.owner, stream))
    return json_answer(request, {"id": stream, "state": "removed"})


@router.websocket("/{stream}/live")
async def live_socket(socket: WebSocket, stream: str) -> None:
    await live(socket, socket.app.state.service, socket.scope["owner"], stream)
