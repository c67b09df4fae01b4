"""Follows a segment while its mentions are decided: what its words tell of who speaks."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING

from streamcoref.document import Span
from streamcoref.language.attribution import Cue, Run, SpeakerCue, can_speak, is_called, is_person, opens_clause
from streamcoref.language.lexicon import Lexicon
from streamcoref.language.names import is_name
from streamcoref.model.segments import Segment
from streamcoref.model.turns import BY_CUES, NOBODY, Expected, Turn, Way, address, adjacent, take_turns

if TYPE_CHECKING:
    from streamcoref.model.conversation import Conversation


class Mentions:
    """The decided mentions of a segment: words, counted from its beginning, to entities."""

    def __init__(self) -> None:
        self.entities: dict[int, list[tuple[int, int]]] = {}  # by the first word: last word and entity

    def add(self, start: int, end: int, entity: int) -> None:
        self.entities.setdefault(start, []).append((end, entity))

    def at(self, start: int, end: int) -> tuple[int, int] | None:
        """The end and the entity of the longest mention that begins at a word and ends at another or before."""
        return max(self.within(start, end), default=None) if start in self.entities else None

    def within(self, start: int, end: int) -> list[tuple[int, int]]:
        """The ends and the entities of all of these."""
        return [held for held in self.entities.get(start, ()) if held[0] <= end]

    def ending(self, start: int, end: int) -> int | None:
        """The entity of the mention of these words, if they are one."""
        return next((entity for last, entity in self.entities.get(start, ()) if last == end), None)


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
        turn = self.conversation.turns.get(cue.turn)
        if turn is None or self._may_change(cue, turn, start):
            return None
        return self.conversation.expected(cue.turn, self.lexicon.longest_aside)

    def _may_change(self, cue: SpeakerCue, turn: Turn, start: int) -> bool:
        """Whether a name beside a quotation may be that of somebody else than who has spoken in its paragraph."""
        pronoun = self.segment.texts[start].lower() in self.lexicon.subjects
        return cue.said is not None and not pronoun and turn.way in (Way.NAMED, Way.PRONOUN)

    def settle(self) -> None:
        """All mentions that can tell who speaks have been decided."""
        told = bool(self._ahead)
        self._read_to(len(self.segment.words))
        self._note_answers()
        if told or self._told:
            turns = self.conversation.turns
            window = [turns[number] for number in sorted(turns)]
            has_paragraphs = bool(self.conversation.paragraph)
            take_turns(window, has_paragraphs, self.lexicon.longest_aside)
            address(window, has_paragraphs, self.lexicon.longest_aside)

    def _note_answers(self) -> None:
        """Who is said to speak right after somebody else was called by name may be that one."""
        turns, has_paragraphs = self.conversation.turns, bool(self.conversation.paragraph)
        for number in self._told:
            turn, last = turns[number], turns.get(number - 1)
            if last is None or not adjacent(last, turn, has_paragraphs, self.lexicon.longest_aside):
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
            found = self._at(place, run.end)
            if found is None:
                continue
            name = self.segment.texts[place : found[0]]
            if is_name(name, self.lexicon) and is_called(self.segment.words, place, found[0], self.lexicon):
                turn.called = found[1]

    def _at(self, place: int, end: int) -> tuple[int, int] | None:
        """The longest mention at a place; or a whole one inside of it: Anna, who had risen; Anna to her father."""
        found = self.mentions.at(place, end)
        if found is None or not self.lexicon.name_links or is_name(self.segment.texts[place : found[0]], self.lexicon):
            return found
        inside = (held for held in self.mentions.within(place, found[0] - 1) if self._is_whole(place, held[0]))
        return max(inside, default=found)

    def _is_whole(self, start: int, end: int) -> bool:
        """Whether a mention ends where it should, though a longer one begins with it: a mark follows, or it is a name
        and what follows makes no more of it."""
        behind = self.segment.texts[end]
        if behind in self.lexicon.possessive:
            return False
        if not behind[:1].isalnum():
            return True
        return behind not in self.lexicon.name_links and is_name(self.segment.texts[start:end], self.lexicon)

    def _follow(self, cue: SpeakerCue) -> None:
        """The speaker whom the narrative names: of each turn by its best cue, the first of these."""
        turn = self.conversation.turns.get(cue.turn)
        if turn is None:
            return
        # Where each quotation has its own, “…,” said Anna is no better than “…,” she said for what was said before.
        own = cue.cue if cue.said is None else max(cue.cue, Cue.VERB_LAST)
        better = not (turn.way in BY_CUES and own >= self._told.get(cue.turn, Cue.VERB_FIRST))
        if not better and (cue.said is None or cue.cue > Cue.BEFORE):
            return
        if better and cue.cue <= Cue.BEFORE:
            turn.named = True
        found = self._speaker(cue)
        if found is None:
            return
        place, entity = found
        if cue.cue > Cue.BEFORE:
            way = Way.NARRATION
        else:
            way = Way.PRONOUN if self.segment.texts[place].lower() in self.lexicon.subjects else Way.NAMED
        if better:
            self._told[cue.turn] = cue.cue
            turn.told(entity, way, bool(self.conversation.paragraph))
        if cue.said is not None and cue.cue <= Cue.BEFORE:
            turn.speaks(self.segment.first_word + cue.said, entity if way == Way.NAMED else NOBODY)

    def _speaker(self, cue: SpeakerCue) -> tuple[int, int] | None:
        """The first word and the entity of the mention before the verb, or else of the first one that can speak."""
        if cue.subject_end is not None:
            for place in range(cue.begin, cue.subject_end):
                subject = self.mentions.ending(place, cue.subject_end)
                if subject is not None and can_speak(self.segment.texts[place : cue.subject_end], self.lexicon):
                    return place, subject
            if self.lexicon.clause_openers and (found := self._subject(cue.begin, cue.subject_end)) is not None:
                return found
        for place in range(cue.begin, cue.last + 1):
            mention = self._at(place, cue.end)
            if mention is not None and can_speak(self.segment.texts[place : mention[0]], self.lexicon):
                return place, mention[1]
        return None

    def _subject(self, begin: int, end: int) -> tuple[int, int] | None:
        """Who does what the words behind `end` say, of those who are named in the sentence from `begin` on: when Ben
        had left, Anna rose and said. Behind a mark it is rather who stands before one: Anna, when Ben had left, said.
        """
        texts, found = self.segment.texts, []
        for place in reversed(range(begin, end)):
            mention = self._at(place, end)
            if mention is None or not is_person(texts[place : mention[0]], self.lexicon):
                continue
            if place == begin or opens_clause(texts[begin:end], place - begin, self.lexicon):
                found.append((place, mention))
        if texts[end - 1] == ",":
            found.sort(key=lambda one: texts[one[1][0]] != ",")  # keeps the order else
        return (found[0][0], found[0][1][1]) if found else None
