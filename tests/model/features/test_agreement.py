"""Agreement of names, genders and voices: by example, and against a literal version on strings."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.language import NARRATOR
from streamcoref.model.features.agreement import Value
from tests.model.features import pairs
from tests.model.features.pairs import Mention, said
from tests.model.literal_agreement import literal_agreement

ANNA, BEN = -11, -12  # speakers
AGREEMENT = pairs.build("agreement", words=2)  # the models that have it know no given names


def value(mention: Mention, *earlier: Mention) -> int:
    return pairs.value(AGREEMENT, mention, *earlier)


@pytest.mark.parametrize(
    ("span", "entity", "expected"),
    [
        ("Lucy", ["the girl", "she"], Value.NAMELESS),
        ("Lucy", ["Lucy Brandt"], Value.SAME_NAME),
        ("Lucy Brandt 's", ["Lucy"], Value.SAME_NAME),
        ("Mrs. Oakley", ["Margaret Oakley"], Value.SAME_NAME),
        ("Brandt", ["Helen Brandt"], Value.SAME_NAME),
        ("Peter Brandt", ["Helen Brandt"], Value.SHARED_NAME),
        ("Peter", ["Helen Brandt"], Value.OTHER_NAME),
        ("the Lynx", ["The Lynx"], Value.SAME_NAME),
        ("Bank of Norway", ["Norway"], Value.SAME_NAME),
        ("Jonas", ["my brother Jonas"], Value.SAME_NAME),
        ("old Mr. Turner", ["Helen"], Value.OTHER_NAME),
        ("the mayor of Oslo", ["Oslo"], Value.NOTHING),
        ("the old captain", ["Helen Brandt"], Value.NOTHING),
        ("the Captain", ["Helen Brandt"], Value.NOTHING),  # a title alone is no name
        ("him", ["Samuel"], Value.UNGENDERED),
        ("him", ["Samuel", "he"], Value.SAME_GENDER),
        ("him", ["Mr. Samuel"], Value.SAME_GENDER),
        ("him", ["Elena", "her"], Value.OTHER_GENDER),
        ("she", ["Mr. Samuel"], Value.OTHER_GENDER),
        ("them", ["we"], Value.OTHER_GENDER),
        ("I", ["the girl"], Value.SILENT),
        ("me", ["my"], Value.SAME_NARRATION),
        ("you", ["I"], Value.OTHER_VOICE),
    ],
)
def test_words(span: str, entity: list[str], expected: int) -> None:
    assert value(said(span), *map(said, entity)) == expected


@pytest.mark.parametrize(
    ("span", "entity", "expected"),
    [
        # turns 10, 11 (its answer), 12 and so on: voices are twice the turn, odd for an answer
        (said("I", 20), [said("my", 20)], Value.SAME_TURN),
        (said("I", 23), [said("my", 20)], Value.ANSWER),
        (said("I", 22), [said("my", 20)], Value.NEXT_TURN),
        (said("I", 25), [said("my", 20)], Value.TURN_AFTER),
        (said("I", 60), [said("my", 20)], Value.LATER_TURN),
        (said("you", 20), [said("I", 20)], Value.SAME_TURN_OTHER),
        (said("you", 23), [said("I", 20)], Value.ANSWER_OTHER),
        (said("I", 23), [said("I", 18), said("you", 20)], Value.ANSWER_OTHER),  # who was addressed answers
        (said("I", 23), [said("you", 18), said("I", 20)], Value.ANSWER),
        (said("I", 20), [said("I")], Value.OTHER_VOICE),
        (said("I"), [said("I", 20)], Value.OTHER_VOICE),
        (said("I", ANNA), [said("my", ANNA)], Value.SAME_SPEAKER),
        (said("I", ANNA), [said("my", BEN)], Value.OTHER_SPEAKER),
        (said("I", ANNA), [said("you", ANNA)], Value.SAME_SPEAKER_OTHER),
        (said("I", ANNA), [said("you", BEN)], Value.OTHER_SPEAKER_OTHER),
        (said("you", BEN), [said("I", ANNA), said("you", BEN)], Value.OTHER_SPEAKER_OTHER),
        (said("I", ANNA), [said("I", 20)], Value.OTHER_VOICE),
    ],
)
def test_voices(span: Mention, entity: list[Mention], expected: int) -> None:
    assert value(span, *entity) == expected


WORDS = (
    "I you my your thee he him his she her it they we Anna Anna's Berta Doyle Mr. Mrs. Captain the The old young girl "
    "ship of Norway and Bank St. 's ’ , Lord Lady X van & -in-law This Someone Here"
).split()
mentions = st.tuples(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(tuple),
    st.sampled_from([NARRATOR, ANNA, BEN, *range(2, 14)]),
)


@given(mentions, st.lists(mentions, min_size=1, max_size=12))
@settings(max_examples=500)
def test_equals_the_literal_version(span: Mention, earlier: list[Mention]) -> None:
    voices = [voice for _, voice in earlier if voice > NARRATOR]
    if span[1] > NARRATOR:  # turns come in order
        span = span[0], max([span[1], *voices])
    assert value(span, *earlier) == literal_agreement(span, earlier)


@given(st.lists(mentions, min_size=1, max_size=8), st.integers(0, 2**32))
def test_many_at_once_equal_one_by_one(spans: list[Mention], seed: int) -> None:
    choose = random.Random(seed)
    groups = [choose.choices(spans, k=choose.randint(1, 4)) for _ in range(5)]
    entities, notes = pairs.entities_of(groups, AGREEMENT), pairs.notes_of(spans, AGREEMENT)
    one_by_one = np.array([[value(span, *group) for group in groups] for span in spans])
    assert (pairs.block(AGREEMENT, notes, entities) == one_by_one).all()
    own = entities.at(np.array([range(5)] * len(spans)))
    assert (pairs.block(AGREEMENT, notes, own) == one_by_one).all()
    for row, expected in enumerate(one_by_one):
        assert (np.broadcast_to(AGREEMENT.compare(notes.at(row), entities), (5,)) == expected).all()
    assert 0 <= one_by_one.min() <= one_by_one.max() < AGREEMENT.buckets


def test_an_entity_remembers_a_fixed_number_of_names() -> None:
    mentions = [said(f"Name{number}") for number in range(50)]
    assert value(said("Name49"), *mentions) == Value.SAME_NAME
    assert value(said("Name44"), *mentions) == Value.SAME_NAME
    assert value(said("Name43"), *mentions) == Value.OTHER_NAME
    more = pairs.build("agreement", names=10)
    assert pairs.value(more, said("Name40"), *mentions) == Value.SAME_NAME
    assert pairs.value(more, said("Name39"), *mentions) == Value.OTHER_NAME
