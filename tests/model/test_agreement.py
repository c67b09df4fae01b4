"""Agreement of names, genders and voices: by example, and against a literal version on strings."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.model import agreement as a
from streamcoref.model.agreement import agreement, entity_traits, note_traits, span_traits
from streamcoref.model.voices import NARRATOR
from tests.model.literal_agreement import Mention, literal_agreement

ANNA, BEN = -11, -12  # speakers


def said(text: str, voice: int = NARRATOR) -> Mention:
    return tuple(text.split()), voice


def traits(mention: Mention) -> np.ndarray:
    return np.array(span_traits(*mention))


def entity_of(*mentions: Mention) -> np.ndarray:
    entity = np.zeros(a.ENTITY_TRAITS, dtype=np.int64)
    for mention in mentions:
        note_traits(entity, traits(mention))
    return entity


def value(mention: Mention, *earlier: Mention) -> int:
    return int(agreement(traits(mention), entity_of(*earlier)[None])[0])


@pytest.mark.parametrize(
    ("span", "entity", "expected"),
    [
        ("Lucy", ["the girl", "she"], a.NAMELESS),
        ("Lucy", ["Lucy Brandt"], a.SAME_NAME),
        ("Lucy Brandt 's", ["Lucy"], a.SAME_NAME),
        ("Mrs. Oakley", ["Margaret Oakley"], a.SAME_NAME),
        ("Brandt", ["Helen Brandt"], a.SAME_NAME),
        ("Peter Brandt", ["Helen Brandt"], a.SHARED_NAME),
        ("Peter", ["Helen Brandt"], a.OTHER_NAME),
        ("the Lynx", ["The Lynx"], a.SAME_NAME),
        ("Bank of Norway", ["Norway"], a.SAME_NAME),
        ("Jonas", ["my brother Jonas"], a.SAME_NAME),
        ("old Mr. Turner", ["Helen"], a.OTHER_NAME),
        ("the mayor of Oslo", ["Oslo"], a.NOTHING),
        ("the old captain", ["Helen Brandt"], a.NOTHING),
        ("the Captain", ["Helen Brandt"], a.NOTHING),  # a title alone is no name
        ("him", ["Samuel"], a.UNGENDERED),
        ("him", ["Samuel", "he"], a.SAME_GENDER),
        ("him", ["Mr. Samuel"], a.SAME_GENDER),
        ("him", ["Elena", "her"], a.OTHER_GENDER),
        ("she", ["Mr. Samuel"], a.OTHER_GENDER),
        ("them", ["we"], a.OTHER_GENDER),
        ("I", ["the girl"], a.SILENT),
        ("me", ["my"], a.SAME_NARRATION),
        ("you", ["I"], a.OTHER_VOICE),
    ],
)
def test_words(span: str, entity: list[str], expected: int) -> None:
    assert value(said(span), *map(said, entity)) == expected


@pytest.mark.parametrize(
    ("span", "entity", "expected"),
    [
        # turns 10, 11 (its answer), 12 and so on: voices are twice the turn, odd for an answer
        (said("I", 20), [said("my", 20)], a.TURN),
        (said("I", 23), [said("my", 20)], a.TURN + 1),
        (said("I", 22), [said("my", 20)], a.TURN + 2),
        (said("I", 25), [said("my", 20)], a.TURN + 3),
        (said("I", 60), [said("my", 20)], a.TURN + 4),
        (said("you", 20), [said("I", 20)], a.TURN + 5),
        (said("you", 23), [said("I", 20)], a.TURN + 6),
        (said("I", 23), [said("I", 18), said("you", 20)], a.TURN + 6),  # who was addressed answers
        (said("I", 23), [said("you", 18), said("I", 20)], a.TURN + 1),
        (said("I", 20), [said("I")], a.OTHER_VOICE),
        (said("I"), [said("I", 20)], a.OTHER_VOICE),
        (said("I", ANNA), [said("my", ANNA)], a.SPEAKER),
        (said("I", ANNA), [said("my", BEN)], a.SPEAKER + 1),
        (said("I", ANNA), [said("you", ANNA)], a.SPEAKER + 2),
        (said("I", ANNA), [said("you", BEN)], a.SPEAKER + 3),
        (said("you", BEN), [said("I", ANNA), said("you", BEN)], a.SPEAKER + 3),
        (said("I", ANNA), [said("I", 20)], a.OTHER_VOICE),
    ],
)
def test_voices(span: Mention, entity: list[Mention], expected: int) -> None:
    assert value(span, *entity) == expected


WORDS = (
    "I you my your thee he him his she her it they we Anna Anna's Berta Doyle Mr. Mrs. Captain the The old young girl "
    "ship of Norway and Bank St. 's ’ , Lord Lady X"
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
    entities = np.stack([entity_of(*choose.choices(spans, k=choose.randint(1, 4))) for _ in range(5)])
    block = np.stack([traits(span) for span in spans])
    one_by_one = np.stack([agreement(row, entities) for row in block])
    assert (agreement(block, entities) == one_by_one).all()
    assert (agreement(block, np.stack([entities] * len(spans))) == one_by_one).all()
    assert one_by_one.min() >= 0
    assert one_by_one.max() < a.VALUES
    alone = entity_traits(block)
    assert [row.tolist() for row in alone] == [entity_of(span).tolist() for span in spans]


def test_an_entity_remembers_a_fixed_number_of_names() -> None:
    entity = entity_of(*(said(f"Name{number}") for number in range(50)))
    assert agreement(traits(said("Name49")), entity[None]).tolist() == [a.SAME_NAME]
    assert agreement(traits(said("Name44")), entity[None]).tolist() == [a.SAME_NAME]
    assert agreement(traits(said("Name43")), entity[None]).tolist() == [a.OTHER_NAME]
