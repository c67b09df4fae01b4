"""What the words of a mention say: person, pronoun, name, gender."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.language import Gender, MentionWords, is_name, lexicon, read_mention, without_possessive

ENGLISH = lexicon(1)
NOBODY = Gender(0)


def read(text: str) -> MentionWords:
    return read_mention(tuple(text.split()), ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        "Anna",
        "Anna Berg",
        "the Bank of Norway",
        "Ludwig van Beethoven",
        "The Hague",
        "Miles 's Bar",
        "Anna -in-law Berg",
        "the V W X Y Z",
    ],
)
def test_names(text: str) -> None:
    assert is_name(tuple(text.split()), ENGLISH)


@pytest.mark.parametrize(
    "text",
    [
        "the",
        "She",
        "Someone Other Then",
        "anna",
        "Anna berg",
        "old Anna",
        "Her Majesty",
        "Anna sees Carl",
        "U V W X Y Z",
    ],
)
def test_no_names(text: str) -> None:
    assert not is_name(tuple(text.split()), ENGLISH)


@pytest.mark.parametrize(
    ("text", "person"),
    [
        ("I", 0),
        ("me", 0),
        ("My", 0),
        ("mine 's", 0),
        ("you", 1),
        ("Thee", 1),
        ("yourself", 1),
        ("we", None),
        ("I say", None),
    ],
)
def test_person(text: str, person: int | None) -> None:
    assert read(text).person == person
    if person is not None:
        assert read(text) == MentionWords(person=person)


@pytest.mark.parametrize(
    ("text", "gender"),
    [
        ("he", Gender.HE),
        ("HIS", Gender.HE),
        ("herself", Gender.SHE),
        ("its", Gender.IT),
        ("them", Gender.THEY),
        ("ourselves", Gender.WE),
    ],
)
def test_pronouns(text: str, gender: Gender) -> None:
    assert read(text) == MentionWords(pronoun=gender, gender=gender)


@pytest.mark.parametrize(
    ("text", "names", "gender"),
    [
        ("Anna", ["anna"], NOBODY),
        ("Anna Berg 's", ["anna", "berg"], NOBODY),
        ("The Lynx", ["lynx"], NOBODY),
        ("the Bank of Norway", ["bank", "norway"], NOBODY),
        ("Mr. Samuel Vale", ["samuel", "vale"], Gender.HE),
        ("Mrs Vale", ["vale"], Gender.SHE),
        ("Dr. Vale", ["vale"], NOBODY),
        ("Dr. Miss Vale", ["vale"], NOBODY),  # the first title counts
        ("old Mr. Turner", ["turner"], Gender.HE),
        ("her brother Jonas", ["jonas"], NOBODY),
        ("her uncle Jonas Vale", ["jonas", "vale"], Gender.HE),
        ("Jonas the brother", [], NOBODY),
        ("the mayor of Oslo", [], NOBODY),
        ("the king of Norway", [], Gender.HE),
        ("the Captain", [], NOBODY),  # a title alone is no name
        ("the Queen", [], Gender.SHE),
        ("the old captain", [], NOBODY),
        ("this", [], NOBODY),
        ("He He", ["he", "he"], NOBODY),
        ("T U V W X Y Z", ["t", "u", "v", "w", "x", "y", "z"], NOBODY),  # all of them, however many a feature keeps
        ("...", [], NOBODY),
    ],
)
def test_names_and_titles(text: str, names: list[str], gender: Gender) -> None:
    assert read(text) == MentionWords(names=tuple(names), title=gender, gender=gender)


@pytest.mark.parametrize(
    ("text", "title", "gender"),
    [
        ("Anna Berg", NOBODY, Gender.SHE),
        ("Berg", NOBODY, NOBODY),
        ("Mr. Evelyn Berg", Gender.HE, Gender.HE),  # a title is surer than a name
        ("Dr. Anna Berg", NOBODY, Gender.SHE),
        ("the old woman", NOBODY, Gender.SHE),
        ("the woman 's", NOBODY, Gender.SHE),
        ("the wife of the old man", NOBODY, Gender.SHE),
        ("her brother Berg", Gender.HE, Gender.HE),
        ("the old captain", NOBODY, NOBODY),
        ("of the man", NOBODY, NOBODY),
    ],
)
def test_given_names_and_nouns_have_a_gender_from_version_3_on(text: str, title: Gender, gender: Gender) -> None:
    found = read_mention(tuple(text.split()), lexicon(3))
    assert (found.title, found.gender) == (title, gender)


@pytest.mark.parametrize(
    ("text", "alone", "definite"),
    [
        ("the Duchess", "duchess", True),
        ("The Captain 's", "captain", True),
        ("Mademoiselle", "mademoiselle", False),
        ("the captain", "", False),
        ("a Captain", "", False),
        ("Captain Berg", "", False),
        ("Miss", "", False),  # anybody may be called so
    ],
)
def test_a_title_alone_is_a_name_from_version_6_on(text: str, alone: str, definite: bool) -> None:
    words = tuple(text.split())
    found = read_mention(words, lexicon(6))
    assert (found.alone, found.definite) == (alone, definite)
    assert found._replace(alone="", definite=False) == read_mention(words, lexicon(5))


def test_a_possessive_is_left_out_but_never_all() -> None:
    assert without_possessive(("Anna", "'s"), ENGLISH) == ("Anna",)
    assert without_possessive(("the", "Vales", "’", "'s"), ENGLISH) == ("the", "Vales")
    assert without_possessive(("'s",), ENGLISH) == ("'s",)
    assert without_possessive(("Anna", "'S"), ENGLISH) == ("Anna", "'S")


WORDS = st.text(max_size=4) | st.sampled_from("I you he Mr. Anna Berg the The of , 's ’ captain".split())
MENTIONS = st.lists(WORDS, min_size=1, max_size=7).map(tuple)


@given(MENTIONS)
def test_any_mention_is_one_of_four(words: tuple[str, ...]) -> None:
    person, pronoun, names, _, gender, *_ = read_mention(words, ENGLISH)
    assert sum([person is not None, bool(pronoun), bool(names)]) <= 1
    assert gender == pronoun if person is not None or pronoun else True
    folded = [word.lower() for word in words]
    assert all(any(name in (word, word.rstrip(".")) for word in folded) for name in names)
    assert not set(names) & {*ENGLISH.titles, "the"}


@given(MENTIONS, st.sampled_from(sorted(ENGLISH.possessive)))
def test_a_possessive_reads_like_the_mention_itself(words: tuple[str, ...], ending: str) -> None:
    assert read_mention((*words, ending), ENGLISH) == read_mention(words, ENGLISH)
