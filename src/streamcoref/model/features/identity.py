"""Whether a span can be an entity, as far as names, genders, and who says "I" to whom tell.

A span has a kind, a name, a gender, the voice that says it, and, if it is the *I* or *you* of a quotation, who speaks
and who listens, as far as the conversation so far tells. An entity counts its names and genders, a fixed number of
them, so that a few wrong ones are outvoted, and remembers the voices that said "I" and "you". Comparing the two gives
one of the numbers of `Likeness`, each of which has an embedding in the scorer: what follows from a shared surname, or
from a cue that names another speaker, is learned.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from pydantic import PositiveInt

from streamcoref.language.hashes import text_hash
from streamcoref.language.lexicon import Lexicon
from streamcoref.language.names import MentionWords, read_mention
from streamcoref.language.quotations import NARRATED
from streamcoref.language.trackers import WordTracker
from streamcoref.language.voices import NARRATOR, TurnVoices, Voices, answers, is_speaker, is_turn, turn_of
from streamcoref.model.conversation import Conversation
from streamcoref.model.features.agreement import SpanKind, person_of
from streamcoref.model.features.base import FeatureOptions, PairFeature
from streamcoref.model.features.likeness import BEGINNINGS, CONFLICTS, Likeness
from streamcoref.model.features.name_votes import COUNTED, PLACES, agreement, compare_names, is_nameless, title_number
from streamcoref.model.notes import Array, BoolArray, IntArray, Notes, some
from streamcoref.model.parts import Surroundings
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.turns import NOBODY

_TURNS = Likeness.SAME_TURN_OTHER - Likeness.SAME_TURN  # how many places of a turn are told apart
_CONVERSATION = 4  # turns in which who spoke without a name may speak again
_NEVER = 1 << 40  # more turns than a text can have
_NO_WORD = -1  # a hash that no word has, and not an entity's empty place either, which is 0
_PROBABLE, _SURE = 0.7, 0.9  # how often a way to know a speaker is right, at least
# As numbers, which are found far quicker than the members of an enum.
_OTHER, _NAME, _THIRD, _NARRATED_I, _NARRATED_YOU, _QUOTED_I, _QUOTED_YOU, _SPOKEN_I, _ = (int(k) for k in SpanKind)
_NOTHING, _NARRATES, _OTHER_VOICE = int(Likeness.NOTHING), int(Likeness.NARRATES), int(Likeness.OTHER_VOICE)
_MEANT, _NEITHER = int(Likeness.MEANT_PERHAPS), int(Likeness.NEITHER_PERHAPS)
_REVERSED, _SAME_TURN = int(Likeness.REVERSED), int(Likeness.SAME_TURN)
# What two names are to each other, by whether a value is one of these.
_BY_NAME = np.isin(
    np.arange(len(Likeness)), [*range(Likeness.SAME_NAME, Likeness.UNGENDERED), Likeness.NAMELESS_CLASHES]
)
_SILENT = np.array([Likeness.SILENT_NAMED, Likeness.SILENT])  # by whether it has no name


Rule = Callable[[Notes, Notes], "IntArray | int"]


class NameForm(NamedTuple):
    """A name as it is compared: its title, its first word and its last, which of a single word are one."""

    title: int = 0
    first: int = _NO_WORD
    last: int = _NO_WORD


class Identity(PairFeature):
    """An entity counts `names` forms of its name; of more, the rarest is forgotten."""

    name = "identity"
    buckets = len(Likeness)
    beginnings = BEGINNINGS
    conflicts = CONFLICTS
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
        self._rules = _rules(lexicon)
        self.entity_columns = np.dtype(
            [
                ("titles", np.int64, (names,)),  # of the forms of its name
                ("firsts", np.int64, (names,)),
                ("lasts", np.int64, (names,)),
                ("called", np.int64, (names,)),  # how often each, 0 where there is none
                ("genders", np.int64, (len(COUNTED),)),  # mentions of each
                ("voices", np.int64, (2,)),  # the latest that said I of it, and you; 0 if none did
                ("narrated", np.int64, (2,)),  # how often it was I or you outside of quotations
                ("told", np.int64),  # how often it was told of there, by a name, a noun or a third person
            ]
        )

    def trackers(self) -> list[WordTracker]:
        return [TurnVoices(self.lexicon) if self.lexicon.voices_are_turns else Voices(self.lexicon)]

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        voices, first = spans.segment.tracks[Voices.name], spans.segment.first_word
        rows = [
            self._read(seen, voices[start - first])
            for seen, (start, _) in zip(spans.read(read_mention, self.lexicon), spans.word_spans, strict=True)
        ]
        table = np.array(rows, dtype=np.int64).reshape(len(rows), len(self.span_columns.names or ()))
        return {name: np.ascontiguousarray(table[:, n]) for n, name in enumerate(self.span_columns.names or ())}

    def _read(self, seen: MentionWords, voice: int) -> tuple[int, ...]:
        """A span's columns; the first of its words is said by `voice`."""
        unknown = (NOBODY, NOBODY, 0)
        if seen.person is not None:
            quoted = _SPOKEN_I if is_speaker(voice) else _QUOTED_I
            kind = _NARRATED_I if voice == NARRATOR else quoted
            return (kind + seen.person, *NameForm(), 0, voice, *unknown)
        if seen.pronoun:
            return (_THIRD, *NameForm(), int(seen.pronoun), voice, *unknown)
        names = seen.names
        if seen.alone and (seen.definite or voice == NARRATOR):
            names = (seen.alone,)
        if not names:
            return (_OTHER, *NameForm(), int(seen.gender), voice, *unknown)
        form = NameForm(title_number(seen.title, seen.rank), text_hash(names[0]), text_hash(names[-1]))
        return (_NAME, *form, int(seen.gender), voice, *unknown)

    def waits(self, spans: SegmentSpans) -> list[bool]:
        voices, first = spans.segment.tracks[Voices.name], spans.segment.first_word
        return [
            is_turn(voices[start - first]) and seen.person is not None
            for seen, (start, _) in zip(spans.read(read_mention, self.lexicon), spans.word_spans, strict=True)
        ]

    def settle(self, spans: SegmentSpans, notes: Notes, conversation: Conversation) -> None:
        turns = spans.segment.tracks["quotations"]
        for m in np.flatnonzero((notes["kind"] == _QUOTED_I) | (notes["kind"] == _QUOTED_YOU)).tolist():
            word = spans.word_spans[m][0]
            number = turns[word - spans.segment.first_word]
            turn = conversation.turn_of(number) if number != NARRATED else None
            if turn is None:
                continue
            is_i = notes["kind"][m] == _QUOTED_I
            speaker, addressee = turn.at(word)
            meant, other = (speaker, addressee) if is_i else (addressee, speaker)
            score = turn.score if is_i else turn.heard
            notes["meant"][m], notes["reversed"][m] = meant, other
            notes["sure"][m] = int(score >= _PROBABLE) + int(score >= _SURE)

    def note(self, entities: Notes, slot: int, spans: Notes, span: int) -> None:
        kind = int(spans["kind"][span])
        for place in PLACES[spans["gender"][span]]:
            entities["genders"][slot, place] += 1
        if kind < _NARRATED_I and spans["voice"][span] == NARRATOR:
            entities["told"][slot] += 1
        if kind == _NAME:
            self._note_name(entities, slot, [int(spans[name][span]) for name in ("title", "first", "last")], 1)
        elif kind >= _NARRATED_I:
            entities["voices"][slot, person_of(kind)] = spans["voice"][span]
            if kind <= _NARRATED_YOU:
                entities["narrated"][slot, person_of(kind)] += 1

    def merge(self, entities: Notes, kept: int, gone: int) -> None:
        for place, votes in enumerate(entities["called"][gone].tolist()):
            if votes:
                form = [int(entities[name][gone, place]) for name in ("titles", "firsts", "lasts")]
                self._note_name(entities, kept, form, votes)
        for name in ("genders", "narrated", "told"):
            entities[name][kept] += entities[name][gone]
        for person in (0, 1):  # turns count upwards, and a turn is later than narration
            if abs(entities["voices"][gone, person]) > abs(entities["voices"][kept, person]):
                entities["voices"][kept, person] = entities["voices"][gone, person]

    def begin_again(self, entities: Notes, slot: int) -> None:
        entities["voices"][slot] = 0

    def _note_name(self, entities: Notes, slot: int, form: list[int], votes: int) -> None:
        columns = [entities[name][slot] for name in ("titles", "firsts", "lasts")]
        called = entities["called"][slot]
        known = zip(called.tolist(), *(column.tolist() for column in columns), strict=True)
        place = next((n for n, (times, *one) in enumerate(known) if times and one == form), None)
        if place is None:
            place = int(called.argmin())
            called[place] = 0
            for column, value in zip(columns, form, strict=True):
                column[place] = value
        called[place] += votes

    def is_sound(self, entities: Notes) -> bool:
        called, genders, narrated, told = (entities[name] for name in ("called", "genders", "narrated", "told"))
        if not all(bool((count >= 0).all()) for count in (called, genders, narrated, told)):
            return False
        # A mention has one name at most, or is I or you at most once; its gender may be several.
        sizes, spoken = entities["size"], narrated.sum(-1)
        counts = np.maximum(called.sum(-1), told) + spoken
        return bool((counts <= sizes).all() and (genders <= sizes[:, None]).all())

    def compare(self, spans: Notes, entities: Notes) -> IntArray | int:
        if spans.dimensions == 0:
            return self._rules[int(spans["kind"])](spans, entities)
        kinds = spans["kind"][:, 0]
        shape = np.broadcast_shapes(spans["place"].shape, entities["place"].shape)
        values = np.zeros(shape, dtype=np.int64)
        for kind in np.unique(kinds).tolist():
            rows = np.flatnonzero(kinds == kind)
            own = entities.dimensions == 2 and len(entities) > 1  # each span has entities of its own
            values[rows] = self._rules[kind](spans.at(rows), entities.at(rows) if own else entities)
        return values


def _nouns(spans: Notes, entities: Notes) -> IntArray | int:
    if not some(spans["gender"]):
        return _NOTHING
    value = _OF_NOUNS.take(agreement(spans, entities))
    return np.where(spans["gender"] == 0, _NOTHING, value) if spans.dimensions else value


# By agreement
_OF_NOUNS = np.array([Likeness.NOUN_CLASHES, Likeness.NOUN_AT_TIMES, Likeness.NOUN_UNGENDERED, Likeness.NOUN_AGREES])
_OF_PRONOUNS = np.array(  # of entities that have a name, and of nameless ones
    [
        [Likeness.OTHER_GENDER, Likeness.GENDER_AT_TIMES, Likeness.UNGENDERED_NAME, Likeness.SAME_GENDER],
        [Likeness.OTHER_GENDER, Likeness.GENDER_AT_TIMES, Likeness.UNGENDERED, Likeness.SAME_GENDER_NAMELESS],
    ]
)


def _gender(spans: Notes, entities: Notes) -> IntArray | int:
    agrees = agreement(spans, entities)
    agrees |= is_nameless(entities).view(np.int8) << 2
    value, told = _OF_PRONOUNS.take(agrees), spans["voice"] == NARRATOR
    if not some(told):
        return value
    return _but_narrators(value, told, 2 * entities["narrated"][..., 0] > entities["size"])


def _but_narrators(value: IntArray | int, told: BoolArray, narrates: BoolArray) -> IntArray | int:
    """A span that is told of is none of the entities that narrate; in most texts there are none."""
    return np.where(told & narrates, _NARRATES, value) if some(narrates) else value


def _elsewhere(entities: Notes) -> IntArray:
    """The value of an entity that was never I or you, or not in this kind of voice."""
    return np.where(entities["voices"].any(-1), _OTHER_VOICE, _SILENT.take(is_nameless(entities)))


def _narrated(_spans: Notes, entities: Notes, person: int) -> IntArray:
    return np.where(entities["narrated"][..., person] > 0, Likeness.SAME_NARRATION, _elsewhere(entities))


def _narrator(spans: Notes, entities: Notes) -> IntArray:
    """Of an "I" outside of quotations, which is nobody who is told of there."""
    others = entities["told"] > entities["narrated"][..., 0]
    return np.where(others, _NARRATES, _narrated(spans, entities, person=0))


def _told(spans: Notes, entities: Notes, rule: Rule) -> IntArray | int:
    """By a rule for who is told of. Outside of quotations that is not who narrates, unless a name says so."""
    value, told = rule(spans, entities), spans["voice"] == NARRATOR
    if not some(told):
        return value
    narrates = entities["narrated"][..., 0] > entities["told"]
    return _but_narrators(value, told, narrates & ~_BY_NAME[value]) if some(narrates) else value


def _quoted(spans: Notes, entities: Notes, person: int, fade: bool) -> IntArray:
    meant, reversed_, sure, ids = spans["meant"], spans["reversed"], spans["sure"], entities["id"]
    known = np.where(
        ids == meant,
        _MEANT + sure,
        np.where(ids == reversed_, _REVERSED, _NEITHER + sure),
    )
    if not some(meant == NOBODY):
        return known
    guess = _by_turns(spans, entities, person, fade)
    guess = np.where((ids == reversed_) & (reversed_ != NOBODY), _REVERSED, guess)
    return np.where(meant == NOBODY, guess, known)


def _by_turns(spans: Notes, entities: Notes, person: int, fade: bool) -> IntArray:
    """By how many turns ago the entity said I or you."""
    voice, voices = spans["voice"], entities["voices"]
    ago = np.where(is_turn(voices), turn_of(voice)[..., None] - turn_of(voices), _NEVER)  # [..., 2], turns
    mine, other = ago[..., person], ago[..., 1 - person]
    nearest = np.maximum(np.minimum(mine, other), 0)  # what lies ahead is never asked, but may be computed
    # 0, the answer to it 1, next 2, the one after 3, later 4
    place = np.where(nearest == 1, 2 - answers(voice), np.minimum(nearest + (nearest > 0), _TURNS - 1))
    value = np.where(nearest == _NEVER, _elsewhere(entities), _SAME_TURN + place + _TURNS * (other < mine))
    if not fade:
        return value
    # What is said by nobody knows whom, here and there, is not all said by one.
    strangers = (nearest > _CONVERSATION) & (nearest < _NEVER) & is_nameless(entities)
    return np.where(strangers, _NEITHER, value)


def _spoken(spans: Notes, entities: Notes, person: int) -> IntArray:
    first, second = entities["voices"][..., 0], entities["voices"][..., 1]
    voice = np.where(is_speaker(first), first, second)  # who says I is surer than who says you
    other_person = is_speaker(first) == (person == 1)
    value = Likeness.SAME_SPEAKER + (voice != spans["voice"]) + 2 * other_person
    return np.where(is_speaker(voice), value, _elsewhere(entities))


def _rules(lexicon: Lexicon) -> list[Rule]:
    """How spans of each kind are compared."""
    names = partial(compare_names, fade=lexicon.mistakes_fade, titles_tell=lexicon.titles_tell)
    quoted = partial(_quoted, fade=lexicon.mistakes_fade)
    persons = [partial(rule, person=person) for rule in (_narrated, quoted, _spoken) for person in (0, 1)]
    if not lexicon.narrators_are_apart:
        return [_nouns, names, _gender, *persons]
    return [*(partial(_told, rule=rule) for rule in (_nouns, names, _gender)), _narrator, *persons[1:]]


class IdentityOptions(FeatureOptions):
    name: Literal["identity"] = "identity"
    names: PositiveInt = 8

    def build(self, around: Surroundings) -> PairFeature:
        return Identity(self.names, around.lexicon)
