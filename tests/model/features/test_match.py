"""Matches of strings: what counts as the same form, and how many forms an entity remembers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.model.features import pairs
from tests.model.features.pairs import said

EXACT, LAST = pairs.build("exact_match"), pairs.build("last_word_match")


def both(mention: str, *earlier: str) -> tuple[int, int]:
    given = said(mention), *map(said, earlier)
    return pairs.value(EXACT, *given), pairs.value(LAST, *given)


def test_case_and_the_genitive_are_ignored() -> None:
    for same in ("the captain", "The Captain 's", "the captain ’s", "THE CAPTAIN '"):
        assert both(same, "the captain") == both("the captain", same) == (1, 1)
    assert both("a captain", "the captain") == (0, 1)
    assert both("the captain", "the ship") == (0, 0)
    assert both("'S", "'s") == (1, 1)  # a mention that is nothing else keeps it
    assert both("the", "the captain") == (0, 0)


def test_an_entity_remembers_its_latest_forms() -> None:
    forms = [f"the form{number}" for number in range(30)]
    assert [both(form, *forms)[0] for form in forms] == [0] * 22 + [1] * 8
    assert [pairs.value(pairs.build("exact_match", forms=3), said(f), *map(said, forms)) for f in forms].count(1) == 3


@given(st.lists(st.text(st.characters(exclude_categories=["Z", "C"]), min_size=1), min_size=1, max_size=5))
def test_every_form_is_found_again_and_never_the_empty_place(words: list[str]) -> None:
    notes = pairs.notes_of([(tuple(words), 1)], EXACT, LAST)
    assert 0 < notes["form"][0] < 2**63
    assert pairs.value(EXACT, (tuple(words), 1), (tuple(words), 1)) == 1


def test_forms_are_the_same_numbers_in_every_process() -> None:
    """A saved state must find its forms again; Python's own hash of a string would change."""
    notes = pairs.notes_of([said("Anna"), (("\ud800",), 1), (("\ud801",), 1)], EXACT, LAST)
    assert notes["form"][0] == notes["last_word"][0] == 59702542876088033
    assert len(np.unique(notes["form"])) == 3
