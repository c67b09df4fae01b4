"""The types of entities, counted by mention."""

from __future__ import annotations

import pytest

from streamcoref import Document, MentionLabels
from streamcoref.metrics import TypeCounts, add_types, count_types

PERSON, PLACE, PLAIN = MentionLabels(("person",)), MentionLabels(("place", "facility")), MentionLabels(kind="NOM")
# Gold: words 0, 2 and 4 are a person, 1 and 3 a place, of 5 no type is known, 6 is a person mentioned once.
KEY = (((0, 1), (2, 3), (4, 5)), ((1, 2), (3, 4)), ((5, 6), (7, 8)), ((6, 7),))
LABELS = {(0, 1): PERSON, (2, 3): PERSON, (4, 5): PERSON, (1, 2): PLACE, (3, 4): PLACE, (5, 6): PLAIN, (6, 7): PERSON}


def answer(*entities: tuple[str | None, list[int]]) -> Document:
    clusters = [[(word, word + 1) for word in words] for _, words in entities]
    document = Document.from_sentences("d", [list("abcdefghij")], predicted_clusters=clusters)
    types = {(min(words), min(words) + 1): (kind, 0.5) for kind, words in entities if kind is not None}
    return Document(
        "d", document.words, document.sentence_ends, predicted_clusters=document.predicted_clusters, types=types
    )


def test_by_hand() -> None:
    # 0, 2 right; 3 wrong, 8 is no mention; 1 right by the other name of a place; 5 and 7 do not count; 4 is not found.
    found = count_types(
        KEY, LABELS, answer(("person", [0, 2, 3, 8]), ("facility", [1, 9]), ("time", [5, 7])).entities, singletons=False
    )
    assert found == {
        "person": TypeCounts(gold=3, found=2, right=2, answered=4),
        "place": TypeCounts(gold=2, found=2, right=1, answered=1),
        "facility": TypeCounts(answered=1),
    }
    every = sum(found.values(), TypeCounts())
    assert (every.precision, every.recall) == (3 / 6, 3 / 5)
    assert every.f1 == pytest.approx(2 * 0.5 * 0.6 / 1.1)
    assert every.accuracy == 3 / 4


def test_singletons_count_where_they_are_asked_for() -> None:
    entities = answer(("person", [6]), ("person", [0, 2])).entities
    assert count_types(KEY, LABELS, entities, singletons=False)["person"] == TypeCounts(3, 2, 2, 2)
    assert count_types(KEY, LABELS, entities, singletons=True)["person"] == TypeCounts(4, 3, 3, 3)


def test_sums_and_nothing() -> None:
    one = {"person": TypeCounts(1, 1, 1, 1)}
    assert add_types([one, {"place": TypeCounts(answered=2)}, one]) == {
        "person": TypeCounts(2, 2, 2, 2),
        "place": TypeCounts(answered=2),
    }
    assert add_types([]) == {}
    nothing = TypeCounts()
    assert (nothing.precision, nothing.recall, nothing.f1, nothing.accuracy) == (0, 0, 0, 0)
