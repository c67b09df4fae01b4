"""Whether a span can be an entity, as far as names, genders, and who says "I" to whom tell.

A span has a kind, a name, a gender, the voice that says it, and, if it is the *I* or *you* of a quotation, who speaks
and who listens, as far as the conversation so far tells. An entity counts its names and genders, a fixed number of
them, so that a few wrong ones are outvoted, and remembers the voices that said "I" and "you". Comparing the two gives
one of the numbers of `Likeness`, each of which has an embedding in the scorer: what follows from a shared surname, or
from a cue that names another speaker, is learned.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import PositiveInt

from streamcoref.language.english import Gender, Lexicon
from streamcoref.language.hashes import text_hash
from streamcoref.language.names import read_mention
from streamcoref.language.quotations import NARRATED
from streamcoref.language.trackers import WordTracker
from streamcoref.language.voices import NARRATOR, Voices, answers, is_speaker, is_turn, turn_of
from streamcoref.model.conversation import NOBODY, Conversation
from streamcoref.model.features.agreement import SpanKind, person_of
from streamcoref.model.features.base import Beginning, FeatureOptions, PairFeature
from streamcoref.model.notes import Array, BoolArray, IntArray, Notes
from streamcoref.model.parts import Surroundings
from streamcoref.model.spans import SegmentSpans


class Likeness(IntEnum):
    """What a span and an entity are to each other. Of a span that tells neither name nor gender: NOTHING."""

    NOTHING = 0
    # Of a name: the entity has none; or it is called so, mostly or at times; or by a part or more of it, mostly or at
    # times; by a title and the surname, where one has the given name; by the surname with another given name; mostly by
    # the surname with another title (Mr. and Mrs.); or by none of its words.
    NAMELESS, SAME_NAME, SAME_AT_TIMES, PART_OF_NAME, PART_AT_TIMES = 1, 2, 3, 4, 5
    TITLE_AND_SURNAME, OF_THE_FAMILY, OTHER_TITLE, OTHER_NAME = 6, 7, 8, 9
    # Of a pronoun of the third person: the entity has no gender, being nameless or not; or mostly this one, being
    # nameless or not; or at times; or only others.
    UNGENDERED, UNGENDERED_NAME, SAME_GENDER, SAME_GENDER_NAMELESS, GENDER_AT_TIMES, OTHER_GENDER = (
        10,
        11,
        12,
        13,
        14,
        15,
    )
    # Of I and you: the entity was neither yet; or, outside quotations, the same person there; or only something else.
    SILENT, SAME_NARRATION, OTHER_VOICE = 16, 17, 18
    # In a quotation whose speaker (of I) or listener (of you) is known, surely, probably or perhaps: the entity is that
    # one; or the other of the two; or neither of them.
    MEANT_PERHAPS, MEANT_PROBABLY, MEANT = 19, 20, 21
    NEITHER_PERHAPS, NEITHER_PROBABLY, NEITHER = 22, 23, 24
    REVERSED = 25
    # Else, against the entity's latest quotation, the person being the same (I and I):
    SAME_TURN, ANSWER, NEXT_TURN, TURN_AFTER, LATER_TURN = 26, 27, 28, 29, 30
    # And not the same (I and you):
    SAME_TURN_OTHER, ANSWER_OTHER, NEXT_TURN_OTHER, TURN_AFTER_OTHER, LATER_TURN_OTHER = 31, 32, 33, 34, 35
    # With speakers that the text itself names: the same one, or another; the person being the same, or not.
    SAME_SPEAKER, OTHER_SPEAKER, SAME_SPEAKER_OTHER, OTHER_SPEAKER_OTHER = 36, 37, 38, 39
    # Of a name whose gender is known: the entity has no name, but mostly this gender, or only others.
    NAMELESS_AGREES, NAMELESS_CLASHES = 40, 41
    # Of a noun that tells a gender ("the girl"): the entity has none, or mostly this one, or at times, or only others.
    NOUN_UNGENDERED, NOUN_AGREES, NOUN_AT_TIMES, NOUN_CLASHES = 42, 43, 44, 45
    # Of I and you: the entity was neither yet, but has a name. Of a pronoun of the third person outside of quotations:
    # the entity is mostly who narrates.
    SILENT_NAMED, NARRATES = 46, 47


# What no two mentions are to each other. A cue is believed more than anything else that a baseline knows; how much more
# was tried on LitBank's and OntoGUM's dev parts, and is learnt from there.
_BEGINNINGS: dict[int, Beginning] = {
    Likeness.SAME_AT_TIMES: Beginning(Likeness.SAME_NAME, 0.0),
    Likeness.PART_AT_TIMES: Beginning(Likeness.PART_OF_NAME, 0.0),
    Likeness.GENDER_AT_TIMES: Beginning(Likeness.SAME_GENDER, -1.0),
    Likeness.NOUN_AT_TIMES: Beginning(Likeness.NOUN_AGREES, -1.0),
    Likeness.MEANT_PERHAPS: Beginning(Likeness.SAME_TURN, 3.0),
    Likeness.MEANT_PROBABLY: Beginning(Likeness.SAME_TURN, 5.0),
    Likeness.MEANT: Beginning(Likeness.SAME_TURN, 6.0),
    Likeness.NEITHER_PERHAPS: Beginning(Likeness.OTHER_VOICE, -1.0),
    Likeness.NEITHER_PROBABLY: Beginning(Likeness.OTHER_VOICE, -2.0),
    Likeness.NEITHER: Beginning(Likeness.OTHER_VOICE, -3.0),
    Likeness.REVERSED: Beginning(Likeness.SAME_TURN_OTHER, -3.0),
}
_CONFLICTS: dict[int, float] = {
    Likeness.OTHER_NAME: 1.0,
    Likeness.OTHER_TITLE: 1.0,
    Likeness.OF_THE_FAMILY: 0.5,  # it may be a wife under her husband's name
    Likeness.NAMELESS_CLASHES: 1.0,
    Likeness.OTHER_GENDER: 1.0,
    Likeness.GENDER_AT_TIMES: 0.7,  # it was wrong before, most likely
    Likeness.NOUN_CLASHES: 1.0,
    Likeness.NOUN_AT_TIMES: 0.7,
    Likeness.NARRATES: 0.7,
    Likeness.OTHER_SPEAKER: 1.0,  # an "I" of somebody else
    Likeness.SAME_SPEAKER_OTHER: 1.0,  # a "you" that is its own speaker
}
_TURNS = Likeness.SAME_TURN_OTHER - Likeness.SAME_TURN  # how many places of a turn are told apart
_NEVER = 1 << 40  # more turns than a text can have
_NO_WORD = -1  # a hash that no word has, and not an entity's empty place either, which is 0
_PROBABLE, _SURE = 0.7, 0.9  # how often a way to know a speaker is right, at least
_COUNTED = (Gender.HE, Gender.SHE, Gender.IT, Gender.THEY, Gender.WE)
HE, SHE = _COUNTED.index(Gender.HE), _COUNTED.index(Gender.SHE)  # their places among an entity's counts


class NameForm(NamedTuple):
    """A name as it is compared: its title's gender, its first word and its last, which of a single word are one."""

    title: int = 0
    first: int = _NO_WORD
    last: int = _NO_WORD


class Identity(PairFeature):
    """An entity counts `names` forms of its name; of more, the rarest is forgotten."""

    name = "identity"
    buckets = len(Likeness)
    beginnings = _BEGINNINGS
    conflicts = _CONFLICTS
    span_columns = np.dtype(
        [
            ("kind", np.int64),
            ("title", np.int64),
            ("first", np.int64),
            ("last", np.int64),
            ("gender", np.int64),
            ("voice", np.int64),
            ("meant", np.int64),  # the entity that I or you should be, NOBODY where unknown
            ("reversed", np.int64),  # the one that it should not be
            ("sure", np.int64),  # 0, 1 or 2: perhaps, probably, surely
        ]
    )

    def __init__(self, names: int, lexicon: Lexicon) -> None:
        self.names, self.lexicon = names, lexicon
        self.entity_columns = np.dtype(
            [
                ("titles", np.int64, (names,)),  # of the forms of its name
                ("firsts", np.int64, (names,)),
                ("lasts", np.int64, (names,)),
                ("called", np.int64, (names,)),  # how often each, 0 where there is none
                ("genders", np.int64, (len(_COUNTED),)),  # mentions of each
                ("voices", np.int64, (2,)),  # the latest that said I of it, and you; 0 if none did
                ("narrated", np.int64, (2,)),  # how often it was I or you outside of quotations
            ]
        )

    def trackers(self) -> list[WordTracker]:
        return [Voices(self.lexicon)]

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        voices, first = spans.segment.tracks[Voices.name], spans.segment.first_word
        rows = [
            self._read(words, voices[start - first])
            for words, (start, _) in zip(spans.texts, spans.word_spans, strict=True)
        ]
        table = np.array(rows, dtype=np.int64).reshape(len(rows), len(self.span_columns.names or ()))
        return {name: np.ascontiguousarray(table[:, n]) for n, name in enumerate(self.span_columns.names or ())}

    def _read(self, words: tuple[str, ...], voice: int) -> tuple[int, ...]:
        """A span's columns; the first of its words is said by `voice`."""
        seen = read_mention(words, self.lexicon)
        unknown = (NOBODY, NOBODY, 0)
        if seen.person is not None:
            quoted = SpanKind.SPOKEN_I if is_speaker(voice) else SpanKind.QUOTED_I
            kind = SpanKind.NARRATED_I if voice == NARRATOR else quoted
            return (SpanKind(kind + seen.person), *NameForm(), 0, voice, *unknown)
        if seen.pronoun:
            return (SpanKind.THIRD, *NameForm(), int(seen.pronoun), voice, *unknown)
        if not seen.names:
            return (SpanKind.OTHER, *NameForm(), int(seen.gender), voice, *unknown)
        form = NameForm(int(seen.title), text_hash(seen.names[0]), text_hash(seen.names[-1]))
        return (SpanKind.NAME, *form, int(seen.gender), voice, *unknown)

    def waits(self, spans: SegmentSpans) -> list[bool]:
        voices, first = spans.segment.tracks[Voices.name], spans.segment.first_word
        return [
            is_turn(voices[start - first]) and read_mention(words, self.lexicon).person is not None
            for words, (start, _) in zip(spans.texts, spans.word_spans, strict=True)
        ]

    def settle(self, spans: SegmentSpans, notes: Notes, conversation: Conversation) -> None:
        turns = spans.segment.tracks["quotations"]
        for m in np.flatnonzero((notes["kind"] == SpanKind.QUOTED_I) | (notes["kind"] == SpanKind.QUOTED_YOU)).tolist():
            number = turns[spans.word_spans[m][0] - spans.segment.first_word]
            turn = conversation.turn_of(number) if number != NARRATED else None
            if turn is None:
                continue
            is_i = notes["kind"][m] == SpanKind.QUOTED_I
            meant, other = (turn.speaker, turn.addressee) if is_i else (turn.addressee, turn.speaker)
            score = turn.score if is_i else turn.heard
            notes["meant"][m], notes["reversed"][m] = meant, other
            notes["sure"][m] = int(score >= _PROBABLE) + int(score >= _SURE)

    def note(self, entities: Notes, slot: int, spans: Notes, span: int) -> None:
        kind, gender = int(spans["kind"][span]), int(spans["gender"][span])
        for place, counted in enumerate(_COUNTED):
            if gender & counted:
                entities["genders"][slot, place] += 1
        if kind == SpanKind.NAME:
            self._note_name(entities, slot, [int(spans[name][span]) for name in ("title", "first", "last")], 1)
        elif kind >= SpanKind.NARRATED_I:
            entities["voices"][slot, person_of(kind)] = spans["voice"][span]
            if kind <= SpanKind.NARRATED_YOU:
                entities["narrated"][slot, person_of(kind)] += 1

    def merge(self, entities: Notes, kept: int, gone: int) -> None:
        for place, votes in enumerate(entities["called"][gone].tolist()):
            if votes:
                form = [int(entities[name][gone, place]) for name in ("titles", "firsts", "lasts")]
                self._note_name(entities, kept, form, votes)
        for name in ("genders", "narrated"):
            entities[name][kept] += entities[name][gone]
        for person in (0, 1):  # turns count upwards, and a turn is later than narration
            if abs(entities["voices"][gone, person]) > abs(entities["voices"][kept, person]):
                entities["voices"][kept, person] = entities["voices"][gone, person]

    def begin_again(self, entities: Notes, slot: int) -> None:
        entities["voices"][slot] = 0

    def _note_name(self, entities: Notes, slot: int, form: Sequence[int], votes: int) -> None:
        columns = [entities[name][slot] for name in ("titles", "firsts", "lasts")]
        called = entities["called"][slot]
        same = np.logical_and.reduce([column == value for column, value in zip(columns, form, strict=True)]) & (
            called > 0
        )
        place = int(same.argmax()) if same.any() else int(called.argmin())
        if not same.any():
            called[place] = 0
            for column, value in zip(columns, form, strict=True):
                column[place] = value
        called[place] += votes

    def is_sound(self, entities: Notes) -> bool:
        called, genders, narrated = entities["called"], entities["genders"], entities["narrated"]
        if not all(bool((count >= 0).all()) for count in (called, genders, narrated)):
            return False
        # A mention has one name at most, or is I or you at most once; its gender may be several.
        sizes = entities["size"]
        return bool((called.sum(-1) + narrated.sum(-1) <= sizes).all() and (genders <= sizes[:, None]).all())

    def compare(self, spans: Notes, entities: Notes) -> IntArray | int:
        if spans.dimensions == 0:
            return _RULES[int(spans["kind"])](spans, entities)
        kinds = spans["kind"][:, 0]
        shape = np.broadcast_shapes(spans["place"].shape, entities["place"].shape)
        values = np.zeros(shape, dtype=np.int64)
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero(kinds == kind)
            own = entities.dimensions == 2 and len(entities) > 1  # each span has entities of its own
            values[rows] = _RULES[kind](spans.at(rows), entities.at(rows) if own else entities)
        return values


def _nouns(spans: Notes, entities: Notes) -> IntArray | int:
    if not spans["gender"].any():
        return Likeness.NOTHING
    own, every = _votes_of_gender(spans, entities)
    value = np.where(2 * own >= every, Likeness.NOUN_AGREES, Likeness.NOUN_AT_TIMES)
    value = np.where(own == 0, np.where(every == 0, Likeness.NOUN_UNGENDERED, Likeness.NOUN_CLASHES), value)
    return np.where(spans["gender"] == 0, Likeness.NOTHING, value)


def _votes_of_gender(spans: Notes, entities: Notes) -> tuple[IntArray, IntArray]:
    """How many of an entity's mentions have a span's gender, and how many have any."""
    mine = (spans["gender"][..., None] & np.array(_COUNTED)) > 0  # [..., genders]
    counts = entities["genders"]
    return np.where(mine, counts, 0).sum(-1), counts.sum(-1)


def _names(spans: Notes, entities: Notes) -> IntArray:
    """Each form of the entity's name votes as often as it was called so."""
    title, first, last = (spans[name][..., None] for name in ("title", "first", "last"))
    titles, firsts, lasts, called = (entities[name] for name in ("titles", "firsts", "lasts", "called"))
    all_called = called.sum(-1)
    clash = (title != 0) & (titles != 0) & (title != titles)  # Mr. and Mrs.
    same = (first == firsts) & (last == lasts) & ~clash
    single, singles = first == last, firsts == lasts
    shares_last = last == lasts
    within = (single & ((last == firsts) | shares_last)) | (singles & ((lasts == first) | shares_last))
    titled = shares_last & ((single & (title != 0)) | (singles & (titles != 0))) & (single != singles)
    part = within & ~clash & ~titled

    def votes(which: Any) -> IntArray:
        counts: IntArray = np.where(which, called, 0).sum(-1)
        return counts

    whole, some = votes(same), votes(same | part)
    value = np.where(votes(shares_last) > 0, Likeness.OF_THE_FAMILY, Likeness.OTHER_NAME)
    value = np.where(votes(titled & ~clash) > 0, Likeness.TITLE_AND_SURNAME, value)
    value = np.where(some > 0, np.where(2 * some >= all_called, Likeness.PART_OF_NAME, Likeness.PART_AT_TIMES), value)
    value = np.where(whole > 0, np.where(3 * whole >= all_called, Likeness.SAME_NAME, Likeness.SAME_AT_TIMES), value)
    value = np.where(2 * votes(shares_last & clash) > all_called, Likeness.OTHER_TITLE, value)
    own, every = _votes_of_gender(spans, entities)
    nameless = np.where(2 * own >= every, Likeness.NAMELESS_AGREES, Likeness.NAMELESS)
    nameless = np.where(own == 0, Likeness.NAMELESS_CLASHES, nameless)
    nameless = np.where((every == 0) | (spans["gender"] == 0), Likeness.NAMELESS, nameless)
    return np.where(all_called == 0, nameless, value)


_NAMED = (Likeness.SAME_NAME, Likeness.PART_OF_NAME, Likeness.TITLE_AND_SURNAME)


def named_by(spans: Notes, entities: Notes) -> BoolArray:
    """Which entities [n] are mostly called as one of these spans [k] says, or by a part of it."""
    names = np.flatnonzero(spans["kind"] == SpanKind.NAME)
    words = np.concatenate([spans["first"][names], spans["last"][names]])
    known = (entities["called"] > 0) & (np.isin(entities["firsts"], words) | np.isin(entities["lasts"], words))
    found: BoolArray = np.atleast_1d(known.any(-1))  # few of them, as a rule, so that only these are compared
    rows = np.flatnonzero(found)
    if len(rows):
        likeness = _names(spans.at((names, None)), entities.at(rows))  # [names, rows]
        found[rows] = np.isin(likeness, _NAMED).any(0)
    return found


def _gender(spans: Notes, entities: Notes) -> IntArray:
    own, every = _votes_of_gender(spans, entities)
    nameless = entities["called"].sum(-1) == 0
    value = np.where(nameless, Likeness.SAME_GENDER_NAMELESS, Likeness.SAME_GENDER)
    value = np.where(2 * own >= every, value, np.where(own == 0, Likeness.OTHER_GENDER, Likeness.GENDER_AT_TIMES))
    value = np.where(every == 0, np.where(nameless, Likeness.UNGENDERED, Likeness.UNGENDERED_NAME), value)
    narrates = (spans["voice"] == NARRATOR) & (2 * entities["narrated"][..., 0] > entities["size"])
    return np.where(narrates, Likeness.NARRATES, value)


def _elsewhere(entities: Notes) -> IntArray:
    """The value of an entity that was never I or you, or not in this kind of voice."""
    silent = np.where(entities["called"].any(-1), Likeness.SILENT_NAMED, Likeness.SILENT)
    return np.where(entities["voices"].any(-1), Likeness.OTHER_VOICE, silent)


def _narrated(_spans: Notes, entities: Notes, person: int) -> IntArray:
    return np.where(entities["narrated"][..., person] > 0, Likeness.SAME_NARRATION, _elsewhere(entities))


def _quoted(spans: Notes, entities: Notes, person: int) -> IntArray:
    voice, voices = spans["voice"], entities["voices"]
    ago = np.where(is_turn(voices), turn_of(voice)[..., None] - turn_of(voices), _NEVER)  # [..., 2], turns
    mine, other = ago[..., person], ago[..., 1 - person]
    nearest = np.maximum(np.minimum(mine, other), 0)  # what lies ahead is never asked, but may be computed
    # 0, the answer to it 1, next 2, the one after 3, later 4
    place = np.where(nearest == 1, 2 - answers(voice), np.minimum(nearest + (nearest > 0), _TURNS - 1))
    guess = np.where(nearest == _NEVER, _elsewhere(entities), Likeness.SAME_TURN + place + _TURNS * (other < mine))
    meant, reversed_, sure, ids = spans["meant"], spans["reversed"], spans["sure"], entities["id"]
    known = np.where(
        ids == meant,
        Likeness.MEANT_PERHAPS + sure,
        np.where(ids == reversed_, Likeness.REVERSED, Likeness.NEITHER_PERHAPS + sure),
    )
    guess = np.where((ids == reversed_) & (reversed_ != NOBODY), Likeness.REVERSED, guess)
    return np.where(meant == NOBODY, guess, known)


def _spoken(spans: Notes, entities: Notes, person: int) -> IntArray:
    first, second = entities["voices"][..., 0], entities["voices"][..., 1]
    voice = np.where(is_speaker(first), first, second)  # who says I is surer than who says you
    other_person = is_speaker(first) == (person == 1)
    value = Likeness.SAME_SPEAKER + (voice != spans["voice"]) + 2 * other_person
    return np.where(is_speaker(voice), value, _elsewhere(entities))


_RULES: list[Callable[[Notes, Notes], IntArray | int]] = [
    _nouns,
    _names,
    _gender,
    *(partial(rule, person=person) for rule in (_narrated, _quoted, _spoken) for person in (0, 1)),
]


class IdentityOptions(FeatureOptions):
    name: Literal["identity"] = "identity"
    names: PositiveInt = 8

    def build(self, around: Surroundings) -> PairFeature:
        return Identity(self.names, around.lexicon)
