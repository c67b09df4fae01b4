"""Which mention names an entity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.naming import clean_name, is_pronoun, readable_name


def best(*mentions: str) -> str:
    """The chosen mention; one that begins with ^ opens a sentence."""
    given_mentions = [(mention.lstrip("^").split(), mention.startswith("^")) for mention in mentions]
    return " ".join(given_mentions[readable_name(given_mentions)][0])


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        (["she", "her", "the captain", "Ingrid Vale", "she"], "Ingrid Vale"),
        (["he", "a tall man", "his"], "a tall man"),
        (["he", "him"], "he"),
        (["the house that my brother built by the sea", "the house"], "the house"),
        (["a house", "the house", "the house"], "the house"),
        (["the one on the Marigold", "it", "the brass bell"], "the brass bell"),
        (["the pier at Oster", "the dock"], "the pier at Oster"),
        (["someone in a coat", "the woman"], "the woman"),
        (["Elizabeth 's", "she", "Elizabeth"], "Elizabeth"),
        (["Elizabeth ’s", "she"], "Elizabeth ’s"),
        (["the Bank of England", "the bank", "the bank"], "the Bank of England"),
        (["Ludwig van Beethoven", "the composer", "the composer"], "Ludwig van Beethoven"),
        (["Ingrid and her son", "they", "the two"], "Ingrid and her son"),
        (["the", "it"], "the"),
    ],
)
def test_kind_of_mention(mentions: list[str], expected: str) -> None:
    assert best(*mentions) == expected


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        (["Elizabeth Bennet", *["Elizabeth"] * 10], "Elizabeth Bennet"),
        (["Elizabeth Bennet", *["Elizabeth"] * 11], "Elizabeth"),
        ([*["Elizabeth Bennet"] * 2, *["Elizabeth"] * 50], "Elizabeth Bennet"),
        (["Miss Elizabeth Bennet", *["Elizabeth Bennet"] * 2, *["Elizabeth"] * 50], "Elizabeth Bennet"),
        (["Charles Bingley", *["Elizabeth"] * 3], "Elizabeth"),
        ([*["Mr. Darcy"] * 3, "Darcy"], "Mr. Darcy"),
        ([*["Elizabeth Bennet 's"] * 2, "Elizabeth Bennet", *["Elizabeth"] * 15], "Elizabeth Bennet"),
    ],
)
def test_fuller_names(mentions: list[str], expected: str) -> None:
    assert best(*mentions) == expected


def test_a_capital_at_the_beginning_of_a_sentence_is_no_name() -> None:
    assert best("^Doctors", "the doctors", "they") == "the doctors"
    assert best("^Ann", "she", "Ann") == "Ann"
    assert best("^The doctors", "the doctors") == "the doctors"
    assert best("^The Vales", "we") == "The Vales"


def test_pronouns() -> None:
    assert is_pronoun(["She"])
    assert is_pronoun(["himself"])
    assert not is_pronoun(["the", "man"])


@given(st.lists(st.tuples(st.lists(st.text(), min_size=1), st.booleans()), min_size=1))
def test_any_entity_has_a_name(mentions: list[tuple[list[str], bool]]) -> None:
    assert 0 <= readable_name(mentions) < len(mentions)


def test_a_label_is_one_line_without_a_possessive_ending() -> None:
    assert clean_name("Lena\n  Marsh") == "Lena Marsh"
    assert clean_name("Anna’s") == "Anna"
    assert clean_name("Anna 's") == "Anna"
    assert clean_name("'s") == "'s"
