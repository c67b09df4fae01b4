"""Calls to a stream, the same over HTTP and in frames of a WebSocket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcoref.events import Event
from streamcoref.server.bodies import CallBody, FeedBody, PreviewBody
from streamcoref.server.limits import Limits
from streamcoref.server.refusals import Refusal
from streamcoref.server.service import Service
from streamcoref.server.streams import refuse_if_closed

if TYPE_CHECKING:
    from streamcoref.stream import Stream


def check_length(characters: int, limits: Limits) -> None:
    if characters > limits.text_characters:
        raise Refusal(
            413, f"a text of {characters:,} characters; {limits.text_characters:,} are allowed at once, so send parts"
        )


async def do_feed(service: Service, owner: str, id_: str, body: FeedBody) -> str:
    def act(stream: Stream) -> list[Event]:
        events = _fed(stream, body)
        return events + stream.end_turn() if body.end_turn else events

    return await service.streams.call(owner, id_, act, body.call)


async def do_preview(service: Service, owner: str, id_: str, body: PreviewBody) -> list[Event]:
    """What would come if this were fed and flushed now. A copy of the stream reads it."""

    def see(stream: Stream) -> list[Event]:
        refuse_if_closed(stream)
        copy = service.resolver.stream(stream.state())
        return _fed(copy, body) + copy.flush()

    found: list[Event] = await service.streams.look(owner, id_, see)
    return found


def _fed(stream: Stream, body: PreviewBody) -> list[Event]:
    if body.words is not None:
        return stream.feed_words(body.words, body.speaker)
    assert isinstance(body.speaker, str | None)
    return stream.feed(body.text or "", body.speaker)


async def do_flush(service: Service, owner: str, id_: str, body: CallBody) -> str:
    return await service.streams.call(owner, id_, lambda stream: stream.flush(), body.call, save=True)


async def do_close(service: Service, owner: str, id_: str, body: CallBody) -> str:
    return await service.streams.call(owner, id_, lambda stream: stream.close(), body.call, save=True)
