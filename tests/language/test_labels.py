"""Which mention names an entity."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.language.labels import clean_name, is_pronoun, readable_name


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
        (["Mr.", "Mr.", "he", "the stranger"], "the stranger"),
        (["Mr.", "he", "him", "he"], "he"),
        (["my dear", "my dear", "Jane"], "Jane"),
        (["my dear", "my dear", "she", "she", "her", "she"], "she"),
        (["the Captain", "he", "he"], "the Captain"),
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


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        # How somebody is seen is no name, unless everybody calls them so.
        ([*["Poor Alice"] * 3, *["Alice"] * 34], "Alice"),
        (["Poor Alice", "Alice"], "Alice"),
        (["Poor Alice", "she"], "Poor Alice"),
        ([*["Little Dorrit"] * 30, *["Dorrit"] * 4], "Little Dorrit"),
        ([*["Dear Jane"] * 2, *["Jane Fairfax"] * 2, *["Jane"] * 9], "Jane Fairfax"),
        # Nor is where they are from.
        (["Tom Okafor of Baring Street", "Tom Okafor"], "Tom Okafor"),
        ([*["Tom Okafor"] * 3, *["Tom"] * 9, "Tom Okafor of Baring Street"], "Tom Okafor"),
        (["Tom Okafor of Baring Street", "he"], "Tom Okafor of Baring Street"),
        (["Joan of Arc", *["Joan"] * 6], "Joan of Arc"),
        (["the Bank of England", *["the Bank"] * 4], "the Bank of England"),
        # Titles belong to a name.
        ([*["Mr. Darcy"] * 20, *["Darcy"] * 15], "Mr. Darcy"),
        (["Dr. Watson", *["Watson"] * 8], "Dr. Watson"),
        # Forms of one name weigh together.
        ([*["Darcy"] * 5, *["Mr. Darcy"] * 6, *["Wickham"] * 8], "Mr. Darcy"),
        ([*["Captain"] * 5, *["Captain Peleg"] * 4, *["Ahab"] * 6, *["Captain Ahab"] * 3], "Captain Ahab"),
        # A name that is hardly ever said is not shown for one that always is.
        ([*["Elizabeth Bennet"] * 2, *["Elizabeth"] * 500], "Elizabeth"),
        ([*["ALICE"], *["Alice"] * 3], "Alice"),
    ],
)
def test_the_name_that_weighs_most(mentions: list[str], expected: str) -> None:
    assert best(*mentions) == expected
    assert best(*reversed(mentions)) == expected


@pytest.mark.parametrize(
    ("mentions", "expected"),
    [
        ([*["Uriah Heep"] * 22, *["I"] * 4000, *["my"] * 1338], "I"),
        ([*["the boy"] * 22, *["I"] * 4000, *["my"] * 1338], "I"),
        ([*["David"] * 60, *["I"] * 4000, *["my"] * 1338], "David"),
        (["David", *["I"] * 60], "David"),
        (["Anna", *["she"] * 600], "Anna"),  # "she" would tell a reader nothing
        (["Anna", *["she"] * 600, *["I"] * 300], "Anna"),
        (["Anna", *["we"] * 300, *["our"] * 200], "we"),
    ],
)
def test_a_narrator_needs_more_than_a_stray_name(mentions: list[str], expected: str) -> None:
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
