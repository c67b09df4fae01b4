"""The word lists: what models have learned never changes, and what it would say if it did."""

from __future__ import annotations

import random
from dataclasses import replace
from hashlib import blake2b

import pytest

from streamcoref import StreamcorefError
from streamcoref.language import LATEST, LEXICONS, Gender, Quotations, Voices, is_name, lexicon, read_mention
from streamcoref.language.attribution import SpeakerCue, is_called, speaker_cues
from streamcoref.language.voices import TurnVoices
from tests.language.texts import tracked, words_of

# A model's weights fit what its features computed when it was trained. If one of these digests changes, models that
# exist read English differently than they have learned it. A better list or rule is a new version of the lexicon, with
# a line more in each of these tables; the lines that are here stay.
CONTENT = {
    1: "4c442f468d55245ad184f3239fddc029",
    2: "136439c21aba1767bc551126b4299430",
    3: "8160a21aeb9b469b8a0e7d7fb68a12b5",
    4: "99646967882290a15f3c83d472e67690",
    5: "165aaec4cefbafd7d4f04c2283565306",
    6: "bbe7e48fc3cd4a632852f3111e372505",
}
MENTIONS = {
    1: "147e6c88b62ce6d133edeff1b6f59e2d",
    2: "147e6c88b62ce6d133edeff1b6f59e2d",
    3: "1f262a72b6e1b5e79f0d29ff91e80435",
    4: "f208ed21b8d4293df2db090220633703",
    5: "f208ed21b8d4293df2db090220633703",
    6: "084dd21469d75c9da8de530acacd6ca2",
}
VOICES = {
    1: "b26b13c29a59bce244b73c38cb57a5bf",
    2: "b26b13c29a59bce244b73c38cb57a5bf",
    3: "b26b13c29a59bce244b73c38cb57a5bf",
    4: "b26b13c29a59bce244b73c38cb57a5bf",
    5: "75f868e5cd5df6c1eca94d357b3a9474",
    6: "75f868e5cd5df6c1eca94d357b3a9474",
}
TURNS = {
    2: "1c3965b78fb8b430b8a73abb7c1589d7",
    3: "1c3965b78fb8b430b8a73abb7c1589d7",
    4: "95ef5b10c8931f7116c78d6cd06c20ac",
    5: "d056644de2eaf7f8012272881e977661",
    6: "3fa36f4555e3ea1857719040dccdd0dd",
}  # before version 2 nobody was told who speaks


def test_every_version_is_held() -> None:
    assert sorted(LEXICONS) == sorted(CONTENT) == sorted(MENTIONS) == sorted(VOICES)
    assert [lexicon(version).version for version in LEXICONS] == list(LEXICONS)
    assert max(LEXICONS) == LATEST


@pytest.mark.parametrize("version", CONTENT)
def test_a_version_never_changes(version: int) -> None:
    assert lexicon(version).digest() == CONTENT[version]


WORDS = (
    "I me you Thee he Him his she Her it they We Anna Anna's Berg Doyle Mr. Mrs lady Captain St. the The An my old "
    "girl of and Bank van & -in-law 'Tis Someone here One 's ’ , . Norway 12 É"
).split()


@pytest.mark.parametrize("version", MENTIONS)
def test_what_is_read_of_a_mention_never_changes(version: int) -> None:
    choose, digest = random.Random(1), blake2b(digest_size=16)
    mentions = [(word,) for word in WORDS] + [(a, b) for a in WORDS for b in WORDS]
    mentions += [tuple(choose.choices(WORDS, k=length)) for length in range(3, 8) for _ in range(3000)]
    for words in mentions:
        person, pronoun, names, _, gender, rank, alone, definite = read_mention(words, lexicon(version))
        later = *([rank] if rank else []), *([alone, definite] if alone else [])
        value = person, int(pronoun), names, int(gender), is_name(words, lexicon(version)), *later
        digest.update(repr((words, value)).encode())
    assert digest.hexdigest() == MENTIONS[version]


@pytest.mark.parametrize("version", VOICES)
def test_who_says_a_word_never_changes(version: int) -> None:
    choose, digest = random.Random(2), blake2b(digest_size=16)
    marks = "\" “ ” ‘ ’ `` '' « » „ , ; - – — -- .".split()
    for _ in range(100):
        share = choose.random() ** 3  # from crowded with marks to quotations that never end
        words = [choose.choice(marks) if choose.random() < share else "word" for _ in range(1000)]
        speakers = [choose.choice(["Anna", "Ben"]) if choose.random() < share / 10 else "" for _ in words]
        english = lexicon(version)
        voices = TurnVoices(english) if english.voices_are_turns else Voices(english)
        digest.update(repr(voices.read(tracked(words, speakers))).encode())
    assert digest.hexdigest() == VOICES[version]


def _without_subject(cue: SpeakerCue) -> object:
    """Before version 4 no verb had one, and cues were written without."""
    old = ", ".join(f"{name}={value!r}" for name, value in zip(cue._fields, cue, strict=True) if value is not None)
    return _Written(f"SpeakerCue({old})")


class _Written(str):
    __repr__ = str.__str__


@pytest.mark.parametrize("version", TURNS)
def test_who_is_said_to_speak_never_changes(version: int) -> None:
    choose, digest = random.Random(3), blake2b(digest_size=16)
    english = lexicon(version)
    parts = ["“", "”", '"', "‘", "’", "—", ",", ".", "\n\n", "said", "Anna", "he", "the man", "softly", "rose"]
    parts += ["was", "answer", ", who"] if english.speech_nouns else []
    parts += ["and", "'s", "by", "went on", "began to", "loudly"] if english.finer_cues else []
    for _ in range(300):
        words = words_of(" ".join(choose.choices(parts, k=60)))
        turns = Quotations(english).read(words)
        called = [is_called(words, place, place + 1, english) for place in range(len(words))]
        cues = [_without_subject(cue) for cue in speaker_cues(words, turns, 0, english)]
        digest.update(repr((turns, cues, called)).encode())
    assert digest.hexdigest() == TURNS[version]


@pytest.mark.parametrize(
    "change",
    [
        {"version": 9},
        {"speech_verbs": frozenset({"said"})},
        {"first_person": frozenset({"i"})},
        {"titles": {**lexicon(1).titles, "dr": Gender.HE}},
        {"quotation_marks": {"“": "”"}},
        {"name_marks": "'"},
        {"longest_aside": 13},
    ],
)
def test_the_digest_tells_changes(change: dict[str, object]) -> None:
    assert replace(lexicon(1), **change).digest() != lexicon(1).digest()


def test_the_digest_knows_no_order() -> None:
    known = lexicon(1)
    turned = replace(
        known,
        titles=dict(reversed(known.titles.items())),
        links=frozenset(sorted(known.links, reverse=True)),
    )
    assert turned.digest() == known.digest()


def test_an_unknown_version() -> None:
    with pytest.raises(StreamcorefError) as raised:
        lexicon(9)
    assert str(raised.value) == (
        "this model needs version 9 of the English word lists, this release knows 1, 2, 3, 4, 5, 6; "
        "use the release that made it"
    )


def test_the_numbers_of_genders_are_those_in_saved_states() -> None:
    assert {gender.name: gender.value for gender in Gender} == {"HE": 1, "SHE": 2, "IT": 4, "THEY": 8, "WE": 16}
