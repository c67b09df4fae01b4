"""What a server answers, as values: the package's own where it has them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from streamcoref.document import Entity, Mention, Quotation, Section
from streamcoref.errors import StreamcorefError
from streamcoref.events import EntitiesMerged, EntityFinished, EntityStarted, Event, MentionLinked, QuotationFound
from streamcoref.progress import ReadingProgress


class ServerError(StreamcorefError):
    """What the server says no with: its sentence, its status, and after how many seconds it may be asked again."""

    def __init__(self, problem: str, status: int, retry_after: float | None = None) -> None:
        super().__init__(problem)
        self.status, self.retry_after = status, retry_after


@dataclass(frozen=True, slots=True)
class Resolved:
    """A text with its entities, its chapters and what is said in it; `words` and `sentences` are counted."""

    key: str
    genre: str | None
    text: str
    words: int
    sentences: int
    entities: tuple[Entity, ...]
    sections: tuple[Section, ...]
    quotations: tuple[Quotation, ...] = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        entities = tuple(
            Entity(one["id"], one["name"], tuple(mention_of(mention) for mention in one["mentions"]), *_type_of(one))
            for one in values["entities"]
        )
        counts = values["words"], values["sentences"]
        sections = tuple(Section(one["title"], one["level"], one["start"], one["end"]) for one in values["sections"])
        quotations = tuple(Quotation(**one) for one in values.get("quotations", ()))
        return cls(values["key"], values["genre"], values["text"], *counts, entities, sections, quotations)


class _Values:
    """Values by name; what a newer server says besides is left out."""

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        return cls(**{field.name: values[field.name] for field in fields(cls)})  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class StreamStatus(_Values):
    """Where a stream stands. What was fed up to `safe_position`, in `safe_calls` calls, survives a killed server."""

    id: str
    position: int
    safe_position: int
    calls: int
    safe_calls: int
    words: int
    alive: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Fed:
    """What a call to a stream has brought, and where the stream stands then."""

    events: list[Event]
    status: StreamStatus

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        return cls([event_of(one) for one in values["events"]], StreamStatus.of(values))


@dataclass(frozen=True, slots=True)
class JobStatus(_Values):
    """How far a job is; `state` is queued, reading, done, failed or cancelled."""

    id: str
    name: str
    state: str
    error: str | None
    characters: int
    characters_in_all: int | None
    words: int
    entities: int

    @property
    def ended(self) -> bool:
        return self.state in ("done", "failed", "cancelled")


def _type_of(values: Mapping[str, Any]) -> tuple[str | None, float | None]:
    return values.get("type"), values.get("type_score")


def mention_of(values: Mapping[str, Any]) -> Mention:
    return Mention(**{field.name: values[field.name] for field in fields(Mention)})


def event_of(values: Mapping[str, Any]) -> Event:
    if values["event"] == "entity_finished":
        first, last = mention_of(values["first"]), mention_of(values["last"])
        return EntityFinished(values["entity"], values["name"], values["size"], first, last, *_type_of(values))
    if values["event"] == "entities_merged":
        return EntitiesMerged(values["kept"], values["gone"])
    if values["event"] == "quotation_found":
        return QuotationFound(Quotation(**values["quotation"]))
    kind = EntityStarted if values["event"] == "entity_started" else MentionLinked
    return kind(values["entity"], mention_of(values["mention"]))


def record_of(values: Mapping[str, Any]) -> Event | ReadingProgress | None:
    """A record that comes while a text is read; None at the end."""
    if values["event"] == "done":
        return None
    if values["event"] == "error":
        raise ServerError(values["error"], 400)
    if values["event"] == "progress":
        names = ("characters", "characters_in_all", "words", "entities")
        return ReadingProgress(*(values[name] for name in names))
    return event_of(values)
