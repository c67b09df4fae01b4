"""Who speaks, and to whom: the turns of a conversation, as the words around them and the entities so far tell.

Where the narrative says who speaks ("said Anna"), the mention that it says it by has an entity, and so has the turn.
Where it does not, speakers take turns, and who is called by name is who listens. Only the latest few turns are held.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from itertools import pairwise
from typing import Any, NamedTuple

from streamcoref.document import Span
from streamcoref.language.attribution import Cue, Run, SpeakerCue, can_speak, is_called, runs, speaker_cues
from streamcoref.language.english import Lexicon
from streamcoref.language.names import is_name
from streamcoref.language.quotations import NARRATED, Quotations
from streamcoref.model.segments import Segment

NOBODY = -1  # where an entity's number would stand
MOST_TURNS = 3  # the latest ones, of which the next segment may tell more
MOST_PENDING = 8  # quotations of one turn that wait for its speaker
MOST_ANSWERS = 64  # pairs of who answered and who had been called
MOST_BEFORE = 8  # turns before one that tell who should speak it


class Way(StrEnum):
    """How a speaker is known."""

    UNKNOWN = "unknown"
    NAMED = "named"  # “…,” said Anna
    PRONOUN = "pronoun"  # “…,” she said
    NARRATION = "narration"  # Anna smiled. “…”
    TURNS = "turns"  # speakers alternate
    CALLED = "called"  # the turn before or after calls them by name


_BY_CUES = (Way.NAMED, Way.PRONOUN, Way.NARRATION)

# How often each way is right in LitBank's training part, given its mentions: with paragraphs that begin where the
# speaker changes, and without any.
_WITH_PARAGRAPHS = {
    Way.UNKNOWN: 0.0,
    Way.NAMED: 0.94,
    Way.PRONOUN: 0.93,
    Way.TURNS: 0.81,
    Way.NARRATION: 0.68,
    Way.CALLED: 0.67,
}
_WITHOUT = {
    Way.UNKNOWN: 0.0,
    Way.NAMED: 0.75,
    Way.PRONOUN: 0.84,
    Way.TURNS: 0.64,
    Way.NARRATION: 0.61,
    Way.CALLED: 0.52,
}
_CALLED = 0.9  # how sure it is who listens, if called by name


class SpokenQuotation(NamedTuple):
    """Words `span` of the text, a quotation with its marks; entities by their numbers, NOBODY where unknown."""

    span: Span
    start: int | None  # its characters, if the text has them
    end: int | None
    speaker: int
    addressee: int
    way: Way
    score: float


@dataclass(slots=True)
class Turn:
    """What one person says until another one speaks."""

    number: int
    first_paragraph: int
    last_paragraph: int
    end: int  # the number of words before its end
    gap: int  # words of narration before it
    speaker: int = NOBODY
    addressee: int = NOBODY
    way: Way = Way.UNKNOWN
    score: float = 0.0  # how sure the speaker is
    heard: float = 0.0  # and the addressee
    named: bool = False  # whether a cue says who it is, be that somebody we know or not
    called: int = NOBODY  # whom it calls by name
    pending: list[tuple[int, int, int | None, int | None]] = field(default_factory=list)  # quotations not reported yet

    def told(self, speaker: int, way: Way, has_paragraphs: bool) -> None:
        self.speaker, self.way = speaker, way
        self.score = (_WITH_PARAGRAPHS if has_paragraphs else _WITHOUT)[way]

    def is_sound(self) -> bool:
        """Whether its values, which were saved and may have been changed, go together."""
        if (self.speaker == NOBODY) != (self.way == Way.UNKNOWN) or (self.addressee == NOBODY and self.heard):
            return False
        places = [place for start, end, _, _ in self.pending for place in (start, end)]
        if places != sorted(set(places)) or (places and places[-1] != self.end) or self.gap > self.end:
            return False
        characters = [place for _, _, *held in self.pending for place in held if place is not None]
        return characters == sorted(characters) and self.score in (_WITH_PARAGRAPHS[self.way], _WITHOUT[self.way])


class Mentions:
    """The decided mentions of a segment: words, counted from its beginning, to entities."""

    def __init__(self) -> None:
        self.entities: dict[int, list[tuple[int, int]]] = {}  # by the first word: last word and entity

    def add(self, start: int, end: int, entity: int) -> None:
        self.entities.setdefault(start, []).append((end, entity))

    def at(self, start: int, end: int) -> tuple[int, int] | None:
        """The end and the entity of the longest mention that begins at a word and ends at another or before."""
        return max((held for held in self.entities.get(start, ()) if held[0] <= end), default=None)


class Expected(NamedTuple):
    """Of a mention that tells who speaks a turn: entities by their numbers, NOBODY where unknown."""

    speaks: int = NOBODY  # who has been said to speak it, by other words
    expected: int = NOBODY  # who would speak it by turns, or was spoken to
    spoke: int = NOBODY  # who spoke the turn before
    hears: int = NOBODY  # whom it calls by name


class Conversation:
    """The latest turns of a text. Part of a state: plain values that can be saved."""

    def __init__(self) -> None:
        self.turns: dict[int, Turn] = {}  # by number, in order
        self.paragraph = 0  # paragraphs begun so far
        self.latest = 0  # the turn that the last segment ended with, if its paragraph goes on
        self.answers: dict[tuple[int, int], int] = {}  # how often somebody answered when another one was called

    def listen(self, segment: Segment, lexicon: Lexicon) -> SegmentListener:
        """Note the turns of the next segment. Who speaks them is found out as its mentions are decided."""
        numbers = segment.tracks.get(Quotations.name)
        if numbers is None:
            return SegmentListener(self, segment, [], [], lexicon)
        quoted = self._note(segment, numbers)
        before, self.latest = self.latest, _open_turn(segment, numbers, self.latest)
        cues = list(speaker_cues(segment.words, numbers, before, lexicon)) if quoted or before else []
        return SegmentListener(self, segment, quoted, cues, lexicon)

    def _note(self, segment: Segment, numbers: Sequence[int]) -> list[Run]:
        """Add the segment's turns; its quotations."""
        words, first = segment.words, segment.first_word
        latest = max(self.turns.values(), key=lambda turn: turn.number, default=None)
        quoted: list[Run] = []
        place = 0  # up to where paragraphs have been counted
        for run in runs(numbers):
            self.paragraph += sum(word.paragraph for word in words[place : run.start + 1])
            opened = self.paragraph
            self.paragraph += sum(word.paragraph for word in words[run.start + 1 : run.end])
            place = run.end
            if run.turn == NARRATED:
                continue
            quoted.append(run)
            turn = self.turns.get(run.turn)
            if turn is None:
                gap = first + run.start - (latest.end if latest else 0)
                turn = self.turns[run.turn] = Turn(run.turn, opened, opened, 0, gap)
            turn.last_paragraph, turn.end = self.paragraph, first + run.end
            begin, last = words[run.start], words[run.end - 1]
            if turn.pending and turn.pending[-1][1] == first + run.start:  # a segment's end has cut it in two
                start, _, start_character, _ = turn.pending.pop()
                turn.pending.append((start, first + run.end, start_character, last.end))
            else:
                turn.pending.append((first + run.start, first + run.end, begin.start, last.end))
            latest = turn
        self.paragraph += sum(word.paragraph for word in words[place:])
        return quoted

    def expected(self, number: int, longest_gap: int) -> Expected:
        """Who should speak a turn, as far as those before it tell."""
        turn = self.turns[number]
        window = [self.turns[n] for n in range(number - MOST_BEFORE, number) if n in self.turns]
        speakers = _by_turns(window, bool(self.paragraph), longest_gap)
        said = turn.speaker if turn.way in _BY_CUES else NOBODY
        last = window[-1] if window else None
        if last is None or not _adjacent(last, turn, bool(self.paragraph), longest_gap):
            return Expected(speaks=said, hears=turn.called)
        spoke, before = speakers[-1], NOBODY
        if len(window) > 1 and _adjacent(window[-2], last, bool(self.paragraph), longest_gap):
            before = speakers[-2]
        expected = next((who for who in (last.called, before) if who not in (NOBODY, spoke)), NOBODY)
        return Expected(said, expected, spoke, turn.called)

    def note_answer(self, speaker: int, called: int) -> None:
        """Of more pairs than are held, the one that was noted longest ago is forgotten."""
        times = self.answers.pop((speaker, called), 0)
        self.answers[speaker, called] = times + 1
        if len(self.answers) > MOST_ANSWERS:
            del self.answers[next(iter(self.answers))]

    def named(self) -> set[int]:
        """The entities whom quotations that are reported later may name."""
        found = {who for turn in self.turns.values() for who in (turn.speaker, turn.addressee, turn.called)}
        return found - {NOBODY}

    def turn_of(self, number: int) -> Turn | None:
        return self.turns.get(number)

    def report(self, final: bool = False) -> list[SpokenQuotation]:
        """The quotations that nothing will be added to, or all of them; their turns are forgotten but for a few."""
        reported: list[SpokenQuotation] = []
        order = sorted(self.turns)
        done = order if final else order[:-MOST_TURNS]
        for number in order:
            turn = self.turns[number]
            if number in done or len(turn.pending) > MOST_PENDING:
                for start, end, first, last in turn.pending:
                    known = turn.speaker, turn.addressee, turn.way, turn.score
                    reported.append(SpokenQuotation((start, end), first, last, *known))
                turn.pending = []
        for number in done:
            del self.turns[number]
        return reported

    def renamed(self, kept: int, gone: int) -> None:
        """Two entities have become one."""
        for turn in self.turns.values():
            for name in ("speaker", "addressee", "called"):
                if getattr(turn, name) == gone:
                    setattr(turn, name, kept)
        answers, self.answers = self.answers, {}
        for (speaker, called), times in answers.items():
            pair = kept if speaker == gone else speaker, kept if called == gone else called
            if pair[0] != pair[1]:
                self.answers[pair] = self.answers.get(pair, 0) + times

    def is_sound(self, words: int, entities: int) -> bool:
        """Whether turns that were saved, and may have been changed, can be those of a text of so many words, whose
        entities have numbers below `entities`."""
        turns = [self.turns[number] for number in sorted(self.turns)]
        if any(after.number != before.number + 1 for before, after in pairwise(turns)):
            return False
        paragraphs = [
            *(n for turn in turns for n in (turn.first_paragraph, turn.last_paragraph)),
            self.paragraph,
            words,
        ]
        ends = [*(turn.end for turn in turns), words]
        if paragraphs != sorted(paragraphs) or ends != sorted(ends):
            return False
        answered = all(speaker != called for speaker, called in self.answers)
        named = self.named().union(*self.answers)
        return answered and max(named, default=-1) < entities and all(turn.is_sound() for turn in turns)

    def to_values(self) -> dict[str, Any]:
        return {
            "paragraph": self.paragraph,
            "latest": self.latest,
            "answers": [[*pair, times] for pair, times in self.answers.items()],
            "turns": [asdict(self.turns[number]) for number in sorted(self.turns)],
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Conversation:
        conversation = cls()
        conversation.paragraph, conversation.latest = values["paragraph"], values["latest"]
        conversation.answers = {(speaker, called): times for speaker, called, times in values["answers"]}
        for turn in values["turns"]:
            pending = [(a, b, c, d) for a, b, c, d in turn["pending"]]
            restored = Turn(**{**turn, "way": Way(turn["way"]), "pending": pending})
            conversation.turns[restored.number] = restored
        return conversation


class SegmentListener:
    """Follows a segment while its mentions are decided, in the order of the text, and finds out who speaks."""

    def __init__(
        self,
        conversation: Conversation,
        segment: Segment,
        quoted: Sequence[Run],
        cues: Sequence[SpeakerCue],
        lexicon: Lexicon,
    ) -> None:
        self.conversation, self.segment, self.lexicon = conversation, segment, lexicon
        self.mentions = Mentions()
        self._told: dict[int, Cue] = {}  # by what each turn's speaker is known
        # Quotations and cues by where they end, to be read when all that lies before has been decided.
        every: list[Run | SpeakerCue] = [*quoted, *cues]
        self._ahead = deque(sorted(every, key=lambda one: one.end))
        self._cues = {place: cue for cue in reversed(cues) for place in range(cue.begin, cue.last + 1)}

    def decided(self, span: Span, entity: int) -> None:
        first = self.segment.first_word
        self.mentions.add(span[0] - first, span[1] - first, entity)

    def expects(self, span: Span) -> Expected | None:
        """What is known of a speaker whom this span would name, if it is one, before it is decided."""
        start, end = span[0] - self.segment.first_word, span[1] - self.segment.first_word
        cue = self._cues.get(start)
        if cue is None or end > cue.end or not can_speak(self.segment.texts[start:end], self.lexicon):
            return None
        self._read_to(start)
        if cue.turn not in self.conversation.turns:
            return None
        return self.conversation.expected(cue.turn, self.lexicon.longest_aside)

    def settle(self) -> None:
        """All mentions that can tell who speaks have been decided."""
        told = bool(self._ahead)
        self._read_to(len(self.segment.words))
        self._note_answers()
        if told or self._told:
            turns = self.conversation.turns
            window = [turns[number] for number in sorted(turns)]
            has_paragraphs = bool(self.conversation.paragraph)
            _take_turns(window, has_paragraphs, self.lexicon.longest_aside)
            _address(window, has_paragraphs, self.lexicon.longest_aside)

    def _note_answers(self) -> None:
        """Who is said to speak right after somebody else was called by name may be that one."""
        turns, has_paragraphs = self.conversation.turns, bool(self.conversation.paragraph)
        for number in self._told:
            turn, last = turns[number], turns.get(number - 1)
            if last is None or not _adjacent(last, turn, has_paragraphs, self.lexicon.longest_aside):
                continue
            if last.called not in (NOBODY, turn.speaker, last.speaker):
                self.conversation.note_answer(turn.speaker, last.called)

    def _read_to(self, place: int) -> None:
        """What the words before a place tell."""
        while self._ahead and self._ahead[0].end <= place:
            one = self._ahead.popleft()
            if isinstance(one, Run):
                self._hear_called(one)
            else:
                self._follow(one)

    def _hear_called(self, run: Run) -> None:
        turn = self.conversation.turns[run.turn]
        for place in range(run.start, run.end):
            if turn.called != NOBODY:
                return
            found = self.mentions.at(place, run.end)
            if found is None:
                continue
            name = self.segment.texts[place : found[0]]
            if is_name(name, self.lexicon) and is_called(self.segment.words, place, found[0], self.lexicon):
                turn.called = found[1]

    def _follow(self, cue: SpeakerCue) -> None:
        """The speaker whom the narrative names: of each turn by its best cue, the first of these."""
        turn = self.conversation.turns.get(cue.turn)
        if turn is None or (turn.way in _BY_CUES and cue.cue >= self._told.get(cue.turn, Cue.VERB_FIRST)):
            return
        if cue.cue <= Cue.BEFORE:
            turn.named = True
        found = self._speaker(cue)
        if found is None:
            return
        place, entity = found
        if cue.cue > Cue.BEFORE:
            way = Way.NARRATION
        else:
            way = Way.PRONOUN if self.segment.texts[place].lower() in self.lexicon.subjects else Way.NAMED
        self._told[cue.turn] = cue.cue
        turn.told(entity, way, bool(self.conversation.paragraph))

    def _speaker(self, cue: SpeakerCue) -> tuple[int, int] | None:
        """The first word and the entity of the first mention that can speak."""
        for place in range(cue.begin, cue.last + 1):
            found = self.mentions.at(place, cue.end)
            if found is not None and can_speak(self.segment.texts[place : found[0]], self.lexicon):
                return place, found[1]
        return None


def _open_turn(segment: Segment, numbers: Sequence[int], before: int) -> int:
    """The turn whose paragraph is open where a segment ends; 0 if there is none."""
    for word, turn in zip(reversed(segment.words), reversed(numbers), strict=True):
        if turn != NARRATED:
            return turn
        if word.paragraph:
            return 0
    return before


def _adjacent(one: Turn, other: Turn, has_paragraphs: bool, longest_gap: int) -> bool:
    """Whether a turn follows another without narration that would end a conversation."""
    if other.number != one.number + 1:
        return False
    if has_paragraphs:
        return other.first_paragraph - one.last_paragraph <= 1
    return other.gap <= longest_gap


def _by_turns(turns: Sequence[Turn], has_paragraphs: bool, longest_gap: int) -> list[int]:
    """The speaker of each: who is known, or who spoke before the last one, or was called by the last one."""
    speakers: list[int] = []
    for n, turn in enumerate(turns):
        speaker = turn.speaker
        if speaker == NOBODY and not turn.named and n and _adjacent(turns[n - 1], turn, has_paragraphs, longest_gap):
            last, before = speakers[n - 1], NOBODY
            if n > 1 and _adjacent(turns[n - 2], turns[n - 1], has_paragraphs, longest_gap):
                before = speakers[n - 2]
            speaker = next((who for who in (before, turns[n - 1].called) if who not in (NOBODY, last)), NOBODY)
        speakers.append(speaker)
    return speakers


def _take_turns(turns: Sequence[Turn], has_paragraphs: bool, longest_gap: int) -> None:
    """Give turns without a cue a speaker: who spoke before the last one, or was called by the last one."""

    def follow(a: int, b: int) -> bool:
        return 0 <= a < b < len(turns) and _adjacent(turns[a], turns[b], has_paragraphs, longest_gap)

    def open_(turn: Turn) -> bool:
        return turn.speaker == NOBODY and not turn.named

    for n, turn in enumerate(turns):
        if open_(turn) and follow(n - 1, n):
            last = turns[n - 1]
            if follow(n - 2, n - 1) and turns[n - 2].speaker not in (NOBODY, last.speaker):
                turn.told(turns[n - 2].speaker, Way.TURNS, has_paragraphs)
            elif last.called not in (NOBODY, last.speaker):
                turn.told(last.called, Way.CALLED, has_paragraphs)
    for n, turn in reversed(list(enumerate(turns))):
        if open_(turn) and follow(n, n + 1):
            next_ = turns[n + 1]
            if follow(n + 1, n + 2) and turns[n + 2].speaker not in (NOBODY, next_.speaker):
                turn.told(turns[n + 2].speaker, Way.TURNS, has_paragraphs)
            elif next_.called not in (NOBODY, next_.speaker):
                turn.told(next_.called, Way.CALLED, has_paragraphs)


def _address(turns: Sequence[Turn], has_paragraphs: bool, longest_gap: int) -> None:
    """Who listens: who is called by name, else who spoke just before, else who speaks next."""
    for n, turn in enumerate(turns):
        before = turns[n - 1] if n and _adjacent(turns[n - 1], turn, has_paragraphs, longest_gap) else None
        after = turns[n + 1] if n + 1 < len(turns) else None
        if after is not None and not _adjacent(turn, after, has_paragraphs, longest_gap):
            after = None
        earlier = turns[n - 2] if n > 1 and turns[n - 2].speaker == turn.speaker else None
        candidates = [
            (turn.called, _CALLED),
            (before.speaker, before.score) if before else (NOBODY, 0.0),
            (after.speaker, after.score) if after else (NOBODY, 0.0),
        ]
        if earlier is not None and turn.first_paragraph - earlier.last_paragraph <= MOST_TURNS + 1:
            candidates.append((earlier.addressee, earlier.heard))
        for who, sure in candidates:
            if who not in (NOBODY, turn.speaker):
                turn.addressee, turn.heard = who, sure if who == turn.called else sure * turn.score
                break
