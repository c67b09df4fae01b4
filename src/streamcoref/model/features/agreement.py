"""Whether a span can be an entity, as far as its words tell: names, pronouns, and who says "I" to whom.

A span has a kind, name words, a gender and the voice that says it. An entity remembers, in a fixed number of integers,
the name words of its mentions, the genders of its pronouns, and the voices that said "I" and "you". Comparing the two
gives one of the numbers of `Value`, each of which has an embedding in the scorer: what follows from a shared surname or
from an "I" two turns back is learned.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import Any, Literal

import numpy as np
from pydantic import PositiveInt

from streamcoref.language.hashes import text_hash
from streamcoref.language.lexicon import Gender, Lexicon
from streamcoref.language.names import MentionWords, read_mention
from streamcoref.language.trackers import WordTracker
from streamcoref.language.voices import NARRATOR, Voices, answers, is_speaker, is_turn, turn_of
from streamcoref.model.features.base import FeatureOptions, PairFeature
from streamcoref.model.notes import Array, IntArray, Notes
from streamcoref.model.parts import Surroundings
from streamcoref.model.spans import SegmentSpans


class SpanKind(IntEnum):
    """Of a span. Each kind of person is followed by that of the other: I, you."""

    OTHER = 0
    NAME = 1
    THIRD = 2  # a pronoun of the third person, or we
    NARRATED_I, NARRATED_YOU = 3, 4  # outside quotations
    QUOTED_I, QUOTED_YOU = 5, 6
    SPOKEN_I, SPOKEN_YOU = 7, 8  # by a speaker who is known


class Value(IntEnum):
    """What a span and an entity are to each other. Of a span that is neither name nor pronoun: NOTHING."""

    NOTHING = 0
    # Of a name: the entity has none, or one contains the other, or some words are shared, or none is.
    NAMELESS, SAME_NAME, SHARED_NAME, OTHER_NAME = 1, 2, 3, 4
    # Of a pronoun of the third person: the entity has no gender, or this one, or only others.
    UNGENDERED, SAME_GENDER, OTHER_GENDER = 5, 6, 7
    # Of I and you: the entity was neither yet; or, outside quotations, the same person there; or only something else.
    SILENT, SAME_NARRATION, OTHER_VOICE = 8, 9, 10
    # In a quotation, against the entity's latest one, the person being the same (I and I):
    SAME_TURN, ANSWER, NEXT_TURN, TURN_AFTER, LATER_TURN = 11, 12, 13, 14, 15
    # And not the same (I and you):
    SAME_TURN_OTHER, ANSWER_OTHER, NEXT_TURN_OTHER, TURN_AFTER_OTHER, LATER_TURN_OTHER = 16, 17, 18, 19, 20
    # With known speakers: the same one, or another; the person being the same, or not.
    SAME_SPEAKER, OTHER_SPEAKER, SAME_SPEAKER_OTHER, OTHER_SPEAKER_OTHER = 21, 22, 23, 24


# Names that share a part or nothing, another gender, an "I" of another speaker, a "you" that is its own speaker
_CONFLICTS: dict[int, float] = {
    Value.SHARED_NAME: 1.0,
    Value.OTHER_NAME: 1.0,
    Value.OTHER_GENDER: 1.0,
    Value.OTHER_SPEAKER: 1.0,
    Value.SAME_SPEAKER_OTHER: 1.0,
}
_NARRATED_I = int(SpanKind.NARRATED_I)  # as a number, which is found far quicker than the member of an enum
_TURNS = Value.SAME_TURN_OTHER - Value.SAME_TURN  # how many places of a turn are told apart
_NEVER = 1 << 40  # more turns than a text can have
_NO_WORD = -1  # a hash that no word has, and not an entity's empty place either, which is 0


class Agreement(PairFeature):
    """`span_names` are the name words of a span that count, at most; an entity keeps its latest `names`."""

    name = "agreement"
    buckets = len(Value)
    conflicts = _CONFLICTS

    def __init__(self, names: int, span_names: int, lexicon: Lexicon) -> None:
        self.names, self.span_names, self.lexicon = names, span_names, lexicon
        self.span_columns = np.dtype(
            [("kind", np.int64), ("name", np.int64, (span_names,)), ("gender", np.int64), ("voice", np.int64)]
        )
        self.entity_columns = np.dtype(
            [
                ("names", np.int64, (names,)),  # hashes of words, newest first, 0 where there is none
                ("genders", np.int64),  # all that were seen, together
                ("voices", np.int64, (2,)),  # the latest that said I of it, and you; 0 if none did
            ]
        )

    def trackers(self) -> list[WordTracker]:
        return [Voices(self.lexicon)]

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        voices, first = spans.segment.tracks[Voices.name], spans.segment.first_word
        rows = [
            self._read(seen, voices[start - first])
            for seen, (start, _) in zip(spans.read(read_mention, self.lexicon), spans.word_spans, strict=True)
        ]
        columns = zip(*rows, strict=True) if rows else [()] * len(self.span_columns.names or ())
        return {
            name: np.array(column, dtype=np.int64).reshape(-1, *self.span_columns[name].shape)
            for name, column in zip(self.span_columns.names or (), columns, strict=True)
        }

    def _read(self, seen: MentionWords, voice: int) -> tuple[SpanKind, tuple[int, ...], int, int]:
        """A span's columns; the first of its words is said by `voice`."""
        nobody = (_NO_WORD,) * self.span_names
        if seen.person is not None:
            quoted = SpanKind.SPOKEN_I if is_speaker(voice) else SpanKind.QUOTED_I
            kind = SpanKind.NARRATED_I if voice == NARRATOR else quoted
            return SpanKind(kind + seen.person), nobody, 0, voice
        if seen.pronoun:
            return SpanKind.THIRD, nobody, int(seen.pronoun), voice
        names = tuple(map(text_hash, seen.names))
        return SpanKind.NAME if names else SpanKind.OTHER, (*names, *nobody)[: self.span_names], int(seen.gender), voice

    def note(self, entities: Notes, slot: int, spans: Notes, span: int) -> None:
        kind = int(spans["kind"][span])
        entities["genders"][slot] |= spans["gender"][span]
        if kind == SpanKind.NAME:
            known = [name for name in entities["names"][slot].tolist() if name]
            new = [name for name in spans["name"][span].tolist() if name != _NO_WORD and name not in known]
            names = [*new, *known][: self.names]
            entities["names"][slot, : len(names)] = names
        elif kind >= SpanKind.NARRATED_I:
            entities["voices"][slot, person_of(kind)] = spans["voice"][span]

    def is_sound(self, entities: Notes) -> bool:
        genders = entities["genders"]
        return bool(((genders >= 0) & (genders <= _ALL_GENDERS)).all())

    def compare(self, spans: Notes, entities: Notes) -> IntArray | int:
        if spans.dimensions == 0:
            kind = int(spans["kind"])
            return _RULES[kind](spans, entities) if kind else Value.NOTHING
        kinds = spans["kind"][:, 0]
        shape = np.broadcast_shapes(spans["place"].shape, entities["place"].shape)
        values = np.zeros(shape, dtype=np.int64)
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero(kinds == kind)
            own = entities.dimensions == 2 and len(entities) > 1  # each span has entities of its own
            values[rows] = _RULES[kind](spans.at(rows), entities.at(rows) if own else entities)
        return values


def person_of(kind: int) -> int:
    """0 for I, 1 for you."""
    return (kind - _NARRATED_I) % 2


def _nothing(_spans: Notes, _entities: Notes) -> int:
    return Value.NOTHING


def _names(spans: Notes, entities: Notes) -> IntArray:
    mine, theirs = spans["name"], entities["names"]
    words = (mine != _NO_WORD).sum(-1)
    found: Any = 0  # how many of the span's words the entity has
    shared: Any = theirs == 0  # which of the entity's words the span has, empty places counted
    for place in range(int(words.max())):
        equal = theirs == mine[..., place, None]
        found = found + equal.any(-1)
        shared = shared | equal
    same = (found == words) | shared.all(-1)
    # nameless before same before shared before other
    value = np.where(same, Value.SAME_NAME, Value.OTHER_NAME - (found > 0))
    return np.where(theirs[..., 0] == 0, Value.NAMELESS, value)


def _gender(spans: Notes, entities: Notes) -> IntArray:
    return _OF_GENDERS[spans["gender"], entities["genders"]]


def _elsewhere(entities: Notes) -> IntArray:
    """The value of an entity that was never I or you, or not in this kind of voice."""
    return np.where(entities["voices"].any(-1), Value.OTHER_VOICE, Value.SILENT)


def _narrated(_spans: Notes, entities: Notes, person: int) -> IntArray:
    return np.where(entities["voices"][..., person] == NARRATOR, Value.SAME_NARRATION, _elsewhere(entities))


def _quoted(spans: Notes, entities: Notes, person: int) -> IntArray:
    voice, voices = spans["voice"], entities["voices"]
    ago = np.where(is_turn(voices), turn_of(voice)[..., None] - turn_of(voices), _NEVER)  # [..., 2], turns
    mine, other = ago[..., person], ago[..., 1 - person]
    nearest = np.maximum(np.minimum(mine, other), 0)  # what lies ahead is never asked, but may be computed
    # 0, the answer to it 1, next 2, the one after 3, later 4
    place = np.where(nearest == 1, 2 - answers(voice), np.minimum(nearest + (nearest > 0), _TURNS - 1))
    return np.where(nearest == _NEVER, _elsewhere(entities), Value.SAME_TURN + place + _TURNS * (other < mine))


def _spoken(spans: Notes, entities: Notes, person: int) -> IntArray:
    first, second = entities["voices"][..., 0], entities["voices"][..., 1]
    voice = np.where(is_speaker(first), first, second)  # who says I is surer than who says you
    other_person = is_speaker(first) == (person == 1)
    value = Value.SAME_SPEAKER + (voice != spans["voice"]) + 2 * other_person
    return np.where(is_speaker(voice), value, _elsewhere(entities))


def _of_genders(mine: int, theirs: int) -> Value:
    return Value.UNGENDERED if not theirs else Value.SAME_GENDER if mine & theirs else Value.OTHER_GENDER


_ALL_GENDERS = sum(Gender)
# [a pronoun's gender, the genders of an entity], all of which are a few bits
_OF_GENDERS = np.array(
    [[_of_genders(mine, theirs) for theirs in range(_ALL_GENDERS + 1)] for mine in range(_ALL_GENDERS + 1)]
)

_RULES: list[Callable[[Notes, Notes], IntArray | int]] = [
    _nothing,
    _names,
    _gender,
    *(partial(rule, person=person) for rule in (_narrated, _quoted, _spoken) for person in (0, 1)),
]


class AgreementOptions(FeatureOptions):
    name: Literal["agreement"] = "agreement"
    names: PositiveInt = 6
    span_names: PositiveInt = 4

    def build(self, around: Surroundings) -> PairFeature:
        return Agreement(self.names, self.span_names, around.lexicon)
