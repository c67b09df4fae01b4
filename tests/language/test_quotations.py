"""Quotations and turns: by example, in parts, and however long a text is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.language import LATEST, Quotations, lexicon
from tests.language.texts import tracked, words_of

ENGLISH = lexicon(LATEST)


def turns(text: str) -> list[str]:
    """The words of each turn, with marks, joined by blanks."""
    words = words_of(text)
    said: dict[int, list[str]] = {}
    for word, turn in zip(words, Quotations(ENGLISH).read(words), strict=True):
        if turn:
            said.setdefault(turn, []).append(word.text)
    assert list(said) == list(range(1, len(said) + 1))
    return [" ".join(one) for one in said.values()]


@pytest.mark.parametrize(
    ("opening", "closing"), [('"', '"'), ("“", "”"), ("«", "»"), ("„", "“"), ("‘", "’"), ("'", "'")]
)
def test_marks(opening: str, closing: str) -> None:
    said = [f"{opening}{words}{closing}" for words in ("Good day,", "Come in.", "No.")]
    text = f"He came.\n\n{said[0]} he said. {said[1]}\n\n{said[2]} She left."
    assert turns(text) == [f"{opening} Good day , {closing} {opening} Come in . {closing}", f"{opening} No . {closing}"]


def test_a_paragraph_is_one_turn_whatever_stands_between() -> None:
    text = "“One,” she said, and sat down. A clock struck. “Two.”\n\nThey waited.\n\n“Three.”"
    assert turns(text) == ["“ One , ” “ Two . ”", "“ Three . ”"]


def test_a_quotation_over_paragraphs_is_opened_anew() -> None:
    text = "Anna spoke.\n\n“It was dark.\n\n“It was cold.\n\n“I went home.”\n\n“Did you?”"
    assert turns(text) == ["“ It was dark . “ It was cold . “ I went home . ”", "“ Did you ? ”"]


def test_a_missing_mark_ends_with_its_paragraph() -> None:
    assert turns("It rained.\n\n“I forgot to close this.\n\nAnd now he walked on.\n\n“Yes.”") == [
        "“ I forgot to close this .",
        "“ Yes . ”",
    ]


def test_apostrophes_close_nothing() -> None:
    assert turns("He sat.\n\n‘The girls’ books aren’t here,’ he said.") == ["‘ The girls ’ books are n’t here , ’"]
    assert turns("'Tis the boys' day.\n\nThe dogs' tails wagged.") == []


def test_marks_inside_of_marks() -> None:
    assert turns("So.\n\n“He said ‘no’ and ‘never’.” She wept.") == ["“ He said ‘ no ’ and ‘ never ’ . ”"]


def test_dashes_open_lines_where_no_marks_are_used() -> None:
    assert turns("They met.\n\n— Who is it?\n\n— A friend.\n\nHe opened.") == ["— Who is it ?", "— A friend ."]
    assert turns("He said “no”.\n\n— It was late.") == ["“ no ”"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("“ No , ” said he , “ never . ”", 1),
        ("“ No ! ” cried he . “ Never ! ”", 1),
        ("“ No ! ” Anna cried . “ Never ! ”", 1),
        ("“ No ? ” “ Never ! ”", 2),
        ("“ No . ” Anna went to the window . “ Never ! ”", 2),
        ("“ No , ” said he , and went away over the long road to the town where they lived . “ Never ! ”", 2),
    ],
)
def test_words_without_paragraphs(words: str, expected: int) -> None:
    """A short aside about who speaks ends no turn."""
    assert max(Quotations(ENGLISH).read(tracked(words.split()))) == expected


def test_without_paragraphs_a_missing_mark_is_forgotten() -> None:
    tracker = Quotations(ENGLISH)
    read = tracker.read(tracked(["“", *["word"] * 1000]))
    assert read[ENGLISH.longest_quotation] == 1
    assert read[-1] == 0


def test_words_of_a_named_speaker_are_nobodys_quotation() -> None:
    words = tracked(["“", "I", "”", "so"], ["Anna", "Anna", "Anna", ""])
    assert Quotations(ENGLISH).read(words) == [0, 0, 0, 0]


@given(st.lists(st.sampled_from(["“", "”", '"', "‘", "’", "'", "—", "said", "Anna", ",", ".", "\n\n"])), st.data())
def test_reading_in_parts_and_from_saved_values_changes_nothing(parts: list[str], data: st.DataObject) -> None:
    words = words_of(" ".join(parts))
    whole = Quotations(ENGLISH).read(words)
    cut = data.draw(st.integers(0, len(words)))
    first, second = Quotations(ENGLISH), Quotations(ENGLISH)
    read = first.read(words[:cut])
    second.restore(json.loads(json.dumps(first.to_values())))
    assert read + second.read(words[cut:]) == whole


@pytest.mark.parametrize("place", range(9))
def test_values_that_it_cannot_have(place: int) -> None:
    values = Quotations(ENGLISH).to_values()
    values[place] = -1
    with pytest.raises(ValueError):  # noqa: PT011
        Quotations(ENGLISH).restore(values)
