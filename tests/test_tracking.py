"""What is reported when entities merge, and of quotations: nothing is lost, nothing comes twice."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamcoref import (
    EntitiesMerged,
    EntityFinished,
    EntityStarted,
    Event,
    Mention,
    MentionLinked,
    QuotationFound,
    StreamcorefError,
)
from streamcoref._laid_by import LaidBy
from streamcoref._tracking import EntityTracker
from streamcoref.document import Document
from streamcoref.events import with_answer
from streamcoref.model.memory import EntityRecord
from streamcoref.model.reading import Link
from streamcoref.model.turns import NOBODY, SpokenQuotation, Way
from streamcoref.store.register_table import CalledBack


def mention(place: int) -> Mention:
    return Mention(place, place + 1, None, None, f"word{place}", 0, 1.0)


def place(tracker: EntityTracker, word: int, entity: int) -> list[Event]:
    link = Link((word, word + 1), entity, False, 0.0, 1.0, 1.0, 0.5)
    return tracker.place(link, mention(word), [f"word{word}"], False)


def answer(events: list[Event]) -> dict[int, list[int]]:
    """The words of each entity, as one who follows the events knows them."""
    known: dict[int, list[int]] = defaultdict(list)
    for event in events:
        match event:
            case EntityStarted(entity, first) | MentionLinked(entity, first):
                known[entity].append(first.word_start)
            case EntitiesMerged(kept, gone):
                known[kept] += known.pop(gone)
    return {entity: sorted(words) for entity, words in known.items()}


@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 3)), max_size=20), st.booleans())
def test_merging_loses_nothing(steps: list[tuple[int, bool, int]], singletons: bool) -> None:
    tracker, events = EntityTracker(singletons, 0.0), []
    clusters: dict[int, list[int]] = defaultdict(list)
    for word, (entity, merges, other) in enumerate(steps):
        if merges and entity < other and entity in clusters and other in clusters:
            events += tracker.merge(entity, other)
            clusters[entity] += clusters.pop(other)
        else:
            events += place(tracker, word, entity)
            clusters[entity].append(word)
    events += tracker.finish_all()
    expected = {number: sorted(words) for number, words in clusters.items() if singletons or len(words) > 1}
    assert answer(events) == expected
    finished = {event.entity: event for event in events if isinstance(event, EntityFinished)}
    assert {number: one.size for number, one in finished.items()} == {n: len(w) for n, w in expected.items()}
    for number, one in finished.items():
        assert (one.first.word_start, one.last.word_start) == (expected[number][0], expected[number][-1])
    document = Document.from_sentences("d", [[f"word{n}" for n in range(max(1, len(steps)))]])
    found = with_answer(document, events).predicted_clusters or ()
    assert sorted([a for a, _ in cluster] for cluster in found) == sorted(expected.values())


def test_quotations_name_entities_of_the_answer_only() -> None:
    tracker = EntityTracker(False, 0.0)
    events = [*place(tracker, 0, 5), *place(tracker, 1, 5), *place(tracker, 2, 6)]
    said = SpokenQuotation((3, 5), None, None, 5, 6, Way.NAMED, 0.9)
    events += tracker.quote([said, said._replace(span=(6, 8), speaker=NOBODY, addressee=5)])
    first, second = (event.quotation for event in events if isinstance(event, QuotationFound))
    assert (first.speaker, first.addressee, first.kind, first.score) == (5, None, "named", 0.9)
    assert (second.speaker, second.addressee, second.kind, second.score) == (None, 5, "unknown", 0.0)


def test_quotations_of_those_who_are_finished() -> None:
    """As long as a turn names them, and no longer: nothing of a stream grows with its text."""
    tracker = EntityTracker(False, 0.0)
    for word, entity in enumerate([5, 5, 6, 6, 7]):
        place(tracker, word, entity)
    finished = [event for event in tracker.finish([5, 6, 7], {5, 7}) if isinstance(event, EntityFinished)]
    assert [event.entity for event in finished] == [5, 6]
    said = SpokenQuotation((3, 5), None, None, 5, 6, Way.NAMED, 0.9)
    (found,) = tracker.quote([said])
    assert isinstance(found, QuotationFound)
    assert (found.quotation.speaker, found.quotation.addressee) == (5, None)
    again = EntityTracker(False, 0.0)
    again.restore(json.loads(json.dumps(tracker.to_values())))
    assert again.quote([said]) == [found]
    tracker.finish([], {6, 7})
    assert tracker.past == {}
    (found,) = tracker.quote([said._replace(speaker=7)])
    assert isinstance(found, QuotationFound)
    assert found.quotation.speaker is None


def test_who_speaks_is_in_the_answer_however_rarely_mentioned() -> None:
    """“No,” said a sailor: he is somebody, though nobody speaks of him again."""
    tracker = EntityTracker(False, 0.0)
    assert not [*place(tracker, 0, 5), *place(tracker, 1, 6), *place(tracker, 2, 7)]
    said = SpokenQuotation((3, 5), None, None, 5, 6, Way.NAMED, 0.9)
    started, found = tracker.quote([said])
    assert isinstance(started, EntityStarted)
    assert started.entity == 5
    assert isinstance(found, QuotationFound)
    assert (found.quotation.speaker, found.quotation.addressee) == (5, None)
    assert tracker.is_sound(tracker.entities[5])
    # One who is evicted before that is known for sure, and one who says nothing:
    started, finished = tracker.finish([6, 7], {6}, {6})
    assert isinstance(started, EntityStarted)
    assert isinstance(finished, EntityFinished)
    assert started.entity == finished.entity == 6
    (later,) = tracker.quote([said._replace(speaker=6)])
    assert isinstance(later, QuotationFound)
    assert later.quotation.speaker == 6


def test_a_document_numbers_them_as_its_own_entities() -> None:
    tracker = EntityTracker(False, 0.0)
    events = [*place(tracker, 4, 7), *place(tracker, 5, 7), *place(tracker, 0, 9), *place(tracker, 1, 9)]
    events += tracker.quote([SpokenQuotation((2, 4), None, None, 7, 9, Way.TURNS, 0.8)])
    events += [*place(tracker, 6, 11), *place(tracker, 7, 11), *tracker.merge(7, 11)]
    document = with_answer(Document.from_sentences("d", [[f"word{n}" for n in range(8)]]), events)
    (quotation,) = document.quotations
    assert document.entities[0].mentions[0].word_start == 0
    assert (quotation.speaker, quotation.addressee) == (1, 0)
    assert [m.word_start for m in document.entities[1].mentions] == [4, 5, 6, 7]


def test_a_merged_name_is_that_of_both() -> None:
    tracker = EntityTracker(True, 0.0)
    for number, (entity, words) in enumerate([(1, ["she"]), (2, ["Anna", "Weber"]), (2, ["Anna", "Weber"])]):
        text = " ".join(words)
        link = Link((number, number + 1), entity, False, 0.0, 1.0, 1.0, 0.5)
        tracker.place(link, Mention(number, number + 1, None, None, text, 0, 1.0), words, False)
    tracker.merge(1, 2)
    (finished,) = tracker.finish_all()
    assert isinstance(finished, EntityFinished)
    assert (finished.entity, finished.name, finished.size) == (1, "Anna Weber", 3)


@pytest.mark.parametrize("known", [1, 2])
def test_one_of_two_that_was_never_answered(known: int) -> None:
    tracker = EntityTracker(True, 0.0)
    place(tracker, 0, known)
    assert tracker.merge(1, 2) == []
    assert place(tracker, 1, 1) == [MentionLinked(known, mention(1))]  # it is reported by the number that it had
    (finished,) = tracker.finish_all()
    assert isinstance(finished, EntityFinished)
    assert (finished.entity, finished.size) == (known, 2)


class ToyShelf:
    """A register that has nothing but what is laid there."""

    def __init__(self) -> None:
        self.laid: dict[int, bytes] = {}

    def tracked(self, entity: int) -> bytes | None:
        return self.laid.get(entity)

    def lay(self, tracked: Mapping[int, bytes]) -> None:
        self.laid |= tracked

    def all_tracked(self) -> Iterator[CalledBack]:
        return (CalledBack(record(number), packed) for number, packed in sorted(self.laid.items()))

    def damaged(self) -> StreamcorefError:
        return StreamcorefError("damaged")


def record(number: int) -> EntityRecord:
    return EntityRecord(number, torch.zeros(1), {"size": 9, "score": 1.0})


def test_who_is_laid_by_is_reported_when_they_speak_and_when_they_come_back() -> None:
    """Whom a turn names is remembered here until it does not; the others where they were laid, and nowhere else."""
    shelf = ToyShelf()
    tracker = EntityTracker(False, 0.0, laid_by=LaidBy(shelf))
    for word, entity in enumerate([5, 5, 6, 6, 7, 7]):
        place(tracker, word, entity)
    tracker.lay_by([5, 6, 7], named={6})
    assert (shelf.laid.keys(), tracker.entities.keys(), tracker.leaving) == ({5, 7}, {6}, {6})
    again = EntityTracker(False, 0.0, laid_by=LaidBy(shelf))
    again.restore(json.loads(json.dumps(tracker.to_values())), in_memory=[])
    for one in (tracker, again):
        (found,) = one.quote([SpokenQuotation((6, 8), None, None, 6, 5, Way.NAMED, 0.9)])
        assert isinstance(found, QuotationFound)
        assert found.quotation.speaker == 6
        assert one.leaving == {6}
    tracker.recall([record(5), record(6)], words=6)
    (linked,) = place(tracker, 8, 5)
    assert linked == MentionLinked(5, mention(8))
    tracker.lay_by([5, 6], named=())
    assert tracker.entities == {}
    finished = [event for event in tracker.finish_laid_by(words=9) if isinstance(event, EntityFinished)]
    assert [(event.entity, event.size) for event in finished] == [(5, 3), (6, 2), (7, 2)]
    tracker.recall([record(7)], words=9)
    tracker.lay_by([7], named={7})
    assert [event.entity for event in tracker.finish_all() if isinstance(event, EntityFinished)] == [7]
    assert [event.entity for event in tracker.finish_laid_by(9) if isinstance(event, EntityFinished)] == [5, 6]


def test_a_number_that_somebody_else_has_is_refused() -> None:
    shelf = ToyShelf()
    tracker = EntityTracker(False, 0.0, laid_by=LaidBy(shelf))
    for word, entity in enumerate([5, 5, 6, 6]):
        place(tracker, word, entity)
    tracker.lay_by([5], named=())
    shelf.laid[5] = shelf.laid[5].replace(b"[5,", b"[6,", 1)
    with pytest.raises(StreamcorefError, match="damaged"):
        tracker.recall([record(5)], words=4)
