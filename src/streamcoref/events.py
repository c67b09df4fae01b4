"""What a stream reports while it reads. Every mention of the answer is in exactly one event that starts or links."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from streamcoref.document import Document, Mention, Quotation, Span, TypeScore


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
    """An entity that was evicted, or whose text has ended: no mention will come for it. Each one started has one.

    `type` is what it is, as far as the model tells that, and `type_score` how likely its mentions find it.
    """

    entity: int
    name: str
    size: int
    first: Mention
    last: Mention
    type: str | None = None
    type_score: float | None = None


@dataclass(frozen=True, slots=True)
class QuotationFound:
    """A quotation and who says it, reported when no more will be known of that: some turns later, or at the end.

    Its entities have started, and may have finished since.
    """

    quotation: Quotation


@dataclass(frozen=True, slots=True)
class EntitiesMerged:
    """Two entities that have started turn out to be one: all mentions of `gone` are mentions of `kept`, and whatever
    comes for it will come under that number."""

    kept: int
    gone: int


Event = EntityStarted | MentionLinked | EntityFinished | QuotationFound | EntitiesMerged


def with_answer(document: Document, events: Iterable[Event]) -> Document:
    """The document with the clusters, probabilities, types and quotations that a stream reported of its text."""
    clusters: dict[int, list[Span]] = {}
    scores: dict[Span, float] = {}
    types: dict[int, TypeScore] = {}
    quotations: list[Quotation] = []
    for event in events:
        if isinstance(event, QuotationFound):
            quotations.append(event.quotation)
        elif isinstance(event, EntitiesMerged):
            clusters[event.kept] += clusters.pop(event.gone)
            quotations = [_renamed(one, event) for one in quotations]
        elif isinstance(event, EntityFinished):
            if event.type is not None and event.type_score is not None:
                types[event.entity] = event.type, event.type_score
        else:
            span = event.mention.word_start, event.mention.word_end
            clusters.setdefault(event.entity, []).append(span)
            if event.mention.score is not None:
                scores[span] = event.mention.score
    answered = replace(
        document,
        predicted_clusters=tuple(map(tuple, clusters.values())),
        scores=scores,
        types={min(clusters[entity]): found for entity, found in types.items()},
        quotations=(),
    )
    return replace(answered, quotations=_by_own_numbers(answered, clusters, quotations))


def _renamed(quotation: Quotation, merged: EntitiesMerged) -> Quotation:
    """A quotation after two entities have become one."""

    def now(entity: int | None) -> int | None:
        return merged.kept if entity == merged.gone else entity

    return replace(quotation, speaker=now(quotation.speaker), addressee=now(quotation.addressee))


def _by_own_numbers(
    document: Document, clusters: Mapping[int, Sequence[Span]], quotations: Iterable[Quotation]
) -> tuple[Quotation, ...]:
    """Quotations that name entities as a stream does, with the numbers that a document gives them."""
    number_of = {span: number for number, cluster in enumerate(document.predicted_clusters or ()) for span in cluster}

    def own(entity: int | None) -> int | None:
        return None if entity is None or entity not in clusters else number_of[clusters[entity][0]]

    return tuple(replace(one, speaker=own(one.speaker), addressee=own(one.addressee)) for one in quotations)
