"""What the words of a mention say: I or you, a pronoun and its gender, a name and its title.

Trained features read this. It depends on nothing but the words and a version of the lexicon.
"""

from __future__ import annotations

from typing import NamedTuple

from streamcoref.language.lexicon import Gender, Lexicon

Words = tuple[str, ...]

FIRST_PERSON, SECOND_PERSON = 0, 1
_NO_GENDER = Gender(0)


class MentionWords(NamedTuple):
    """A mention is one of four: "I" or "you", another pronoun, a name, or none of these, which has at most a title."""

    person: int | None = None  # FIRST_PERSON, SECOND_PERSON, or neither
    pronoun: Gender = _NO_GENDER  # of a pronoun of any other person
    names: Words = ()  # in lower case, without titles and final periods
    title: Gender = _NO_GENDER  # of the first title
    gender: Gender = _NO_GENDER  # of the pronoun, the first title, or else of the given name or the noun
    rank: int = 0  # of the first title that has one: Mrs. is not Miss
    alone: str = ""  # a title that stands for a name: "the Duchess"
    definite: bool = False  # whether an article goes before it: else it may be anybody who is called so, "Captain!"


def read_mention(words: Words, lexicon: Lexicon) -> MentionWords:
    """Of at least one word; a mention that is a possessive reads like one that is not."""
    words = without_possessive(words, lexicon)
    lowered = [word.lower() for word in words]
    if len(words) == 1:
        if lowered[0] in lexicon.first_person:
            return MentionWords(person=FIRST_PERSON)
        if lowered[0] in lexicon.second_person:
            return MentionWords(person=SECOND_PERSON)
        if lowered[0] in lexicon.pronouns:
            gender = lexicon.pronouns[lowered[0]]
            return MentionWords(pronoun=gender, gender=gender)
    bare = [word.rstrip(".") or word for word in lowered]
    title = next((lexicon.titles[word] for word in bare if word in lexicon.titles), _NO_GENDER)
    capitals = [word for word, full in zip(bare, words, strict=True) if full[:1].isupper()]
    if not is_name(words, lexicon):
        ending = next((n for n, full in enumerate(reversed(words)) if not full[:1].isupper()), len(words))
        # "her brother Jonas"
        capitals = capitals[-ending:] if ending and lexicon.links.isdisjoint(lowered) else []
    names = tuple(word for word in capitals if word not in lexicon.titles and word not in lexicon.definite)
    given = lexicon.given_names.get(names[0], _NO_GENDER) if names else _NO_GENDER
    rank = next((lexicon.ranks[word] for word in bare if word in lexicon.ranks), 0)
    gender = title or given or _gender_of_noun(lowered, lexicon)
    if words[-1][:1].isupper() and bare[-1] in lexicon.names_alone and lexicon.definite.issuperset(bare[:-1]):
        return MentionWords(title=title, gender=gender, rank=rank, alone=bare[-1], definite=len(bare) > 1)
    return MentionWords(names=names, title=title, gender=gender, rank=rank)


def _gender_of_noun(words: list[str], lexicon: Lexicon) -> Gender:
    """Of the noun that a phrase is about, the last one before "of" or "who": "the wife of the old man"."""
    end = next((place for place, word in enumerate(words) if word in lexicon.links), len(words))
    return lexicon.nouns.get(words[end - 1], _NO_GENDER) if end else _NO_GENDER


def is_name(words: Words, lexicon: Lexicon) -> bool:
    """Capitals from first to last, but for an article before and particles between."""
    core = words[1:] if words[0].lower() in lexicon.articles else words
    if not core or len(core) > lexicon.longest_name or not (core[0][:1].isupper() and core[-1][:1].isupper()):
        return False
    if core[0].lower() in lexicon.determiners or all(word.lower() in lexicon.pronoun_words for word in core):
        return False
    # (an empty word passes: `"" in name_marks`)
    return all(word[:1].isupper() or word in lexicon.particles or word[:1] in lexicon.name_marks for word in core)


def without_possessive(words: Words, lexicon: Lexicon) -> Words:
    """The words without endings that are words of their own; one word always stays."""
    while len(words) > 1 and words[-1] in lexicon.possessive:
        words = words[:-1]
    return words
