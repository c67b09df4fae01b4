"""`/v1/resolve`: whole texts, answered at once or while they are read."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from streamcoref._inputs import document_from_turns, document_from_words
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.events import Event
from streamcoref.progress import ReadingProgress
from streamcoref.server.answers import (
    LINES,
    SERVER_SENT,
    Records,
    document_text,
    event_texts,
    json_answer,
    record,
    wants_records,
)
from streamcoref.server.bodies import BatchBody, ResolveBody, ResolveItem
from streamcoref.server.calls import check_length
from streamcoref.server.parts import Caller
from streamcoref.server.refusals import Refusal, sentence
from streamcoref.server.schemas import DocumentAnswer, SplitAnswer
from streamcoref.server.service import Service
from streamcoref.text import document_from_text

if TYPE_CHECKING:
    from streamcoref.stream import Stream

CHUNK = 8192  # characters between two progress records: some segments, so that all threads have one
WORDS = 1000
router = APIRouter(tags=["resolve"])
_EVENTS = {"schema": {"type": "string"}, "example": record("done")}


@router.post(
    "/v1/resolve",
    summary="Resolve a text",
    response_model=None,
    responses={200: {"model": DocumentAnswer, "content": {LINES: _EVENTS, SERVER_SENT: _EVENTS}}},
)
async def resolve(body: ResolveBody, request: Request, caller: Caller) -> Response:
    """A text, or words, or turns; the answer is what the format `json` has for one document.

    With `Accept: application/x-ndjson` or `text/event-stream` events come while the text is read, with records
    `{"event": "progress", ...}` among them, and `{"event": "done"}` or `{"event": "error", ...}` at the end.
    """
    service = caller.service
    check_length(body.characters, service.limits)
    kind = wants_records(request)
    if kind is None:
        with service.work.place():
            return json_answer(request, await service.work.in_time(_resolved(service, body, body.options)))
    service.work.refuse_if_full()  # as long as there is a status to say it with
    stream = service.resolver.stream(**body.options)
    return Records(_records(service, stream, body), kind, service.limits.stall_seconds)


@router.post(
    "/v1/resolve/batch",
    summary="Resolve many texts",
    response_model=None,
    responses={200: {"model": list[DocumentAnswer]}},
)
async def resolve_batch(body: BatchBody, request: Request, caller: Caller) -> Response:
    """Several texts with the same options; the answers are in their order. One that is wrong fails the request."""
    service = caller.service
    if len(body.texts) > service.limits.batch_texts:
        raise Refusal(413, f"{len(body.texts)} texts; {service.limits.batch_texts} are allowed at once")
    check_length(sum(item.characters for item in body.texts), service.limits)

    async def all_of_them() -> list[str]:
        async with asyncio.TaskGroup() as group:
            doing = [group.create_task(_resolved(service, item, body.options)) for item in body.texts]
        return [task.result() for task in doing]

    with service.work.place():
        try:
            found = await service.work.in_time(all_of_them())
        except* StreamcorefError as errors:
            raise errors.exceptions[0] from None
    return json_answer(request, f"[{', '.join(found)}]")


@router.post("/v1/split", summary="Words and sentences", response_model=None, responses={200: {"model": SplitAnswer}})
async def split(body: ResolveItem, request: Request, caller: Caller) -> Response:
    """How a text is split into words and sentences, as the format `jsonlines` has it on a line; without an answer."""
    service = caller.service
    check_length(body.characters, service.limits)
    with service.work.place():
        found = await service.work.in_time(service.work.run(lambda: _document(body).to_dict()))
    return json_answer(request, found)


def _document(item: ResolveItem) -> Document:
    if item.words is not None:
        return document_from_words(item.key, item.words, item.speakers).with_text()
    if item.turns is not None:
        return document_from_turns(item.key, item.turns)
    return document_from_text(item.key, item.text or "")


async def _resolved(service: Service, item: ResolveItem, options: dict[str, Any]) -> str:
    """The document as JSON. Whoever waits no longer is noticed between two segments."""
    until = time.monotonic() + service.limits.request_seconds

    def on_progress(_: ReadingProgress) -> None:
        if time.monotonic() > until:
            raise Refusal(504, "it took too long")

    def resolve_text() -> str:
        document = service.resolver.resolve(**item.arguments(), on_progress=on_progress, **options)
        service.metrics.words.inc(len(document.words))
        return document_text(document)

    return await service.work.run(resolve_text)


async def _records(service: Service, stream: Stream, body: ResolveBody) -> AsyncIterator[str]:
    in_all = sum(map(len, body.words)) if body.words is not None else _characters(body)
    done = 0

    def progress() -> str:
        return record(
            "progress", characters=done, characters_in_all=in_all, words=stream.words_read, entities=stream.alive
        )

    try:
        with service.work.place():
            yield progress()
            for act, length in _parts(stream, body):
                if service.work.draining:
                    raise Refusal(503, "the server is stopping")
                events = await service.work.run(act)
                done += length
                for one in event_texts(events, body.key):
                    yield one
                yield progress()
            service.metrics.words.inc(stream.words_read)
        yield record("done")
    except StreamcorefError as error:
        yield record("error", error=sentence(error))
    except Refusal as refusal:
        yield record("error", error=refusal.detail)


def _characters(body: ResolveBody) -> int:
    """Of the document's text: turns are joined by line ends."""
    return max(0, body.characters - 1) if body.turns is not None else body.characters


def _parts(stream: Stream, body: ResolveBody) -> Iterator[tuple[Callable[[], list[Event]], int]]:
    """What to do to the stream, and how much has been fed then: characters, or words where there is no text."""
    if body.words is not None:
        yield from _word_parts(stream, body)
    elif body.turns is not None:
        for number, (speaker, text) in enumerate(body.turns):
            yield (
                partial(_turn, stream, speaker, text, last=number + 1 == len(body.turns)),
                len(text) + (number + 1 < len(body.turns)),
            )
    else:
        text = body.text or ""
        for first in range(0, len(text), CHUNK):
            chunk = text[first : first + CHUNK]
            yield partial(stream.feed, chunk), len(chunk)
    yield stream.close, 0


def _turn(stream: Stream, speaker: str | None, text: str, *, last: bool) -> list[Event]:
    """A turn ends its sentence; the line end that joins it with the next is nobody's."""
    events = stream.feed(text, speaker) + stream.end_turn()
    return events if last else events + stream.feed("\n", speaker) + stream.end_turn()


def _word_parts(stream: Stream, body: ResolveBody) -> Iterator[tuple[Callable[[], list[Event]], int]]:
    words, speakers = body.words or [], body.speakers
    first = 0
    while first < len(words):
        last, count = first, 0
        while last < len(words) and count < WORDS:
            count += len(words[last])
            last += 1
        names = speakers if speakers is None or isinstance(speakers, str) else speakers[first:last]
        yield partial(stream.feed_words, words[first:last], names), count
        first = last
