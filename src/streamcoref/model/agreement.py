"""Whether a span can be an entity, as far as its words tell: names, pronouns, and who says "I" to whom.

A span has *traits*: its kind, its name words, its gender, the voice that says it. An entity remembers, in a fixed
number of integers, the name words of its mentions, the genders of its pronouns, and the voices that said "I" and "you".
`agreement` compares the two and gives one of `VALUES` numbers, each of which has an embedding in the scorer: what
follows from a shared surname or from an "I" two turns back is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from streamcoref.model.hashes import text_hash
from streamcoref.model.segments import IntArray
from streamcoref.model.voices import FIRST_TURN, NARRATOR
from streamcoref.naming import is_name

# Kinds of spans. The person's kinds are its first one (I) and the next (you), by who says it.
OTHER, NAME, THIRD, NARRATED, QUOTED, SPOKEN = 0, 1, 2, 3, 5, 7

# A span's traits: its kind, its name words, its gender, its voice.
SPAN_NAMES = 4  # name words of a span, at most; -1 where there is none
_GENDER, _VOICE = 1 + SPAN_NAMES, 2 + SPAN_NAMES
SPAN_TRAITS = 3 + SPAN_NAMES

# An entity's: its latest name words, newest first, 0 where there is none; genders; who said "I", who said "you".
ENTITY_NAMES = 6
_GENDERS, _VOICES = ENTITY_NAMES, ENTITY_NAMES + 1
ENTITY_TRAITS = ENTITY_NAMES + 3

# What `agreement` says. Of a span that is neither name nor pronoun:
NOTHING = 0
# Of a name: the entity has none, or one contains the other, or some words are shared, or none is.
NAMELESS, SAME_NAME, SHARED_NAME, OTHER_NAME = 1, 2, 3, 4
# Of a pronoun of the third person: the entity has no gender, or this one, or only others.
UNGENDERED, SAME_GENDER, OTHER_GENDER = 5, 6, 7
# Of I and you: the entity was neither yet; or, outside a quotation, the same person there; or only something else.
SILENT, SAME_NARRATION, OTHER_VOICE = 8, 9, 10
# In a quotation, against the entity's latest one: in the same turn, the answer to it, the next, the one after, later;
# `TURN` if the person is the same (I and I), 5 more if it is not (I and you).
TURN, _TURNS = 11, 5
# With known speakers: the same one, another; `SPEAKER` if the person is the same, 2 more if it is not.
SPEAKER = TURN + 2 * _TURNS
VALUES = SPEAKER + 4

_PERSONS = (
    frozenset("i me my mine myself".split()),
    frozenset("you your yours yourself thou thee thy thine thyself ye".split()),
)
_HE, _SHE, _IT, _THEY, _WE = 1, 2, 4, 8, 16
_PRONOUNS = {
    word: gender
    for gender, words in {
        _HE: "he him his himself",
        _SHE: "she her hers herself",
        _IT: "it its itself",
        _THEY: "they them their theirs themselves",
        _WE: "we us our ours ourselves",
    }.items()
    for word in words.split()
}
_TITLES = {  # words before a name that tell persons of one name apart, but are not the name
    **dict.fromkeys("mr mister sir lord master king prince duke count baron monsieur uncle father".split(), _HE),
    **dict.fromkeys("mrs miss ms lady madam madame mistress queen princess duchess aunt mother".split(), _SHE),
    **dict.fromkeys("dr doctor captain colonel general major professor rev reverend st saint president".split(), 0),
}
_LINKS = frozenset("of in at on from with for to by and or , who that which".split())  # "the mayor of Oslo" is not Oslo
_POSSESSIVE = frozenset("'s ’s ' ’".split())


def span_traits(words: Sequence[str], voice: int) -> list[int]:
    """[SPAN_TRAITS] of a mention's words, the first of which is said by `voice`."""
    kind, names, gender = _of_words(tuple(words))
    if kind >= NARRATED and voice != NARRATOR:
        kind = (SPOKEN if voice < 0 else QUOTED) + person_of(kind)
    return [kind, *names, gender, voice]


def _of_words(words: tuple[str, ...]) -> tuple[int, tuple[int, ...], int]:
    """Kind, name words and gender, whoever says it."""
    while len(words) > 1 and words[-1] in _POSSESSIVE:
        words = words[:-1]
    lowered = [word.lower() for word in words]
    nobody = (-1,) * SPAN_NAMES
    if len(words) == 1:
        for person, pronouns in enumerate(_PERSONS):
            if lowered[0] in pronouns:
                return NARRATED + person, nobody, 0
        if lowered[0] in _PRONOUNS:
            return THIRD, nobody, _PRONOUNS[lowered[0]]
    bare = [word.rstrip(".") or word for word in lowered]
    gender = next((_TITLES[word] for word in bare if word in _TITLES), 0)
    capitals = [word for word, full in zip(bare, words, strict=True) if full[:1].isupper()]
    if not is_name(words):
        ending = next((n for n, full in enumerate(reversed(words)) if not full[:1].isupper()), len(words))
        capitals = capitals[-ending:] if ending and _LINKS.isdisjoint(lowered) else []  # "her brother Jonas"
    names = [text_hash(word) for word in capitals if word not in _TITLES and word != "the"]
    if not names:
        return OTHER, nobody, gender
    return NAME, (*names, *nobody)[:SPAN_NAMES], gender


def note_traits(entity: IntArray, span: IntArray) -> None:
    """Remember a mention, [SPAN_TRAITS], in its entity, [ENTITY_TRAITS]."""
    kind = int(span[0])
    entity[_GENDERS] |= span[_GENDER]
    if kind == NAME:
        known = [name for name in entity[:ENTITY_NAMES].tolist() if name]
        new = [name for name in span[1:_GENDER].tolist() if name > 0 and name not in known]
        names = [*new, *known][:ENTITY_NAMES]
        entity[: len(names)] = names
    elif kind >= NARRATED:
        entity[_VOICES + person_of(kind)] = span[_VOICE]


def entity_traits(spans: IntArray) -> IntArray:
    """[k, ENTITY_TRAITS]: each of k spans as an entity of its own."""
    entities = np.zeros((len(spans), ENTITY_TRAITS), dtype=np.int64)
    for entity, span in zip(entities, spans, strict=True):
        note_traits(entity, span)
    return entities


def person_of(kind: int) -> int:
    """0 for I, 1 for you."""
    return (kind - NARRATED) % 2


def agreement(spans: IntArray, entities: IntArray) -> IntArray:
    """The value of each pair.

    One span [SPAN_TRAITS] against entities [n, ENTITY_TRAITS] is [n]; k spans are [k, n], and may have each their own
    entities [k, n, ENTITY_TRAITS].
    """
    if spans.ndim == 1:
        return _RULES[int(spans[0])](spans, entities)
    result = np.zeros((len(spans), entities.shape[-2]), dtype=np.int64)
    for kind in np.unique(spans[:, 0]).tolist():
        rows = np.flatnonzero(spans[:, 0] == kind)
        result[rows] = _RULES[kind](spans[rows, None], entities if entities.ndim == 2 else entities[rows])
    return result


def _nothing(_span: IntArray, entities: IntArray) -> IntArray:
    return np.zeros(entities.shape[:-1], dtype=np.int64)


def _names(span: IntArray, entities: IntArray) -> IntArray:
    theirs = entities[..., :ENTITY_NAMES]
    words = (span[..., 1:_GENDER] > 0).sum(-1)
    found: Any = 0  # how many of the span's words the entity has
    shared: Any = theirs == 0  # which of the entity's words the span has, empty places counted
    for place in range(1, 1 + int(words.max())):
        equal = theirs == span[..., place, None]
        found = found + equal.any(-1)
        shared = shared | equal
    same = (found == words) | shared.all(-1)
    # nameless before same before shared before other
    value = np.where(same, SAME_NAME, OTHER_NAME - (found > 0))
    return np.where(theirs[..., 0] == 0, NAMELESS, value)


def _gender(span: IntArray, entities: IntArray) -> IntArray:
    return _OF_GENDERS[span[..., _GENDER], entities[..., _GENDERS]]


def _elsewhere(entities: IntArray) -> IntArray:
    """The value of an entity that was never I or you, or not in this kind of voice."""
    return np.where(entities[..., _VOICES:].any(-1), OTHER_VOICE, SILENT)


def _narrated(_span: IntArray, entities: IntArray, person: int) -> IntArray:
    same = entities[..., _VOICES + person] == NARRATOR
    return np.where(same, SAME_NARRATION, _elsewhere(entities))


def _quoted(span: IntArray, entities: IntArray, person: int) -> IntArray:
    turn, answers = span[..., _VOICE] // FIRST_TURN, span[..., _VOICE] % FIRST_TURN
    voices = entities[..., _VOICES:]
    never = 1 << 40
    ago = np.where(voices >= FIRST_TURN, turn[..., None] - voices // FIRST_TURN, never)  # [..., 2], turns
    mine, other = ago[..., person], ago[..., 1 - person]
    nearest = np.maximum(np.minimum(mine, other), 0)  # what lies ahead is never asked, but may be computed
    # 0, the answer to it 1, next 2, the one after 3, later 4
    place = np.where(nearest == 1, 2 - answers, np.minimum(nearest + (nearest > 0), _TURNS - 1))
    return np.where(nearest == never, _elsewhere(entities), TURN + place + _TURNS * (other < mine))


def _spoken(span: IntArray, entities: IntArray, person: int) -> IntArray:
    first, second = entities[..., _VOICES], entities[..., _VOICES + 1]
    voice = np.where(first < 0, first, second)  # who says I is surer than who says you
    other_person = (first < 0) == (person == 1)
    value = SPEAKER + (voice != span[..., _VOICE]) + 2 * other_person
    return np.where(voice < 0, value, _elsewhere(entities))


# [a pronoun's gender, the genders of an entity], all of which are a few bits
_OF_GENDERS = np.array(
    [
        [UNGENDERED if not theirs else SAME_GENDER if mine & theirs else OTHER_GENDER for theirs in range(2 * _WE)]
        for mine in range(2 * _WE)
    ]
)

_RULES: list[Callable[[IntArray, IntArray], IntArray]] = [
    _nothing,
    _names,
    _gender,
    *(partial(rule, person=person) for rule in (_narrated, _quoted, _spoken) for person in (0, 1)),
]
