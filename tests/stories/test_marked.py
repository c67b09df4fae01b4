"""Marked texts are read with exact places, and a slip of the pen is found."""

from __future__ import annotations

import pytest

from tests.stories.marked import marked_document, parse


def test_places_of_nested_mentions() -> None:
    text, places = parse("[a Anna] lost [b [a her] hat].")
    assert text == "Anna lost her hat."
    assert {letter: [text[a:b] for a, b in spans] for letter, spans in places.items()} == {
        "a": ["Anna", "her"],
        "b": ["her hat"],
    }
    assert places["b"] == [(10, 17)]


@pytest.mark.parametrize(
    ("marked", "said"),
    [
        ("[a Anna ran.", "left open"),
        ("Anna] ran.", "closes that was not opened"),
        ("[Anna] ran.", "without the letter"),
        ("[ab Anna] ran.", "without the letter"),
    ],
)
def test_slips(marked: str, said: str) -> None:
    with pytest.raises(AssertionError, match=said):
        parse(marked)


def test_the_document_has_the_mentions_as_words() -> None:
    document = marked_document("d", "[a Anna's] hat: [a she] lost [b [a her] hat], and [b it]'s gone.")
    mentions = [[mention.text for mention in entity.mentions] for entity in document.entities]
    assert mentions == [["Anna's", "she", "her"], ["her hat", "it"]]


def test_a_mention_that_cuts_a_word() -> None:
    with pytest.raises(AssertionError, match=r"d: .*\['Ann'\]"):
        marked_document("d", "[a Ann]a lost [a her] hat.")
