"""Names and genders by counts, voices, and who is said to speak."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.model.features.agreement import SpanKind
from streamcoref.model.features.likeness import Likeness
from streamcoref.model.notes import Notes
from streamcoref.model.turns import NOBODY
from tests.model.features import pairs
from tests.model.features.pairs import said

IDENTITY = pairs.build("identity")


def value(span: str, *entity: str) -> int:
    return pairs.value(IDENTITY, said(span), *map(said, entity))


@pytest.mark.parametrize(
    ("span", "entity", "expected"),
    [
        ("Lindqvist", ["the girl", "she"], Likeness.NAMELESS),
        ("Anna", ["the stranger"], Likeness.NAMELESS),
        ("Anna", ["the girl", "she"], Likeness.NAMELESS_AGREES),
        ("Anna", ["the stranger", "him"], Likeness.NAMELESS_CLASHES),
        ("Anna Weber", ["Anna Weber", "she"], Likeness.SAME_NAME),
        ("Mr. Weber", ["Mr. Weber", "Mr. Weber"], Likeness.SAME_NAME),
        ("Weber", ["Mr. Weber"], Likeness.SAME_NAME),
        ("Anna", ["Anna Weber"], Likeness.PART_OF_NAME),
        ("Anna Weber", ["Anna"], Likeness.PART_OF_NAME),
        ("Miss Weber", ["Anna Weber"], Likeness.TITLE_AND_SURNAME),
        ("Jonas Weber", ["Anna Weber"], Likeness.OF_THE_FAMILY),
        ("Mrs. Weber", ["Mr. Weber"], Likeness.OTHER_TITLE),
        ("Clara", ["Anna Weber"], Likeness.OTHER_NAME),
        ("the old captain", ["Anna Weber"], Likeness.NOTHING),
        ("the old woman", ["the stranger"], Likeness.NOUN_UNGENDERED),
        ("the old woman", ["Anna Weber"], Likeness.NOUN_AGREES),
        ("the wife of the captain", ["he", "he", "she"], Likeness.NOUN_AT_TIMES),
        ("the old woman", ["Mr. Weber"], Likeness.NOUN_CLASHES),
        ("she", ["the stranger"], Likeness.UNGENDERED),
        ("she", ["Lindqvist"], Likeness.UNGENDERED_NAME),
        ("she", ["Anna"], Likeness.SAME_GENDER),
        ("he", ["I", "my", "he"], Likeness.NARRATES),
        ("he", ["I", "he", "he"], Likeness.SAME_GENDER_NAMELESS),
        ("she", ["Anna", "her"], Likeness.SAME_GENDER),
        ("she", ["the girl", "her"], Likeness.SAME_GENDER_NAMELESS),
        ("he", ["Mrs. Weber"], Likeness.OTHER_GENDER),
        ("you", ["the girl"], Likeness.SILENT),
        ("you", ["Anna"], Likeness.SILENT_NAMED),
        ("me", ["my"], Likeness.SAME_NARRATION),
        ("you", ["I"], Likeness.OTHER_VOICE),
    ],
)
def test_words(span: str, entity: list[str], expected: int) -> None:
    assert value(span, *entity) == expected


def test_a_minority_is_outvoted() -> None:
    anna = ["Anna Weber"] * 6
    assert value("Clara", *anna, "Clara") == Likeness.SAME_AT_TIMES
    assert value("Anna Weber", *anna, "Clara") == Likeness.SAME_NAME
    assert value("he", *anna, *["she"] * 5, "he") == Likeness.GENDER_AT_TIMES
    assert value("she", *anna, *["she"] * 5, "he") == Likeness.SAME_GENDER
    assert value("Mrs. Weber", *["Mr. Weber"] * 6, "Mrs. Weber") == Likeness.OTHER_TITLE


def test_so_many_names_are_kept_and_the_rarest_is_forgotten() -> None:
    names = [f"Name{letter}" for letter in "abcdefgh"]  # as many as it keeps
    assert value("Nameb", *names, *names, "Other", "Other") == Likeness.SAME_AT_TIMES
    assert value("Other", *names, *names, "Other", "Other") == Likeness.SAME_AT_TIMES
    assert value("Namea", *names, *names, "Other", "Other") == Likeness.OTHER_NAME


@pytest.mark.parametrize(
    ("span", "entity", "before", "expected"),
    [
        ("Clara", ["Anna"] * 8 + ["Clara"], Likeness.SAME_AT_TIMES, Likeness.OTHER_NAME),
        ("Clara", ["Clara Berg", *["Anna"] * 8], Likeness.PART_AT_TIMES, Likeness.OTHER_NAME),
        ("Miss Weber", ["Clara Weber", *["Anna"] * 4], Likeness.TITLE_AND_SURNAME, Likeness.OTHER_NAME),
        ("Jonas Weber", ["Clara Weber", *["Anna"] * 4], Likeness.OF_THE_FAMILY, Likeness.OTHER_NAME),
        ("Jonas", ["Jonas", *["Anna"] * 3, *["she"] * 5], Likeness.SAME_AT_TIMES, Likeness.OTHER_NAME),
        ("Mrs. Weber", ["Miss Weber"], Likeness.SAME_NAME, Likeness.OTHER_TITLE),
        ("Captain Weber", ["General Weber"], Likeness.SAME_NAME, Likeness.OTHER_TITLE),
        ("Weber", ["Mrs. Weber"], Likeness.SAME_NAME, Likeness.OTHER_TITLE),
    ],
)
def test_what_version_4_of_the_words_tells_apart(span: str, entity: list[str], before: int, expected: int) -> None:
    """Mistakes fade, and titles say more than a gender."""
    old = pairs.build("identity", words=3)
    assert pairs.value(old, said(span), *map(said, entity)) == before
    assert value(span, *entity) == expected


@pytest.mark.parametrize(
    ("entity", "turn", "before", "expected"),
    [
        ("I", 5, Likeness.LATER_TURN, Likeness.LATER_TURN),
        ("I", 6, Likeness.LATER_TURN, Likeness.NEITHER_PERHAPS),  # somebody else whom nobody has named
        ("Anna", 6, Likeness.LATER_TURN, Likeness.LATER_TURN),
    ],
)
def test_who_has_no_name_is_told_apart_by_conversations(entity: str, turn: int, before: int, expected: int) -> None:
    """From version 4 of the words on; an I that was said in the first turn, and one that is said in a later one."""
    for words, value_ in ((3, before), (4, expected)):
        feature = pairs.build("identity", words=words)
        mentions = [said("I", 2), *([said(entity)] if entity != "I" else [])]
        assert pairs.value(feature, said("I", 2 * turn), *mentions) == value_


@pytest.mark.parametrize(
    ("span", "entity", "before", "expected"),
    [
        ("I", ["Anna", "she"], Likeness.SILENT_NAMED, Likeness.NARRATES),
        ("I", ["the girl"], Likeness.SILENT, Likeness.NARRATES),
        ("me", ["I", "my", "Anna"], Likeness.SAME_NARRATION, Likeness.SAME_NARRATION),
        ("me", ["I", "Anna", "she"], Likeness.SAME_NARRATION, Likeness.NARRATES),  # it was not she who said I
        ("Anna", ["I", "my"], Likeness.NAMELESS, Likeness.NARRATES),
        ("Anna", ["I", "my", "I", "Anna"], Likeness.SAME_NAME, Likeness.SAME_NAME),
        ("the old captain", ["I", "my"], Likeness.NOTHING, Likeness.NARRATES),
        ("Anna s", ["Anna"], Likeness.NOTHING, Likeness.SAME_NAME),  # a text that has lost its apostrophes
    ],
)
def test_what_version_5_of_the_words_tells_apart(span: str, entity: list[str], before: int, expected: int) -> None:
    """Who narrates is nobody who is told of."""
    old = pairs.build("identity", words=4)
    assert pairs.value(old, said(span), *map(said, entity)) == before
    assert value(span, *entity) == expected


@pytest.mark.parametrize(
    ("span", "entity", "before", "expected"),
    [
        ("the Duchess", ["the Duchess", "she"], Likeness.NOUN_AGREES, Likeness.SAME_NAME),
        ("the Duchess", ["the Queen", "she"], Likeness.NOUN_AGREES, Likeness.OTHER_NAME),
        ("Captain", ["the Captain"], Likeness.NOTHING, Likeness.SAME_NAME),
        ("Mrs. Weber", ["Miss Weber", *["Anna"] * 4], Likeness.OTHER_NAME, Likeness.OTHER_TITLE),
        ("Mrs. Weber", ["Miss Weber", "Mrs. Weber", "Anna"], Likeness.SAME_NAME, Likeness.SAME_NAME),
        ("Weber", ["Miss Weber"], Likeness.SAME_NAME, Likeness.OTHER_TITLE),
        ("Anna", ["Miss Anna"], Likeness.SAME_NAME, Likeness.SAME_NAME),  # a given name may do without
        ("Miss Weber", ["Weber", "he"], Likeness.SAME_NAME, Likeness.OTHER_TITLE),
        ("Miss Weber", ["Weber", "she"], Likeness.SAME_NAME, Likeness.SAME_NAME),
        ("Dr. Miss Weber", ["Weber", "she"], Likeness.SAME_NAME, Likeness.OTHER_TITLE),  # its first title tells nothing
    ],
)
def test_what_version_6_of_the_words_tells_apart(span: str, entity: list[str], before: int, expected: int) -> None:
    """A title alone is a name, and who is often called by another title is somebody else."""
    old = pairs.build("identity", words=5)
    assert pairs.value(old, said(span), *map(said, entity)) == before
    assert value(span, *entity) == expected


def test_in_a_quotation_anybody_may_be_called_by_a_title() -> None:
    assert pairs.value(IDENTITY, said("Captain", 4), said("the Captain")) == Likeness.NOTHING
    assert pairs.value(IDENTITY, said("the Captain", 4), said("the Captain")) == Likeness.SAME_NAME


def test_in_a_quotation_somebody_may_name_who_narrates() -> None:
    told = [said("I"), said("my")]
    assert pairs.value(IDENTITY, said("Anna", 4), *told) == Likeness.NAMELESS
    assert pairs.value(IDENTITY, said("she", 4), *told) == Likeness.UNGENDERED
    assert pairs.value(IDENTITY, said("I"), said("Anna", 4), said("her", 4)) == Likeness.SILENT_NAMED


def _spans(words: str) -> Notes:
    return pairs.notes_of([said(words, 4)], IDENTITY)  # voice 4: the second turn


@pytest.mark.parametrize(
    ("meant", "reverse", "sure", "expected"),
    [
        (0, 1, 2, [Likeness.MEANT, Likeness.REVERSED, Likeness.NEITHER]),
        (0, 1, 1, [Likeness.MEANT_PROBABLY, Likeness.REVERSED, Likeness.NEITHER_PROBABLY]),
        (2, NOBODY, 0, [Likeness.NEITHER_PERHAPS, Likeness.NEITHER_PERHAPS, Likeness.MEANT_PERHAPS]),
        (NOBODY, 1, 0, [Likeness.SILENT_NAMED, Likeness.REVERSED, Likeness.SILENT_NAMED]),
        (NOBODY, NOBODY, 0, [Likeness.SILENT_NAMED, Likeness.SILENT_NAMED, Likeness.SILENT_NAMED]),
    ],
)
def test_who_speaks_is_who_is_meant(meant: int, reverse: int, sure: int, expected: list[int]) -> None:
    spans = _spans("I")
    assert spans["kind"][0] == SpanKind.QUOTED_I
    spans["meant"][0], spans["reversed"][0], spans["sure"][0] = meant, reverse, sure
    entities = pairs.entities_of([[said("Anna")], [said("Ben")], [said("Clara")]], IDENTITY)
    entities["id"][:] = [0, 1, 2]
    assert np.asarray(IDENTITY.compare(spans.at(0), entities)).tolist() == expected


def test_only_the_i_and_you_of_quotations_wait() -> None:
    spans = pairs.spans_of([said("I", 4), said("you", 1), said("Anna", 4), said("you", 4), said("he", 4)])
    assert IDENTITY.waits(spans) == [True, False, False, True, False]


def test_two_entities_become_one() -> None:
    entities = pairs.entities_of(
        [[said("Anna Weber"), said("she"), said("I")], [said("Anna"), said("Anna"), said("she")]], IDENTITY
    )
    IDENTITY.merge(entities, 0, 1)
    together = pairs.entities_of(
        [[said("Anna Weber"), said("she"), said("I"), said("Anna"), said("Anna"), said("she")]], IDENTITY
    )
    for name in IDENTITY.entity_columns.names or ():
        assert entities[name][0].tolist() == together[name][0].tolist(), name


mentions = st.sampled_from(
    "Anna Weber,Jonas Weber,Anna,Weber,Mr. Weber,Mrs. Weber,Miss Weber,Dr. Miss Weber,Ben,the Duchess,"
    "he,she,they,I,you,a cat,the girl".split(",")
)


@given(st.lists(mentions, min_size=1, max_size=6), st.lists(st.lists(mentions, min_size=1), min_size=1, max_size=4))
def test_one_at_a_time_or_all_at_once(span_texts: list[str], groups: list[list[str]]) -> None:
    spans = pairs.notes_of([said(text) for text in span_texts], IDENTITY)
    entities = pairs.entities_of([[said(text) for text in group] for group in groups], IDENTITY)
    single = [np.broadcast_to(IDENTITY.compare(spans.at(m), entities), len(groups)) for m in range(len(spans))]
    assert pairs.block(IDENTITY, spans, entities).tolist() == np.array(single).tolist()
    assert IDENTITY.is_sound(entities)
    entities["called"][0, 0] = -1
    assert not IDENTITY.is_sound(entities)
