"""Which decisions of a model belong to the answer, and what has to be remembered of an entity to report it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from operator import add, attrgetter
from typing import TYPE_CHECKING, Any

from streamcoref.document import Mention, Quotation, Span
from streamcoref.events import EntitiesMerged, EntityFinished, EntityStarted, Event, MentionLinked, QuotationFound
from streamcoref.language.running_name import RunningName

if TYPE_CHECKING:
    from streamcoref._laid_by import LaidBy
    from streamcoref.model.memory import EntityRecord
    from streamcoref.model.reading import Link, SegmentResult
    from streamcoref.model.turns import SpokenQuotation

_ROUNDING = 1e-3  # of a mention's shares
# A mention as a tuple. `astuple` would copy each of its values, which took most of the time that saving a stream takes.
_values_of = attrgetter(*(field.name for field in fields(Mention)))


@dataclass(slots=True)
class Tracked:
    """What is remembered of an entity alive; nothing of it grows with the number of mentions."""

    number: int  # under which it is reported
    first: Mention
    last: Mention
    first_score: float  # how much its first mention looks like one
    size: int = 0
    started: bool = False
    name: RunningName = field(default_factory=RunningName)
    votes: tuple[float, ...] = ()  # for each of the model's types, the sum of what the mentions say

    def to_values(self) -> list[Any]:
        more = self.name.to_values(), self.votes
        mentions = _values_of(self.first), _values_of(self.last)
        return [self.number, *mentions, self.first_score, self.size, self.started, *more]

    @classmethod
    def from_values(cls, values: Sequence[Any]) -> Tracked:
        number, first, last, first_score, size, started, name, votes = values
        more = RunningName.from_values(name), tuple(votes)
        return cls(number, Mention(*first), Mention(*last), first_score, size, started, *more)


class EntityTracker:
    """Follows a model's decisions and says what becomes certain.

    Mentions whose decision is less probable than `min_score` are left out. Entities of one mention are answered if they
    say something, and else only with `singletons`, and if they look like mentions: a mention score above 0. `types` are
    those that the model tells apart: an entity has the one that its mentions find most likely, all of them alike.

    Of entities that left the memory and may come back all is remembered here, or `laid_by`: then here only of those
    whom turns still name.
    """

    def __init__(
        self, singletons: bool, min_score: float, types: Sequence[str] = (), laid_by: LaidBy | None = None
    ) -> None:
        self.singletons, self.min_score, self.types = singletons, min_score, types
        self._laid_by = laid_by
        self.entities: dict[int, Tracked] = {}  # alive
        self.leaving: set[int] = set()  # of these: who is to be laid by when no turn names them any more
        self.past: dict[int, int] = {}  # finished, but turns still name them: under which numbers they were reported

    def answered(self, links: Iterable[Link]) -> list[Link]:
        """The decisions that count: each span once, and none that is too improbable.

        A model whose candidates are pieces may propose the same words twice, always in one segment; the better mention
        score counts.
        """
        best: dict[Span, Link] = {}
        for link in links:
            if link.span not in best or link.mention_score > best[link.span].mention_score:
                best[link.span] = link
        kept = (link for link in best.values() if link.probability >= self.min_score)
        return sorted(kept, key=lambda link: link.span)  # some were decided after later ones

    def place(self, link: Link, mention: Mention, words: Sequence[str], opens_sentence: bool) -> list[Event]:
        """Note a mention; report it if its entity belongs to the answer, and the first one if it does only now."""
        entity = self.entities.get(link.entity)
        if entity is None:
            entity = self.entities[link.entity] = Tracked(link.entity, mention, mention, link.mention_score)
        entity.size += 1
        entity.last = mention
        entity.name.add(words, opens_sentence, mention.text)
        entity.votes = tuple(map(add, entity.votes, link.types)) if entity.votes else link.types
        if entity.started:
            return [MentionLinked(entity.number, mention)]
        if entity.size == 1 and not (self.singletons and entity.first_score > 0):
            return []
        entity.started = True
        started = EntityStarted(entity.number, entity.first)
        return [started] if entity.size == 1 else [started, MentionLinked(entity.number, mention)]

    def recall(self, came_back: Iterable[EntityRecord], words: int) -> None:
        """These are in the memory again, of a text of which so many words have been read."""
        if self._laid_by is None:
            return
        for record in came_back:
            self.leaving.discard(record.id)
            entity = None if record.id in self.entities else self._laid_by.take(record, words)
            if entity is not None:
                taken = (other.number for other in self.entities.values())
                if not self.is_sound(entity) or entity.number in {*taken, *self.past.values()}:
                    raise self._laid_by.damaged()
                self.entities[record.id] = entity

    def lay_by(self, entities: Iterable[int], named: Collection[int]) -> None:
        """These have left the memory, and may come back. Whom turns name may yet be those of a quotation."""
        if self._laid_by is None:
            return
        self.leaving.update(number for number in entities if number in self.entities)
        ready = sorted(self.leaving.difference(named))
        self._laid_by.put({number: self.entities.pop(number) for number in ready})
        self.leaving.difference_update(ready)

    def settle(self, result: SegmentResult) -> list[Event]:
        """What a segment brought besides its mentions."""
        events = [event for kept, gone in result.merged for event in self.merge(kept, gone)]
        return events + self.quote(result.quotations)

    def merge(self, kept: int, gone: int) -> list[Event]:
        """Two entities are one. What was not reported of either is, if both together belong to the answer."""
        younger, older = self.entities.pop(gone, None), self.entities.get(kept)
        if younger is None:
            return []
        if older is None:  # none of its mentions was probable enough; the other one is reported as before
            self.entities[kept] = younger
            return []
        events: list[Event] = [] if older.started else [EntityStarted(older.number, older.first)]
        if younger.started:
            events.append(EntitiesMerged(older.number, younger.number))
        else:
            events.append(MentionLinked(older.number, younger.first))
        self.entities[kept] = Tracked(
            older.number,
            min(older.first, younger.first),
            max(older.last, younger.last),
            older.first_score,
            older.size + younger.size,
            True,
            older.name.merged(younger.name),
            tuple(map(add, older.votes, younger.votes)),
        )
        return events

    def quote(self, found: Iterable[SpokenQuotation]) -> list[Event]:
        """Report quotations. Who speaks is an entity of the answer, who listens may be one, or both are unknown."""

        def known(entity: int) -> int | None:
            held = self.entities.get(entity)
            if held is None:
                return self.past.get(entity)
            return held.number if held.started else None

        events: list[Event] = []
        for one in found:
            events += self._start(one.speaker)
            speaker, addressee = known(one.speaker), known(one.addressee)
            kind, score = (one.way.value, one.score) if speaker is not None else ("unknown", 0.0)
            events.append(QuotationFound(Quotation(*one.span, one.start, one.end, speaker, addressee, kind, score)))
        return events

    def _start(self, entity: int) -> list[Event]:
        """Of one mention, for it says something."""
        held = self.entities.get(entity)
        if held is None or held.started:
            return []
        held.started = True
        return [EntityStarted(held.number, held.first)]

    def alive(self) -> list[EntityFinished]:
        """The entities of the answer that are alive, each as the event that would finish it now."""
        return [
            self._finished(self.entities[number]) for number in sorted(self.entities) if self.entities[number].started
        ]

    def finish(
        self, entities: Iterable[int], named: Collection[int] = (), speakers: Collection[int] = ()
    ) -> list[Event]:
        """Nothing more will come for these. Whom turns name, `speakers` among them, may yet be those of a quotation."""
        events: list[Event] = []
        for number in entities:
            if number in speakers:
                events += self._start(number)
            entity = self.entities.pop(number, None)
            if entity is not None and entity.started:
                events.append(self._finished(entity))
                self.past[number] = entity.number
        self.past = {number: reported for number, reported in self.past.items() if number in named}
        return events

    def finish_all(self) -> list[Event]:
        """Whoever is remembered here."""
        return self.finish(sorted(self.entities))

    def finish_laid_by(self, words: int) -> Iterator[Event]:
        """Then the others, one by one; so many words have been read."""
        if self._laid_by is None:
            return
        for number, entity in self._laid_by.rest(words):
            if not self.is_sound(entity):
                raise self._laid_by.damaged()
            if entity.started and number not in self.leaving:  # what lies there of these is older
                yield self._finished(entity)

    def _finished(self, entity: Tracked) -> EntityFinished:
        named = entity.number, entity.name.name(), entity.size, entity.first, entity.last
        if not self.types:
            return EntityFinished(*named)
        most = max(entity.votes)
        return EntityFinished(*named, self.types[entity.votes.index(most)], most / sum(entity.votes))

    def is_sound(self, entity: Tracked) -> bool:
        """Whether an entity that was saved, and may have been changed, can be what `place` and `merge` make of one."""
        first, last = entity.first, entity.last
        if not entity.started and (entity.size > 1 or (self.singletons and entity.first_score > 0)):
            return False
        if (first != last if entity.size == 1 else not first < last) or (last.score or 0.0) < self.min_score:
            return False
        if not entity.name.is_sound(entity.size) or len(entity.votes) != len(self.types):
            return False
        # The types of each mention are shares of 1.
        return not self.types or abs(sum(entity.votes) - entity.size) <= _ROUNDING * entity.size

    def to_values(self) -> dict[str, Any]:
        return {
            "entities": {str(number): entity.to_values() for number, entity in self.entities.items()},
            "past": {str(number): reported for number, reported in self.past.items()},
        }

    def restore(self, values: Mapping[str, Any], in_memory: Collection[int] = ()) -> None:
        self.entities = {int(number): Tracked.from_values(entity) for number, entity in values["entities"].items()}
        self.past = {int(number): reported for number, reported in values.get("past", {}).items()}
        self.leaving = self.entities.keys() - in_memory if self._laid_by is not None else set()
