"""Who speaks, and to whom: the turns of a conversation, as the words around them and the entities so far tell.

Where the narrative says who speaks ("said Anna"), the mention that it says it by has an entity, and so has the turn.
Where it does not, speakers take turns, and who is called by name is who listens. Only the latest few turns are held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import pairwise
from typing import Any

from streamcoref.language.attribution import Run, runs, speaker_cues
from streamcoref.language.lexicon import Lexicon
from streamcoref.language.quotations import NARRATED, Quotations
from streamcoref.model.listening import SegmentListener
from streamcoref.model.segments import Segment
from streamcoref.model.turns import (
    BY_CUES,
    MOST_TURNS,
    NOBODY,
    Expected,
    SpokenQuotation,
    Turn,
    Way,
    adjacent,
    by_turns,
)

MOST_PENDING = 8  # quotations of one turn that wait for its speaker
MOST_ANSWERS = 64  # pairs of who answered and who had been called
MOST_BEFORE = 8  # turns before one that tell who should speak it


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
        speakers = by_turns(window, bool(self.paragraph), longest_gap)
        said = turn.speaker if turn.way in BY_CUES else NOBODY
        last = window[-1] if window else None
        if last is None or not adjacent(last, turn, bool(self.paragraph), longest_gap):
            return Expected(speaks=said, hears=turn.called)
        spoke, before = speakers[-1], NOBODY
        if len(window) > 1 and adjacent(window[-2], last, bool(self.paragraph), longest_gap):
            before = speakers[-2]
        expected = next((who for who in (last.called, before) if who not in (NOBODY, spoke)), NOBODY)
        return Expected(said, expected, spoke, turn.called)

    def note_answer(self, speaker: int, called: int) -> None:
        """Of more pairs than are held, the one that was noted longest ago is forgotten."""
        times = self.answers.pop((speaker, called), 0)
        self.answers[speaker, called] = times + 1
        if len(self.answers) > MOST_ANSWERS:
            del self.answers[next(iter(self.answers))]

    def speakers(self) -> set[int]:
        """Whose quotations are reported later, as far as is known."""
        waiting = [turn for turn in self.turns.values() if turn.pending]
        return {who for turn in waiting for who in (turn.speaker, *(own for _, own in turn.own))} - {NOBODY}

    def named(self) -> set[int]:
        """The entities whom quotations that are reported later may name."""
        turns = self.turns.values()
        found = {who for turn in turns for who in (turn.speaker, turn.addressee, turn.called)}
        return found.union(who for turn in turns for _, who in turn.own) - {NOBODY}

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
                    known = *turn.at(start), *turn.way_at(start, bool(self.paragraph))
                    reported.append(SpokenQuotation((start, end), first, last, *known))
                turn.pending, turn.own = [], turn.own[-1:]
        for number in done:
            del self.turns[number]
        return reported

    def renamed(self, kept: int, gone: int) -> None:
        """Two entities have become one."""
        for turn in self.turns.values():
            for name in ("speaker", "addressee", "called"):
                if getattr(turn, name) == gone:
                    setattr(turn, name, kept)
            turn.own = [(start, kept if who == gone else who) for start, who in turn.own]
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
            own = [(start, who) for start, who in turn["own"]]
            restored = Turn(**{**turn, "way": Way(turn["way"]), "pending": pending, "own": own})
            conversation.turns[restored.number] = restored
        return conversation


def _open_turn(segment: Segment, numbers: Sequence[int], before: int) -> int:
    """The turn whose paragraph is open where a segment ends; 0 if there is none."""
    for word, turn in zip(reversed(segment.words), reversed(numbers), strict=True):
        if turn != NARRATED:
            return turn
        if word.paragraph:
            return 0
    return before
