"""A name kept up while mentions pass by: the one that all mentions together would give."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from streamcoref.language.labels import clean_name, readable_name
from streamcoref.language.running_name import FORMS, RunningName

phrases = st.sampled_from(
    [
        *[
            "Anna",
            "Anna Berg",
            "anna",
            "she",
            "her",
            "the old captain",
            "the captain",
            "Anna 's",
            "The Captain",
            "the one",
        ],
        *["Poor Anna", "Miss Anna Berg", "Anna Berg of Baring Street", "I", "my", "you", "ANNA"],
    ]
)
seen = st.lists(st.tuples(phrases, st.booleans()), min_size=1, max_size=40)


def named(mentions: list[tuple[str, bool]]) -> str:
    running = RunningName()
    for text, opens in mentions:
        running.add(text.split(), opens, text)
    return RunningName.from_values(running.to_values()).name()


@given(seen)
def test_it_is_the_readable_name(mentions: list[tuple[str, bool]]) -> None:
    best = readable_name([(text.split(), opens) for text, opens in mentions])
    assert named(mentions) == clean_name(mentions[best][0])


def test_forms_are_bounded_and_a_name_is_kept_longest() -> None:
    running = RunningName()
    running.add(["Anna"], False, "Anna")
    for number in range(1000):
        running.add(["the", f"captain{number}"], False, f"the captain{number}")
        running.add(["she"], False, "she")
        assert len(running.forms) <= FORMS
    assert running.name() == "Anna"


def test_large_counts_keep_their_order() -> None:
    assert named([("Anna", False)] * 5000 + [("Carl", False)] * 5001) == "Carl"


def test_a_narrator_stays_one_however_many_names_pass_by() -> None:
    """Forms of "I" are not given up for names, which come and go."""
    running = RunningName()
    for number in range(3000):
        running.add(["I"], number % 2 == 0, "I")
        if number % 20 == 0:
            running.add([f"Anna{number}"], False, f"Anna{number}")
        assert len(running.forms) <= FORMS
    assert running.name() == "I"
    assert named([("Uriah Heep", False)] * 22 + [("I", False)] * 5338) == "I"
