"""What answers hold, for the page that describes the server. The answers themselves are written as they come."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel


class ErrorAnswer(BaseModel):
    """Every answer that is no success: a sentence that says what was wrong, and what to do."""

    error: str


class MentionRecord(BaseModel):
    """Positions count from 0 and ends are exclusive; `start` and `end` are characters, null where there is no text."""

    text: str
    start: int | None
    end: int | None
    word_start: int
    word_end: int
    sentence: int
    score: float | None


class ListedEntity(BaseModel):
    """`type` and its score are there where the model tells types."""

    id: int
    name: str
    size: int
    type: str | None = None
    type_score: float | None = None
    mentions: list[MentionRecord]


class SectionRecord(BaseModel):
    """A chapter: characters of the text; the outermost have level 1."""

    title: str
    level: int
    start: int
    end: int


class QuotationRecord(BaseModel):
    """`speaker` and `addressee` are ids of entities, null where unknown; `kind` says how the speaker is known."""

    word_start: int
    word_end: int
    start: int | None
    end: int | None
    speaker: int | None
    addressee: int | None
    kind: str
    score: float


class DocumentAnswer(BaseModel):
    """A document as the format `json` writes it."""

    key: str
    genre: str | None
    text: str
    words: int
    sentences: int
    sections: list[SectionRecord]
    entities: list[ListedEntity]
    quotations: list[QuotationRecord] | None = None


class SplitAnswer(BaseModel):
    """A document as the format `jsonlines` has it on a line; more keys where more is known."""

    doc_key: str
    sentences: list[list[str]]
    clusters: list[Any]
    text: str | None = None
    offsets: list[list[int]] | None = None


class EventRecord(BaseModel):
    """An event as the format `events` writes it: a mention, at the end of an entity its name and size, a quotation."""

    document: str
    event: str
    entity: int | None = None
    kept: int | None = None
    gone: int | None = None
    quotation: QuotationRecord | None = None
    mention: MentionRecord | None = None
    name: str | None = None
    size: int | None = None
    type: str | None = None
    type_score: float | None = None
    first: MentionRecord | None = None
    last: MentionRecord | None = None


class StreamAnswer(BaseModel):
    """Where a stream stands. What was fed up to `safe_position`, in `safe_calls` calls, survives a killed server."""

    id: str
    position: int
    safe_position: int
    calls: int
    safe_calls: int
    words: int
    alive: int
    closed: bool


class FedAnswer(StreamAnswer):
    events: list[EventRecord]


class Preview(BaseModel):
    events: list[EventRecord]


class AliveEntities(BaseModel):
    """The entities alive, each as the event that would finish it now."""

    entities: list[EventRecord]


class JobAnswer(BaseModel):
    """`state` is queued, reading, done, failed or cancelled."""

    id: str
    name: str
    state: str
    error: str | None
    characters: int
    characters_in_all: int | None
    words: int
    entities: int
    made: float


class JobList(BaseModel):
    jobs: list[JobAnswer]


class JobEntity(BaseModel):
    id: int
    name: str
    size: int
    start: int | None
    end: int | None
    word_start: int
    word_end: int
    type: str | None
    type_score: float | None
    finished: bool


class EntityPage(BaseModel):
    entities: list[JobEntity]
    all: int
    offset: int


class JobMention(MentionRecord):
    entity: int


class MentionPage(BaseModel):
    mentions: list[JobMention]
    all: int
    offset: int


class QuotationPage(BaseModel):
    quotations: list[QuotationRecord]
    all: int
    offset: int


class TextPart(BaseModel):
    start: int
    end: int
    text: str


class Removed(BaseModel):
    id: str
    state: str


class Ready(BaseModel):
    ready: bool
    reason: str | None


class Healthy(BaseModel):
    healthy: bool


_SAID = {
    400: "The content is wrong.",
    401: "There is no such key.",
    403: "Not from there.",
    404: "There is no such thing, or it is somebody else's.",
    405: "Not with this method.",
    408: "The request did not arrive in time.",
    409: "Not in this state or order.",
    413: "Too large.",
    415: "Packed in a way that is not known here.",
    422: "The request has not the right shape.",
    429: "Too many; come again after Retry-After.",
    500: "A mistake of ours.",
    503: "The server is stopping.",
    504: "It took too long.",
    507: "The server cannot save just now.",
}
# What every route may answer besides its success.
ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorAnswer, "description": said} for status, said in _SAID.items()
}
