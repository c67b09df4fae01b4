"""Who speaks, and to whom: the turns of a conversation, as the words around them and the entities so far tell.

Where the narrative says who speaks ("said Anna"), the mention that it says it by has an entity, and so has the turn.
Where it does not, speakers take turns, and who is called by name is who listens. Only the latest few turns are held.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

from streamcoref.document import Span
from streamcoref.language.attribution import Cue, can_speak, is_called, runs, speaker_cues
from streamcoref.language.english import Lexicon
from streamcoref.language.names import is_name
from streamcoref.language.quotations import NARRATED, Quotations
from streamcoref.model.segments import Segment

NOBODY = -1  # where an entity's number would stand
MOST_TURNS = 3  # the latest ones, of which the next segment may tell more
MOST_PENDING = 8  # quotations of one turn that wait for its speaker


class Way(StrEnum):
    """How a speaker is known."""

    UNKNOWN = "unknown"
    NAMED = "named"  # “…,” said Anna
    PRONOUN = "pronoun"  # “…,” she said
    NARRATION = "narration"  # Anna smiled. “…”
    TURNS = "turns"  # speakers alternate
    CALLED = "called"  # the turn before or after calls them by name


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


class Mentions:
    """The decided mentions of a segment: words, counted from its beginning, to entities."""

    def __init__(self, segment: Segment, links: Sequence[tuple[Span, int]]) -> None:
        self.entities: dict[int, list[tuple[int, int]]] = {}  # by the first word: last word and entity
        first = segment.first_word
        for (start, end), entity in links:
            self.entities.setdefault(start - first, []).append((end - first, entity))

    def at(self, start: int, end: int) -> tuple[int, int] | None:
        """The end and the entity of the longest mention that begins at a word and ends at another or before."""
        return max((held for held in self.entities.get(start, ()) if held[0] <= end), default=None)


class Conversation:
    """The latest turns of a text. Part of a state: plain values that can be saved."""

    def __init__(self) -> None:
        self.turns: dict[int, Turn] = {}  # by number, in order
        self.paragraph = 0  # paragraphs begun so far
        self.latest = 0  # the turn that the last segment ended with, if its paragraph goes on

    def read(self, segment: Segment, links: Sequence[tuple[Span, int]], lexicon: Lexicon) -> None:
        """Note the turns of the next segment, given the mentions that have been decided, and who speaks them."""
        numbers = segment.tracks.get(Quotations.name)
        if numbers is None:
            return
        mentions = Mentions(segment, links)
        seen = self._note(segment, numbers, mentions, lexicon)
        before, self.latest = self.latest, _open_turn(segment, numbers, self.latest)
        if not seen and not before:
            return
        self._follow_cues(segment, numbers, before, mentions, lexicon)
        window = [self.turns[number] for number in sorted(self.turns)]
        _take_turns(window, bool(self.paragraph), lexicon.longest_aside)
        _address(window, bool(self.paragraph), lexicon.longest_aside)

    def _note(self, segment: Segment, numbers: Sequence[int], mentions: Mentions, lexicon: Lexicon) -> bool:
        """Add the segment's turns; whether there are any."""
        words, first = segment.words, segment.first_word
        latest = max(self.turns.values(), key=lambda turn: turn.number, default=None)
        seen = False
        place = 0  # up to where paragraphs have been counted
        for run in runs(numbers):
            self.paragraph += sum(word.paragraph for word in words[place : run.start + 1])
            opened = self.paragraph
            self.paragraph += sum(word.paragraph for word in words[run.start + 1 : run.end])
            place = run.end
            if run.turn == NARRATED:
                continue
            seen = True
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
            self._note_called(turn, segment, run.start, run.end, mentions, lexicon)
            latest = turn
        self.paragraph += sum(word.paragraph for word in words[place:])
        return seen

    def _note_called(
        self, turn: Turn, segment: Segment, start: int, end: int, mentions: Mentions, lexicon: Lexicon
    ) -> None:
        for place in range(start, end):
            found = mentions.at(place, end)
            if found is None or turn.called != NOBODY:
                continue
            name = segment.texts[place : found[0]]
            if is_name(name, lexicon) and is_called(segment.words, place, found[0], lexicon):
                turn.called = found[1]

    def _follow_cues(
        self, segment: Segment, numbers: Sequence[int], before: int, mentions: Mentions, lexicon: Lexicon
    ) -> None:
        """The speakers whom the narrative names: of each turn by its best cue."""
        cues = sorted(speaker_cues(segment.words, numbers, before, lexicon), key=lambda cue: (cue.turn, cue.cue))
        for cue in cues:
            turn = self.turns.get(cue.turn)
            if turn is None or turn.way in (Way.NAMED, Way.PRONOUN, Way.NARRATION):
                continue
            found = self._speaker(cue.begin, cue.last, cue.end, segment, mentions, lexicon)
            if cue.cue <= Cue.BEFORE:
                turn.named = True
            if found is None:
                continue
            place, entity = found
            if cue.cue > Cue.BEFORE:
                way = Way.NARRATION
            else:
                way = Way.PRONOUN if segment.texts[place].lower() in lexicon.subjects else Way.NAMED
            turn.told(entity, way, bool(self.paragraph))

    def _speaker(
        self, begin: int, last: int, end: int, segment: Segment, mentions: Mentions, lexicon: Lexicon
    ) -> tuple[int, int] | None:
        """The first word and the entity of the first mention that can speak."""
        for place in range(begin, last + 1):
            found = mentions.at(place, end)
            if found is not None and can_speak(segment.texts[place : found[0]], lexicon):
                return place, found[1]
        return None

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

    def to_values(self) -> dict[str, Any]:
        return {
            "paragraph": self.paragraph,
            "latest": self.latest,
            "turns": [asdict(self.turns[number]) for number in sorted(self.turns)],
        }

    @classmethod
    def from_values(cls, values: Mapping[str, Any]) -> Conversation:
        conversation = cls()
        conversation.paragraph, conversation.latest = values["paragraph"], values["latest"]
        for turn in values["turns"]:
            pending = [(a, b, c, d) for a, b, c, d in turn["pending"]]
            restored = Turn(**{**turn, "way": Way(turn["way"]), "pending": pending})
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


def _adjacent(one: Turn, other: Turn, has_paragraphs: bool, longest_gap: int) -> bool:
    """Whether a turn follows another without narration that would end a conversation."""
    if other.number != one.number + 1:
        return False
    if has_paragraphs:
        return other.first_paragraph - one.last_paragraph <= 1
    return other.gap <= longest_gap


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
