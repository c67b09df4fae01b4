"""Who says a word: narrator, turns in quotation marks, speakers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.model.voices import NARRATOR, Voices


def read(text: str) -> list[tuple[str, int]]:
    words = text.split()
    return list(zip(words, Voices().read(words, [""] * len(words)), strict=True))


def voice_of(text: str, word: str) -> int:
    return dict(read(text))[word]


@pytest.mark.parametrize(("opening", "closing"), [('"', '"'), ("“", "”"), ("‘", "’"), ("``", "''"), ("«", "»")])
def test_words_in_quotation_marks_are_a_turn(opening: str, closing: str) -> None:
    text = f"He said : {opening} Come in {closing} and left . {opening} Why {closing}"
    assert voice_of(text, "said") == voice_of(text, "left") == NARRATOR
    assert voice_of(text, "Come") == voice_of(text, "in") == 2
    assert voice_of(text, "Why") == 4


def test_an_answer_follows_without_a_word_between() -> None:
    assert voice_of("“ Yes . ” “ No . ”", "No") == 5
    assert voice_of("“ Yes . ” He left . “ No . ”", "No") == 4


def test_a_turn_goes_on_after_an_aside() -> None:
    assert voice_of("“ Yes , ” he said , “ why ? ”", "why") == voice_of("“ Yes , ” he said , “ why ? ”", "Yes")
    long = "he said " * 10
    assert voice_of(f"“ Yes , ” {long} , “ why ? ”", "why") == 4


def test_a_paragraph_may_open_again_what_is_open() -> None:
    assert voice_of("“ One . “ Two . ” Three", "Two") == 2
    assert voice_of("“ One . “ Two . ” Three", "Three") == NARRATOR


def test_a_missing_mark_is_forgotten_after_a_while() -> None:
    text = '" lost ' + "word " * 500 + 'later " found "'
    assert voice_of(text, "lost") == 2
    assert voice_of(text, "later") == NARRATOR
    assert voice_of(text, "found") == 4


def test_speakers_are_negative_and_always_the_same() -> None:
    voices = Voices().read(["I", '"', "me", "so"], ["Anna", "Anna", "Ben", ""])
    assert voices[0] == voices[1] == Voices().read(["x"], ["Anna"])[0] < 0
    assert voices[2] not in voices[:2]
    assert voices[3] == NARRATOR  # the mark that a speaker left open is closed


texts = st.lists(st.tuples(st.sampled_from('a b , . “ ” " ‘ ’'.split()), st.sampled_from(["", "", "", "Anna"])))


@given(texts, st.data())
def test_reading_in_parts_and_from_saved_values_changes_nothing(
    text: list[tuple[str, str]], data: st.DataObject
) -> None:
    words, speakers = [word for word, _ in text], [speaker for _, speaker in text]
    cut = data.draw(st.integers(0, len(text)))
    whole = Voices().read(words, speakers)
    first = Voices()
    parts = first.read(words[:cut], speakers[:cut])
    parts += Voices.from_values(first.to_values()).read(words[cut:], speakers[cut:])
    assert parts == whole
