"""What trained features may know of a language: genders, and the lists of words of one version."""

from __future__ import annotations

import enum
import json
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, fields
from hashlib import blake2b


class Gender(enum.IntFlag):
    """For whom a pronoun or a title can stand; several of one entity are joined, and none is 0.

    The numbers are kept in the memory of entities and in saved states.
    """

    HE = 1
    SHE = 2
    IT = 4
    THEY = 8
    WE = 16


MISS, MRS = 1, 2  # among the ranks of titles


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lexicon:
    """What trained features know of English, in one version that never changes. Equal only to itself: it has a hash."""

    version: int

    # Pronouns
    first_person: frozenset[str]  # of one person: who says "we" may be anybody, and it has a gender of its own
    second_person: frozenset[str]
    pronouns: Mapping[str, Gender]  # the others that have a gender
    pronoun_words: frozenset[str]  # all that makes no name, however it is spelled: "It", "Someone", "Here"

    # Names
    titles: Mapping[str, Gender]  # words before a name that tell persons of one name apart, but are not the name
    articles: frozenset[str]  # may go before a name: "the Bank of Norway"
    definite: frozenset[str]  # articles that are no word of a name even with a capital: "The Lynx" is "Lynx"
    determiners: frozenset[str]  # no name begins with one of these
    particles: frozenset[str]  # stand inside a name without a capital, as they are spelled here: "Ludwig van Beethoven"
    name_marks: str  # what a word inside a name may begin with instead of a capital: "'s", "-in-law"
    links: frozenset[str]  # a phrase that has one is not named by its last words: "the mayor of Oslo" is not Oslo
    possessive: frozenset[str]  # endings that are words of their own
    longest_name: int  # words; a longer run of capitals is the title of a book, a headline or a mistake

    # Quotations
    quotation_marks: Mapping[str, str]  # opening -> closing
    pauses: frozenset[str]  # what a speaker's own next words follow: "No," he said, "not today."
    longest_quotation: int  # words; in one that is longer the closing mark is missing, and all the rest would be said
    longest_aside: int  # words of narration that do not end a turn: enough for "said the old man to his sister"

    # Who says them; from version 2 on
    double_marks: Mapping[str, str] = field(default_factory=dict)  # opening -> closing
    single_marks: Mapping[str, str] = field(default_factory=dict)  # the same, of marks that are apostrophes, too
    dashes: frozenset[str] = frozenset()  # what opens a line of dialogue in texts without marks
    speech_verbs: frozenset[str] = frozenset()  # "said", "replies"
    subjects: frozenset[str] = frozenset()  # pronouns that can say something: "he replied"
    never_subjects: frozenset[str] = frozenset()  # words that begin a phrase which says nothing: "it", "him"
    between: frozenset[str] = frozenset()  # words between a verb of speech and who speaks, besides those in -ly
    sentence_stops: frozenset[str] = frozenset()  # end what is said about a quotation
    vocative_marks: frozenset[str] = frozenset()  # stand around a name that is called
    before_vocatives: frozenset[str] = frozenset()  # may stand before it inside of these: "my dear Lizzy"

    # Whom words speak of; from version 3 on
    given_names: Mapping[str, Gender] = field(default_factory=dict)  # of people that are mostly one or the other
    nouns: Mapping[str, Gender] = field(default_factory=dict)  # "the old woman", "her brother"

    # What is told apart from version 4 on
    ranks: Mapping[str, int] = field(default_factory=dict)  # of some titles: nobody has two of different numbers
    verbs_have_subjects: bool = False  # Alice heard the Rabbit say, “…”: it is the Rabbit who speaks
    mistakes_fade: bool = False  # a name that an entity is called by a few times in many tells nothing

    # What is told apart from version 5 on
    speech_nouns: frozenset[str] = frozenset()  # “…” was Anna's answer
    copulas: frozenset[str] = frozenset()  # the verb of these
    relatives: frozenset[str] = frozenset()  # Anna, who had risen, said, “…”
    conjunctions: frozenset[str] = frozenset()  # she looked at Anna, who had risen, and said, “…”
    voices_are_turns: bool = False  # of quotations, paragraph by paragraph; else a missing mark turns all that follows
    narrators_are_apart: bool = False  # who says "I" outside of quotations is nobody who is told of there

    # What is told apart from version 6 on
    names_alone: frozenset[str] = frozenset()  # titles by which somebody is called without a name: "the Duchess"
    titles_tell: bool = False  # Miss Berg, who is mostly Anna, is neither Mrs. Berg nor Berg
    name_links: frozenset[str] = frozenset()  # behind a name these are of one mention with it: not "Anna to her father"
    quotations_have_speakers: bool = False  # “…,” said Anna. “…,” said Ben, in one paragraph
    finer_cues: bool = False  # “…,” eagerly replied Anna; Anna called out “…”; “No.” Anna sighed and said, “…”
    phrasal_verbs: frozenset[tuple[str, str]] = frozenset()  # of speech: "went on"
    half_verbs: frozenset[str] = frozenset()  # are of speech unless another verb follows: "she began to think"
    clause_openers: frozenset[str] = frozenset()  # when Ben had left, Anna rose and said, “…”: it is not Ben

    def digest(self) -> str:
        """Of all it holds, whatever the order in which it was written down; what a version has not does not count."""
        content = {field.name: _ordered(value) for field in fields(self) if (value := getattr(self, field.name))}
        return blake2b(json.dumps(content, sort_keys=True).encode(), digest_size=16).hexdigest()


def _ordered(value: object) -> object:
    if isinstance(value, Mapping):
        return sorted(value.items())
    return sorted(value) if isinstance(value, Set) else value


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def genders_of(lists: Mapping[Gender, str]) -> dict[str, Gender]:
    return {word: gender for gender, text in lists.items() for word in text.split()}


def ranks_of(*lists: str) -> dict[str, int]:
    return {word: rank for rank, text in enumerate(lists, 1) for word in text.split()}
