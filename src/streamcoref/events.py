"""What a stream reports while it reads. Every mention of the answer is in exactly one event that starts or links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from streamcoref.document import Document, Mention, Span


@dataclass(frozen=True, slots=True)
class EntityStarted:
    """An entity and its first mention, reported as soon as the entity is sure to be in the answer."""

    entity: int
    mention: Mention


@dataclass(frozen=True, slots=True)
class MentionLinked:
    """A later mention of an entity that has started."""

    entity: int
    mention: Mention


@dataclass(frozen=True, slots=True)
class EntityFinished:
    """An entity that was evicted, or whose text has ended: nothing more will come for it. Each one started has one."""

    entity: int
    name: str
    size: int
    first: Mention
    last: Mention


Event = EntityStarted | MentionLinked | EntityFinished


def with_answer(document: Document, events: Iterable[Event]) -> Document:
    """The document with the clusters and probabilities that a stream reported of its text."""
    clusters: dict[int, list[Span]] = {}
    scores: dict[Span, float] = {}
    for event in events:
        if not isinstance(event, EntityFinished):
            span = event.mention.word_start, event.mention.word_end
            clusters.setdefault(event.entity, []).append(span)
            if event.mention.score is not None:
                scores[span] = event.mention.score
    return replace(document, predicted_clusters=tuple(map(tuple, clusters.values())), scores=scores)
