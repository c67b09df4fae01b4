"""The people of a document under other names, and of the other gender: word by word, so that annotation stays true."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Set
from dataclasses import dataclass, field

import numpy as np

from streamcoref.document import Cluster, Document
from streamcoref.language.english import BEFORE_SURNAMES, GENDERED, HE_FOR, OTHER_TITLE, SHE_FOR
from streamcoref.language.grammar import her_is_possessive
from streamcoref.language.lexicon import Gender
from streamcoref.language.names import is_name, read_mention, without_possessive
from streamcoref.language.people_names import GIVEN_NAMES, SURNAMES
from streamcoref.language.versions import LATEST, lexicon

_LEXICON = lexicon(LATEST)
_OTHER = {Gender.HE: Gender.SHE, Gender.SHE: Gender.HE}


@dataclass
class Person:
    """A cluster that speaks of one man or one woman, and where its names stand."""

    gender: Gender
    given: set[int] = field(default_factory=set)  # places of words
    surnames: set[int] = field(default_factory=set)
    certain: set[int] = field(default_factory=set)  # of these, those in names of several words
    titles: set[int] = field(default_factory=set)
    pronouns: set[int] = field(default_factory=set)
    fixed: bool = False  # whether something else that it is called has its gender


def rename_people(document: Document, genders: float, random: np.random.Generator) -> tuple[str, ...]:
    """The words of a document whose people have other names, the same one wherever a name stands.

    Only people count whose gender a pronoun, a title or a given name tells. A share of `genders` of them changes it,
    with pronouns and titles, where nothing else that they are called has one. A family keeps one name. A word that the
    document also has without a capital may be none, and stays: "Peter the Great", "Captain Good".
    """
    words = list(document.words)
    plain = {word for word in words if word.islower()}
    people = [person for cluster in document.clusters if (person := _person(document, cluster, plain))]
    _tell_apart(words, people)
    taken = {word.lower() for word in words}
    owners: dict[str, set[Gender]] = defaultdict(set)  # of given names
    for person in people:
        for place in person.given:
            owners[words[place].lower()].add(person.gender)
    shared = Counter(name for person in people for name in {words[place].lower() for place in person.given})
    called: dict[str, str] = {}

    def other_name(name: str, names: Iterable[str]) -> str:
        if name.lower() not in called:
            free = [one for one in names if one.lower() not in taken]
            called[name.lower()] = free[int(random.integers(len(free)))] if free else name
            taken.add(called[name.lower()].lower())
        return _in_case_of(name, called[name.lower()])

    for person in people:
        names = {words[place].lower() for place in person.given}
        alone = all(shared[name] == 1 for name in names)
        swaps = bool(random.random() < genders) and alone and _can_swap(document, person)
        gender = _OTHER[person.gender] if swaps else person.gender
        for place in sorted(person.given):
            if len(owners[words[place].lower()]) == 1:
                words[place] = other_name(document.words[place], GIVEN_NAMES[gender])
        for place in sorted(person.surnames):
            words[place] = other_name(document.words[place], SURNAMES)
        if swaps:
            for place in person.titles:
                if _has_gender(words[place]):
                    words[place] = _in_case_of(words[place], OTHER_TITLE[words[place].lower().rstrip(".")])
            for place in person.pronouns:
                words[place] = _in_case_of(words[place], _other_pronoun(document.words, place))
    return tuple(words)


def _person(document: Document, cluster: Cluster, plain: Set[str]) -> Person | None:
    genders, found = Gender(0), Person(Gender(0))
    for start, end in cluster:
        words = document.words[start:end]
        label = document.labels.get((start, end))
        if label is not None and label.types and "person" not in label.types:
            return None
        core = without_possessive(words, _LEXICON)
        read = read_mention(core, _LEXICON)
        genders |= read.gender
        if read.pronoun:
            found.pronouns.add(start)
        elif read.person is None and is_name(core, _LEXICON):
            _note_name(found, core, start, plain)
        else:
            found.fixed |= not GENDERED.isdisjoint(word.lower() for word in words)
    found.gender = genders
    return found if genders in _OTHER and (found.given or found.surnames) else None


def _note_name(person: Person, words: tuple[str, ...], start: int, plain: Set[str]) -> None:
    """Which words of a name are given names and which surnames, as far as this mention tells."""
    bare = [word.lower().rstrip(".") for word in words]
    titles = [n for n, word in enumerate(bare) if word in _LEXICON.titles]
    no_names = plain | _LEXICON.titles.keys() | _LEXICON.determiners | GENDERED
    names = [n for n, word in enumerate(words) if bare[n] not in no_names and _may_be_name(word)]
    person.titles |= {start + n for n in titles}
    if len(names) > 1:
        person.given |= {start + n for n in names[:-1]}
        person.surnames.add(start + names[-1])
        person.certain |= {start + n for n in names}
    elif names:
        formal = any(bare[n] in BEFORE_SURNAMES for n in titles)
        (person.surnames if formal else person.given).add(start + names[0])


def _may_be_name(word: str) -> bool:
    return len(word) > 1 and word.isalpha() and word[0].isupper()


def _tell_apart(words: list[str], people: list[Person]) -> None:
    """A word is a given name or a surname, wherever it stands: what most mentions say, full names before others."""
    votes: dict[str, Counter[str]] = defaultdict(Counter)
    for person in people:
        for kind, places in (("given", person.given), ("surname", person.surnames)):
            for place in places:
                votes[words[place].lower()][kind] += len(words) if place in person.certain else 1
    for person in people:
        every = person.given | person.surnames
        person.given = {p for p in every if votes[words[p].lower()]["given"] >= votes[words[p].lower()]["surname"]}
        person.surnames = every - person.given


def _can_swap(document: Document, person: Person) -> bool:
    """Whether all that tells the gender of a person can be said of the other one."""
    words = document.words
    if person.fixed or any(
        words[p].lower().rstrip(".") not in OTHER_TITLE for p in person.titles if _has_gender(words[p])
    ):
        return False
    return all(
        her_is_possessive(words, place) is not None for place in person.pronouns if words[place].lower() == "her"
    )


def _has_gender(title: str) -> bool:
    return bool(_LEXICON.titles.get(title.lower().rstrip("."), 0))


def _other_pronoun(words: tuple[str, ...], place: int) -> str:
    pronoun = words[place].lower()
    if pronoun == "her":
        return "his" if her_is_possessive(words, place) else "him"
    if pronoun == "his":
        following = words[place + 1] if place + 1 < len(words) else ""
        return "her" if following[:1].isalnum() else "hers"
    return SHE_FOR.get(pronoun) or HE_FOR[pronoun]


def _in_case_of(old: str, new: str) -> str:
    """As an old word is spelled: in capitals, with one, or without."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new[:1].lower() + new[1:]
