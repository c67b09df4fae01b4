"""Which decisions of a model belong to the answer, and what has to be remembered of an entity to report it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import TYPE_CHECKING, Any

from streamcoref.document import Mention, Span
from streamcoref.events import EntityFinished, EntityStarted, Event, MentionLinked
from streamcoref.language.running_name import RunningName

if TYPE_CHECKING:
    from streamcoref.model.reading import Link


@dataclass(slots=True)
class Tracked:
    """What is remembered of an entity alive; nothing of it grows with the number of mentions."""

    first: Mention
    last: Mention
    first_score: float  # how much its first mention looks like one
    size: int = 0
    started: bool = False
    name: RunningName = field(default_factory=RunningName)

    def to_values(self) -> list[Any]:
        first, last = astuple(self.first), astuple(self.last)
        return [first, last, self.first_score, self.size, self.started, self.name.to_values()]

    @classmethod
    def from_values(cls, values: Sequence[Any]) -> Tracked:
        first, last, first_score, size, started, name = values
        return cls(Mention(*first), Mention(*last), first_score, size, started, RunningName.from_values(name))


class EntityTracker:
    """Follows a model's decisions and says what becomes certain.

    Mentions whose decision is less probable than `min_score` are left out. Entities of one mention are answered only
    with `singletons`, and then only those that look like mentions: a mention score above 0.
    """

    def __init__(self, singletons: bool, min_score: float) -> None:
        self.singletons, self.min_score = singletons, min_score
        self.entities: dict[int, Tracked] = {}  # alive

    def answered(self, links: Iterable[Link]) -> list[Link]:
        """The decisions that count: each span once, and none that is too improbable.

        A model whose candidates are pieces may propose the same words twice, always in one segment; the better mention
        score counts.
        """
        best: dict[Span, Link] = {}
        for link in links:
            if link.span not in best or link.mention_score > best[link.span].mention_score:
                best[link.span] = link
        return [link for link in best.values() if link.probability >= self.min_score]

    def place(self, link: Link, mention: Mention, words: Sequence[str], opens_sentence: bool) -> list[Event]:
        """Note a mention; report it if its entity belongs to the answer, and the first one if it does only now."""
        entity = self.entities.get(link.entity)
        if entity is None:
            entity = self.entities[link.entity] = Tracked(mention, mention, link.mention_score)
        entity.size += 1
        entity.last = mention
        entity.name.add(words, opens_sentence, mention.text)
        if entity.started:
            return [MentionLinked(link.entity, mention)]
        if entity.size == 1 and not (self.singletons and entity.first_score > 0):
            return []
        entity.started = True
        started = EntityStarted(link.entity, entity.first)
        return [started] if entity.size == 1 else [started, MentionLinked(link.entity, mention)]

    def alive(self) -> list[EntityFinished]:
        """The entities of the answer that are alive, each as the event that would finish it now."""
        return [
            _finished(number, self.entities[number])
            for number in sorted(self.entities)
            if self.entities[number].started
        ]

    def finish(self, entities: Iterable[int]) -> list[Event]:
        """Nothing more will come for these."""
        events: list[Event] = []
        for number in entities:
            entity = self.entities.pop(number, None)
            if entity is not None and entity.started:
                events.append(_finished(number, entity))
        return events

    def finish_all(self) -> list[Event]:
        return self.finish(sorted(self.entities))

    def to_values(self) -> dict[str, Any]:
        return {str(number): entity.to_values() for number, entity in self.entities.items()}

    def restore(self, values: Mapping[str, Any]) -> None:
        self.entities = {int(number): Tracked.from_values(entity) for number, entity in values.items()}


def _finished(number: int, entity: Tracked) -> EntityFinished:
    return EntityFinished(number, entity.name.name(), entity.size, entity.first, entity.last)
