"""Calls that change a stream, the same over HTTP and in frames of a WebSocket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcoref.events import Event
from streamcoref.server.bodies import CallBody, FeedBody
from streamcoref.server.limits import Limits
from streamcoref.server.refusals import Refusal
from streamcoref.server.service import Service

if TYPE_CHECKING:
    from streamcoref.stream import Stream


def check_length(characters: int, limits: Limits) -> None:
    if characters > limits.text_characters:
        raise Refusal(
            413, f"a text of {characters:,} characters; {limits.text_characters:,} are allowed at once, so send parts"
        )


async def do_feed(service: Service, owner: str, id_: str, body: FeedBody) -> str:
    def act(stream: Stream) -> list[Event]:
        if body.words is not None:
            return stream.feed_words(body.words, body.speaker)
        assert isinstance(body.speaker, str | None)
        events = stream.feed(body.text or "", body.speaker)
        return events + stream.end_turn() if body.end_turn else events

    return await service.streams.call(owner, id_, act, body.call)


async def do_flush(service: Service, owner: str, id_: str, body: CallBody) -> str:
    return await service.streams.call(owner, id_, lambda stream: stream.flush(), body.call, save=True)


async def do_close(service: Service, owner: str, id_: str, body: CallBody) -> str:
    return await service.streams.call(owner, id_, lambda stream: stream.close(), body.call, save=True)
