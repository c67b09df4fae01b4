"""Cues of who speaks, and names that are called."""

from __future__ import annotations

import pytest

from streamcoref.language import LATEST, LEXICONS, Quotations, lexicon
from streamcoref.language.attribution import (
    Cue,
    can_speak,
    is_called,
    is_person,
    opens_clause,
    speaker_cues,
    talk_lexicon,
)
from tests.language.texts import words_of

ENGLISH = lexicon(LATEST)


def cues(text: str) -> list[tuple[int, Cue, str, str]]:
    """Turn, kind, and the words from where the speaker is looked for to where the cue ends."""
    words = words_of("It began.\n\n" + text)
    found = speaker_cues(words, Quotations(ENGLISH).read(words), 0, ENGLISH)
    return [(c.turn, c.cue, words[c.begin].text, words[c.end - 1].text) for c in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“No,” said Anna Weber.", (1, Cue.VERB_FIRST, "Anna", "Weber")),
        ("“No,” replied suddenly the old man.", (1, Cue.VERB_FIRST, "the", "man")),
        ("“No,” she said.", (1, Cue.VERB_LAST, "she", "she")),
        ("“No,” the captain, after a pause, coolly answered.", (1, Cue.VERB_LAST, "the", "coolly")),
        ("Anna turned to him and said, “No.”", (1, Cue.BEFORE, "Anna", ",")),
        ("Anna shook her head: “No.”", (1, Cue.INTRODUCED, "Anna", ":")),
        ("Anna said,\n\n“No.”", (1, Cue.BEFORE, "Anna", ",")),
        ("“No”--observed Anna.", (1, Cue.VERB_FIRST, "Anna", "Anna")),
        ("Anna shook her head. “No.”", (1, Cue.BESIDE, "Anna", ".")),
        ("“No.” Anna shook her head.", (1, Cue.BESIDE, "Anna", "head")),
        ("“No,” was Anna Weber's quiet answer.", (1, Cue.VERB_FIRST, "Anna", "quiet")),
        ("“No,” was Anna Weber's parting shot.", (1, Cue.VERB_FIRST, "Anna", "Weber")),
        ("“No,” was uttered at once by Anna.", (1, Cue.VERB_FIRST, "Anna", "Anna")),
        ("“No,” eagerly replied Anna.", (1, Cue.VERB_FIRST, "Anna", "Anna")),
        ("“No,” put in Anna.", (1, Cue.VERB_FIRST, "Anna", "Anna")),
        ("“No,” the old captain went on.", (1, Cue.VERB_LAST, "the", "captain")),
        ("“No,” Anna ventured to remark.", (1, Cue.VERB_LAST, "Anna", "Anna")),
        ("“No!” Anna began to think.", (1, Cue.BESIDE, "Anna", "think")),
        ("“No!” Anna said that it rained.", (1, Cue.BESIDE, "Anna", "rained")),
        ("“No.” Anna rose and said it.", (1, Cue.BESIDE, "Anna", "it")),  # a sentence of its own
        ("Anna called out “No.”", (1, Cue.BEFORE, "Anna", "out")),
    ],
)
def test_one_cue(text: str, expected: tuple[int, Cue, str, str]) -> None:
    assert cues(text) == [expected]


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Alice heard the Rabbit say, “No.”", "Rabbit"),
        ("When they had gone Matthew suddenly said: “No.”", "Matthew"),
        ("Anna, looking at Ben, said, “No.”", ","),  # nobody stands before the verb: it is the first who is named
        ("They were met by Anna, who in great haste said, “No.”", "Anna"),
        ("She bowed to Anna, who had risen, and said, “No.”", "and"),  # nobody: it is she
        ("It was broken by Anna's saying, “No.”", "Anna"),
        ("She turned to Anna and said, “No.”", "and"),  # nobody: it is she
        ("Anna turned round: “No.”", None),
        ("“No,” said Anna.", None),
    ],
)
def test_a_verb_has_a_subject(text: str, subject: str | None) -> None:
    words = words_of("It began.\n\n" + text)
    (cue,) = speaker_cues(words, Quotations(ENGLISH).read(words), 0, ENGLISH)
    assert (None if cue.subject_end is None else words[cue.subject_end - 1].text) == subject


def test_before_version_6_fewer_cues_are_read() -> None:
    older = lexicon(5)
    for text in ("“No,” put in Anna.", "“No,” eagerly replied Anna.", "Anna called out “No.”"):
        words = words_of("It began.\n\n" + text)
        (cue,) = speaker_cues(words, Quotations(older).read(words), 0, older)
        assert cue.cue in (Cue.VERB_LAST, Cue.BESIDE)
        assert cue.said is None


def test_a_cue_knows_its_quotation() -> None:
    words = words_of("Anna said, “No.” Ben rose. “Yes,” said he.")
    found = list(speaker_cues(words, Quotations(ENGLISH).read(words), 0, ENGLISH))
    assert [words[cue.said or 0].text for cue in found] == ["“", "”", "“", "”"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ben rose", True),
        ("when Ben rose", True),
        ("she sat , and Ben rose", True),
        ("Anna and Ben rose", False),
        ("she spoke to Ben", False),
    ],
)
def test_who_opens_a_clause(text: str, expected: bool) -> None:
    words = text.split()
    assert opens_clause(words, words.index("Ben"), ENGLISH) is expected


@pytest.mark.parametrize(
    ("words", "expected"), [("she", True), ("Anna", True), ("the old man", True), ("the door", False), ("This", False)]
)
def test_who_is_a_person(words: str, expected: bool) -> None:
    assert is_person(words.split(), ENGLISH) is expected


def test_a_cue_belongs_to_its_paragraph() -> None:
    assert cues("“No.”\n\nAnna left.\n\n“Yes.”") == []
    assert [(turn, cue) for turn, cue, *_ in cues("“No.”\n\n“Yes,” said Ben.")] == [(2, Cue.VERB_FIRST)]


def test_a_segment_may_begin_behind_a_quotation() -> None:
    words = words_of("said Anna. It rained.")
    (cue,) = speaker_cues(words, [0] * len(words), 7, ENGLISH)
    assert (cue.turn, cue.cue, cue.begin) == (7, Cue.VERB_FIRST, 1)
    assert list(speaker_cues(words, [0] * len(words), 0, ENGLISH)) == []


@pytest.mark.parametrize(
    ("words", "expected"),
    [("she", True), ("Anna", True), ("the man", True), ("her brother", True), ("it", False), ("him", False)],
)
def test_who_can_speak(words: str, expected: bool) -> None:
    assert can_speak(words.split(), ENGLISH) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("“Anna, come here.”", True),
        ("“Come here, Anna.”", True),
        ("“Oh, my dear Anna! Come.”", True),
        ("“Anna is here.”", False),
        ("“I saw Anna, and left.”", False),
    ],
)
def test_a_name_that_is_called(text: str, expected: bool) -> None:
    words = words_of(text)
    place = [word.text for word in words].index("Anna")
    assert is_called(words, place, place + 1, ENGLISH) is expected


def test_models_with_older_lists_are_told_by_the_latest() -> None:
    assert talk_lexicon(lexicon(1)) is LEXICONS[LATEST]
    assert talk_lexicon(ENGLISH) is ENGLISH
