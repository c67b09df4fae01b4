"""The WebSocket of a stream: frames with text in, events out, to everybody who listens to the stream."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress

from pydantic import TypeAdapter, ValidationError
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from streamcoref.checked import describe_mistakes
from streamcoref.errors import StreamcorefError
from streamcoref.server.answers import as_bytes, record
from streamcoref.server.bodies import CloseFrame, FeedBody, FlushFrame
from streamcoref.server.calls import check_length, do_close, do_feed, do_flush
from streamcoref.server.errors_out import refuse
from streamcoref.server.listeners import Listener
from streamcoref.server.refusals import Refusal, sentence
from streamcoref.server.service import Service

SLOW, STOPPING, OURS = 1013, 1012, 1011
_FRAME: TypeAdapter[FeedBody | FlushFrame | CloseFrame] = TypeAdapter(FeedBody | FlushFrame | CloseFrame)
_FRAMES = 'a frame is {"text": ..., "speaker": ...}, {"words": ...}, {"flush": true} or {"close": true}'


async def live(socket: WebSocket, service: Service, owner: str, id_: str) -> None:
    """Until one of the two has had enough."""
    try:
        await service.streams.info(owner, id_)
    except Refusal as refusal:
        await refuse(refusal, socket.scope, socket.receive, socket.send)
        return
    protocols = socket.scope["subprotocols"]
    await socket.accept("streamcoref" if "streamcoref" in protocols else None)
    with service.streams.listeners.listening(id_) as listener:
        reading = asyncio.create_task(_read(socket, service, owner, id_, listener))
        writing = asyncio.create_task(_write(socket, listener))
        watching = [asyncio.create_task(service.stopping.wait()), asyncio.create_task(listener.behind.wait())]
        await asyncio.wait({reading, writing, *watching}, return_when=asyncio.FIRST_COMPLETED)
        mistake = reading.exception() if reading.done() else None
        if reading.done() and mistake is None and reading.result():  # closed by a frame: its events are yet to be sent
            patience = service.limits.stall_seconds
            await asyncio.wait({writing, *watching}, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        tasks = (reading, writing, *watching)
        for task in tasks:
            task.cancel()  # a frame that is being read is read to its end
        await asyncio.gather(*tasks, return_exceptions=True)
        if listener.behind.is_set():
            service.metrics.slow_readers.inc()
            await _close(socket, service, SLOW, "too slow: take events faster, or send less")
        elif service.stopping.is_set():
            await _close(socket, service, STOPPING, "the server is stopping")
        else:
            await _close(socket, service, 1000 if mistake is None else OURS, "")
        if mistake is not None:
            raise mistake


async def _read(socket: WebSocket, service: Service, owner: str, id_: str, listener: Listener) -> bool:
    """Frames one after the other: the next is taken when the one before it has been read. Whether the last one has
    closed the stream, and not somebody the connection."""
    while True:
        message = await socket.receive()
        if message["type"] == "websocket.disconnect":
            return False
        try:
            frame = _parsed(message.get("text"))
            if isinstance(frame, FeedBody):
                check_length(frame.characters, service.limits)
                await do_feed(service, owner, id_, frame)
            elif isinstance(frame, FlushFrame):
                await do_flush(service, owner, id_, frame)
            else:
                await do_close(service, owner, id_, frame)
                listener.end()
                return True
        except Refusal as refusal:
            listener.tell([record("error", error=refusal.detail, status=refusal.status_code)])
        except StreamcorefError as error:
            listener.tell([record("error", error=sentence(error), status=400)])


def _parsed(text: str | None) -> FeedBody | FlushFrame | CloseFrame:
    try:
        if text is None:
            raise ValueError("frames are text, not bytes")
        values = json.loads(text)
        if not isinstance(values, dict):
            raise ValueError("this is no JSON object")
        kind = FlushFrame if "flush" in values else CloseFrame if "close" in values else FeedBody
        return kind.model_validate(values)
    except ValidationError as error:
        raise Refusal(422, f"{describe_mistakes(error)}; {_FRAMES}") from None
    except (ValueError, RecursionError) as error:
        raise Refusal(422, f"{error}; {_FRAMES}") from None


async def _write(socket: WebSocket, listener: Listener) -> None:
    while (records := await listener.next()) is not None:
        for one in records:
            try:
                await socket.send_text(as_bytes(one).decode())
            except (WebSocketDisconnect, RuntimeError):  # the other side has gone
                return


async def _close(socket: WebSocket, service: Service, code: int, reason: str) -> None:
    """Say why, unless the other side has gone, or takes not even that."""
    if socket.client_state is not WebSocketState.CONNECTED or socket.application_state is not WebSocketState.CONNECTED:
        return
    with suppress(RuntimeError, WebSocketDisconnect, TimeoutError):
        async with asyncio.timeout(service.limits.stall_seconds):
            await socket.close(code, reason)
