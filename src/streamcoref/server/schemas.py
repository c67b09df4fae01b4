"""What answers hold, for the page that describes the server. The answers themselves are written as they come."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from streamcoref.server import examples


def _example(values: examples.Values) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [values]})


class ErrorAnswer(BaseModel):
    """Every answer that is no success: a sentence that says what was wrong, and what to do."""

    model_config = _example(examples.ERROR)

    error: str


class MentionRecord(BaseModel):
    """Positions count from 0 and ends are exclusive; `start` and `end` are characters, null where there is no text."""

    model_config = _example(examples.MENTION)

    text: str
    start: int | None
    end: int | None
    word_start: int
    word_end: int
    sentence: int
    score: float | None


class ListedEntity(BaseModel):
    """`type` and its score are there where the model tells types."""

    model_config = _example(examples.ENTITY)

    id: int
    name: str
    size: int
    type: str | None = None
    type_score: float | None = None
    mentions: list[MentionRecord]


class SectionRecord(BaseModel):
    """A chapter: characters of the text; the outermost have level 1."""

    model_config = _example(examples.SECTION)

    title: str
    level: int
    start: int
    end: int


class QuotationRecord(BaseModel):
    """`speaker` and `addressee` are ids of entities, null where unknown; `kind` says how the speaker is known."""

    model_config = _example(examples.QUOTATION)

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

    model_config = _example(examples.DOCUMENT)

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

    model_config = _example(examples.SPLIT)

    doc_key: str
    sentences: list[list[str]]
    clusters: list[Any]
    text: str | None = None
    offsets: list[list[int]] | None = None


class EventRecord(BaseModel):
    """An event as the format `events` writes it: a mention, at the end of an entity its name and size, a quotation."""

    model_config = _example(examples.STARTED)

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

    model_config = _example(examples.STREAM)

    id: str
    position: int
    safe_position: int
    calls: int
    safe_calls: int
    words: int
    alive: int
    closed: bool


class StreamList(BaseModel):
    model_config = _example(examples.page("streams", examples.STREAM))

    streams: list[StreamAnswer]
    all: int
    offset: int


class FedAnswer(StreamAnswer):
    model_config = _example(examples.STREAM | {"events": [examples.STARTED]})

    events: list[EventRecord]


class Preview(BaseModel):
    model_config = _example({"events": [examples.STARTED]})

    events: list[EventRecord]


class AliveEntities(BaseModel):
    """The entities alive, each as the event that would finish it now."""

    model_config = _example({"entities": [examples.FINISHED]})

    entities: list[EventRecord]


class JobAnswer(BaseModel):
    """`state` is queued, reading, done, failed or cancelled."""

    model_config = _example(examples.JOB)

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
    model_config = _example({"jobs": [examples.JOB]})

    jobs: list[JobAnswer]


class JobEntity(BaseModel):
    model_config = _example(examples.JOB_ENTITY)

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
    model_config = _example(examples.page("entities", examples.JOB_ENTITY))

    entities: list[JobEntity]
    all: int
    offset: int


class JobMention(MentionRecord):
    model_config = _example(examples.MENTION | {"entity": 0})

    entity: int


class MentionPage(BaseModel):
    model_config = _example(examples.page("mentions", examples.MENTION | {"entity": 0}))

    mentions: list[JobMention]
    all: int
    offset: int


class QuotationPage(BaseModel):
    model_config = _example(examples.page("quotations", examples.QUOTATION))

    quotations: list[QuotationRecord]
    all: int
    offset: int


class TextPart(BaseModel):
    model_config = _example(examples.PART)

    start: int
    end: int
    text: str


class Removed(BaseModel):
    model_config = _example(examples.REMOVED)

    id: str
    state: str


class Ready(BaseModel):
    model_config = _example({"ready": True, "reason": None})

    ready: bool
    reason: str | None


class Healthy(BaseModel):
    model_config = _example({"healthy": True})

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


def with_whole_examples(description: dict[str, Any]) -> dict[str, Any]:
    """FastAPI leaves every null out of the examples; in what is answered they are there."""
    for name, shape in description["components"]["schemas"].items():
        model = globals().get(name)
        if isinstance(model, type) and issubclass(model, BaseModel):
            extra = model.model_config.get("json_schema_extra")
            shape.update(extra if isinstance(extra, dict) else {})
    return description
