"""Who says a word: narrator, turns in quotation marks, speakers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.language import LATEST, NARRATOR, Voices, lexicon
from streamcoref.language.voices import TurnVoices, answers, is_speaker, is_turn, speaker_voice, turn_of, turn_voice
from tests.language.texts import tracked, words_of

ENGLISH = lexicon(1)
FIRST, SECOND = turn_voice(1), turn_voice(2)


def read(text: str) -> list[tuple[str, int]]:
    words = text.split()
    return list(zip(words, Voices(ENGLISH).read(tracked(words)), strict=True))


def voice_of(text: str, word: str) -> int:
    return dict(read(text))[word]


@pytest.mark.parametrize(
    ("opening", "closing"), [('"', '"'), ("“", "”"), ("‘", "’"), ("``", "''"), ("«", "»"), ("„", "“")]
)
def test_words_in_quotation_marks_are_a_turn(opening: str, closing: str) -> None:
    text = f"He said : {opening} Come in {closing} and left . {opening} Why {closing}"
    assert voice_of(text, "said") == voice_of(text, "left") == NARRATOR
    assert voice_of(text, "Come") == voice_of(text, "in") == FIRST
    assert voice_of(text, "Why") == SECOND


def test_an_answer_follows_without_a_word_between() -> None:
    assert voice_of("“ Yes . ” “ No . ”", "No") == turn_voice(2, answers=1)
    assert voice_of("“ Yes . ” He left . “ No . ”", "No") == turn_voice(2)


def test_a_turn_goes_on_after_an_aside() -> None:
    assert voice_of("“ Yes , ” he said , “ why ? ”", "why") == FIRST
    assert voice_of("“ Yes . ” he said . “ Why ? ”", "Why") == SECOND
    for words, expected in [(ENGLISH.longest_aside - 1, FIRST), (ENGLISH.longest_aside, SECOND)]:
        assert voice_of(f"“ Yes , ” {'said ' * words} , “ why ? ”", "why") == expected


def test_a_paragraph_may_open_again_what_is_open() -> None:
    assert voice_of("“ One . “ Two . ” Three", "Two") == FIRST
    assert voice_of("“ One . “ Two . ” Three", "Three") == NARRATOR


def test_a_missing_mark_is_forgotten_after_a_while() -> None:
    text = '" lost ' + "word " * 500 + 'later " found "'
    assert voice_of(text, "lost") == FIRST
    assert voice_of(text, "later") == NARRATOR
    assert voice_of(text, "found") == SECOND


def test_speakers_are_negative_and_always_the_same() -> None:
    voices = Voices(ENGLISH).read(tracked(["I", '"', "me", "so"], ["Anna", "Anna", "Ben", ""]))
    assert voices[0] == voices[1] == speaker_voice("Anna") < 0
    assert voices[2] == speaker_voice("Ben") != voices[0]
    assert voices[3] == NARRATOR  # the mark that a speaker left open is closed


def test_marks_pauses_and_limits_are_the_lexicons() -> None:
    other = replace(ENGLISH, quotation_marks={"<": ">"}, pauses=frozenset({"/"}), longest_quotation=3, longest_aside=2)

    def voices(text: str) -> list[int]:
        words = text.split()
        return Voices(other).read(tracked(words))

    assert voices("“ no ” < a >") == [NARRATOR] * 4 + [FIRST] * 2
    assert voices("< a > b / < a")[-1] == FIRST
    assert voices("< a > b b / < a")[-1] == SECOND
    assert voices("< a > b , < a")[-1] == SECOND
    assert voices("< a b c d e f") == [NARRATOR, *[FIRST] * 4, *[NARRATOR] * 2]


VOICES = [0, NARRATOR, speaker_voice("Anna"), turn_voice(1), turn_voice(2, 1), turn_voice(3)]


def test_a_voice_says_what_it_is_alone_and_in_an_array() -> None:
    turns = [is_turn(voice) for voice in VOICES]
    assert turns == [False, False, False, True, True, True]
    assert [is_speaker(voice) for voice in VOICES] == [False, False, True, False, False, False]
    assert [turn_of(voice) for voice in VOICES if is_turn(voice)] == [1, 2, 3]
    assert [answers(voice) for voice in VOICES if is_turn(voice)] == [0, 1, 0]
    array = np.array(VOICES)
    assert is_turn(array).tolist() == turns
    for function in (is_speaker, turn_of, answers):
        assert function(array).tolist() == [function(voice) for voice in VOICES]


texts = st.lists(st.tuples(st.sampled_from('a b , . “ ” " ‘ ’'.split()), st.sampled_from(["", "", "", "Anna"])))


def by_turns(text: str) -> dict[str, int]:
    words = words_of(text)
    return {word.text: voice for word, voice in zip(words, TurnVoices(lexicon(LATEST)).read(words), strict=True)}


def test_a_missing_mark_leads_astray_for_a_paragraph_at_most() -> None:
    """By turns; else everything behind it would be the other way round, narration and what is said."""
    text = 'It began.\n\n"One never ends.\n\n"Two," said Anna.\n\n"Three," he answered.'
    voices = by_turns(text)
    assert voices["said"] == voices["answered"] == NARRATOR
    assert voices["One"] == voices["Two"] == turn_voice(1)  # the paragraph opens again what is open
    assert voices["Three"] == turn_voice(2)
    before = dict(zip((word.text for word in words_of(text)), Voices(lexicon(4)).read(words_of(text)), strict=True))
    assert before["said"] != NARRATOR


def test_turns_that_answer() -> None:
    voices = by_turns("It began.\n\n“Yes.”\n\n“No.” He left.\n\n“Why?”")
    assert voices["No"] == turn_voice(2, answers=1)
    assert voices["Why"] == turn_voice(3)
    words = tracked(["Hello", "“", "you", "”"], ["Anna", "Anna", "Anna", ""])
    assert TurnVoices(lexicon(LATEST)).read(words)[:3] == [speaker_voice("Anna")] * 3


@pytest.mark.parametrize("kind", [Voices, TurnVoices])
@given(text=texts, data=st.data())
def test_reading_in_parts_and_from_saved_values_changes_nothing(
    kind: type[Voices] | type[TurnVoices], text: list[tuple[str, str]], data: st.DataObject
) -> None:
    words, speakers = [word for word, _ in text], [speaker for _, speaker in text]
    cut = data.draw(st.integers(0, len(text)))
    given = tracked(words, speakers)
    english = lexicon(LATEST) if kind is TurnVoices else ENGLISH
    whole = kind(english).read(given)
    first = kind(english)
    parts = first.read(given[:cut])
    second = kind(english)
    second.restore(first.to_values())
    parts += second.read(given[cut:])
    assert parts == whole
