"""What the words around quotations tell of who says them, and those inside of who is addressed.

Nothing is decided here: a cue says where a mention of the speaker should begin. Which entity that is, coreference
knows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import IntEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from streamcoref.language.lexicon import Lexicon
from streamcoref.language.quotations import NARRATED
from streamcoref.language.versions import LATEST, LEXICONS

if TYPE_CHECKING:
    from streamcoref.model.words import Word

_JOINING = frozenset({"and", "but"})
_LONGEST_CLAUSE = 14  # words in which the verb is looked for: "Mr. Bennet, after a short pause, coolly replied"


class Cue(IntEnum):
    """How a text tells who speaks, from the surest to the least sure."""

    VERB_FIRST = 0  # “…,” said Anna
    VERB_LAST = 1  # “…,” she said
    BEFORE = 2  # Anna said, “…”
    INTRODUCED = 3  # Anna turned to him: “…”
    BESIDE = 4  # Anna smiled. “…”, or “…” Anna smiled.


class SpeakerCue(NamedTuple):
    """The speaker of a turn is the first mention that begins at one of the words `begin` to `last`, given by their
    numbers in the segment, and ends at `end` or before; or rather the one that ends right before the verb of speech at
    `subject_end`, if there is one: Alice heard the Rabbit say, “…”"""

    turn: int
    cue: Cue
    begin: int
    last: int
    end: int
    subject_end: int | None = None
    said: int | None = None  # a word of the quotation beside it, where quotations have speakers; -1 before the segment


class Run(NamedTuple):
    """Words `start` to `end` (exclusive) of a segment that belong to one turn, or to none."""

    start: int
    end: int
    turn: int


def runs(turns: Sequence[int]) -> list[Run]:
    """Quotations and what lies between them. Two quotations of one turn with nothing between are one."""
    starts = [place for place, turn in enumerate(turns) if place == 0 or turn != turns[place - 1]]
    return [Run(start, end, turns[start]) for start, end in pairwise([*starts, len(turns)])]


def talk_lexicon(lexicon: Lexicon) -> Lexicon:
    """The lexicon that tells who speaks: a model's own, or the latest, if its own is older than all this."""
    return lexicon if lexicon.speech_verbs else LEXICONS[LATEST]


def speaker_cues(words: Sequence[Word], turns: Sequence[int], before: int, lexicon: Lexicon) -> Iterator[SpeakerCue]:
    """The cues of a segment's turns; `before` is the turn that the segment before it ended with, if any."""
    every = runs(turns)
    for number, run in enumerate(every):
        if run.turn != NARRATED:
            continue
        spoken = every[number - 1].turn if number else before
        next_turn = every[number + 1].turn if number + 1 < len(every) else NARRATED
        rest = run.start
        if spoken:
            behind = _behind(words, run, spoken, lexicon)
            if behind is not None:
                yield _beside(behind, run.start - 1, lexicon)
                rest = behind.end
        if next_turn:
            ahead = _ahead(words, run._replace(start=rest if spoken != next_turn else run.start), next_turn, lexicon)
            if ahead is not None:
                yield _beside(ahead, run.end, lexicon)


def _beside(cue: SpeakerCue, said: int, lexicon: Lexicon) -> SpeakerCue:
    return cue._replace(said=said) if lexicon.quotations_have_speakers else cue


def _behind(words: Sequence[Word], gap: Run, turn: int, lexicon: Lexicon) -> SpeakerCue | None:
    """What follows a quotation in its paragraph, up to the end of the sentence."""
    first = gap.start
    if words[first].paragraph:
        return None
    while first + 1 < gap.end and words[first].text in lexicon.pauses and not words[first + 1].paragraph:
        first += 1  # “…”--observed Anna
    end = first
    while end < gap.end and not words[end].paragraph and words[end].text not in lexicon.sentence_stops:
        end += 1
    if end == first:
        return None
    lowered = [word.text.lower() for word in words[first : min(end, first + _LONGEST_CLAUSE)]]
    place = _adverbs(lowered) if lexicon.finer_cues else 0  # “…,” eagerly replied Anna
    if length := _verb_of_speech(lowered, place, lexicon):
        place += length
        while place < len(lowered) and _may_stand_between(lowered[place], lexicon):
            place += 1
        if place < len(lowered):
            return SpeakerCue(turn, Cue.VERB_FIRST, first + place, first + place, end)
    if lowered[0] in lexicon.copulas and (found := _of_noun(lowered, lexicon)) is not None:
        begin, last = found
        return SpeakerCue(turn, Cue.VERB_FIRST, first + begin, first + begin, first + last)
    verb = next((place for place in range(len(lowered)) if _verb_of_speech(lowered, place, lexicon)), None)
    if verb and not _begins_anew(words, gap, lexicon):
        return SpeakerCue(turn, Cue.VERB_LAST, first, first, first + verb)
    return SpeakerCue(turn, Cue.BESIDE, first, first, end)


def _begins_anew(words: Sequence[Word], gap: Run, lexicon: Lexicon) -> bool:
    """Whether what follows a quotation is a sentence of its own: “No.” Anna sighed and said, “…”"""
    ended = gap.start > 1 and words[gap.start - 2].text == "."
    return lexicon.finer_cues and ended and words[gap.start].text[:1].isupper()


def _adverbs(words: Sequence[str]) -> int:
    """How many there are before anything else; 0 if there is nothing else."""
    return next((place for place, word in enumerate(words) if not word.endswith("ly")), 0)


def _of_noun(words: Sequence[str], lexicon: Lexicon) -> tuple[int, int] | None:
    """Where who speaks begins, and what tells it ends: “…” was Anna's answer, or was uttered by Anna."""
    noun = next((place for place, word in enumerate(words) if word in lexicon.speech_nouns), 0)
    if noun > 1:
        return 1, noun
    if not lexicon.finer_cues:
        return None
    owner = next((place for place, word in enumerate(words) if word in lexicon.possessive), 0)
    if owner > 1:  # whatever it is that is hers: Anna's parting injunction
        return 1, owner
    by = words.index("by") + 1 if "by" in words else 0
    return (by, len(words)) if by and by < len(words) and words[1] in lexicon.speech_verbs else None


def _ahead(words: Sequence[Word], gap: Run, turn: int, lexicon: Lexicon) -> SpeakerCue | None:
    """The sentence before a quotation, in its paragraph, or at the end of the one before if it introduces it."""
    introduces = gap.end > gap.start and (
        words[gap.end - 1].text in (":", *lexicon.pauses) or _leads_to(words, gap, lexicon)
    )
    if gap.end < len(words) and words[gap.end].paragraph and not introduces:
        return None
    first = gap.end - 1
    while first > gap.start and not (words[first].opens or words[first].paragraph):
        first -= 1
    if first < gap.start or gap.start == gap.end:
        return None
    lowered = [word.text.lower() for word in words[first : gap.end]]
    places = reversed(range(len(lowered)))
    verb = next((place for place in places if _verb_of_speech(lowered, place, lexicon)), None)
    if not introduces or verb is None:
        return SpeakerCue(turn, Cue.INTRODUCED if introduces else Cue.BESIDE, first, gap.end - 1, gap.end)
    subject_end = first + _subject_end(lowered[:verb], lexicon) if lexicon.verbs_have_subjects else None
    return SpeakerCue(turn, Cue.BEFORE, first, gap.end - 1, gap.end, subject_end)


def _subject_end(words: Sequence[str], lexicon: Lexicon) -> int:
    """Where the subject of the verb behind these words ends: right before it, or before a clause of its own, as of
    Anna, who had risen, said. Not if it may be another's: She bowed to Anna, who had risen, and said."""
    end = len(words)
    while end and _may_stand_between(words[end - 1], lexicon):
        end -= 1
    if lexicon.finer_cues:
        if not _JOINING.isdisjoint(words[end:]):  # she turned to Anna and said
            return len(words)
        if end and words[end - 1] in lexicon.possessive:  # Anna's saying, “…”
            return end - 1
    if lexicon.conjunctions.isdisjoint(words[end:]):
        for place in reversed(range(1, end)):
            if words[place] in lexicon.relatives and words[place - 1] == ",":
                return place - 1
    return end


def _verb_of_speech(words: Sequence[str], place: int, lexicon: Lexicon) -> int:
    """How many words of a verb of speech begin at a place: said, went on; 0 if none does."""
    if words[place] in lexicon.speech_verbs:
        return int(not _is_half(words[place : place + 3], lexicon))
    return 2 if tuple(words[place : place + 2]) in lexicon.phrasal_verbs else 0


def _is_half(words: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether a verb only leads to what is said, or tells it in other words: "began to think", "said that"."""
    if not lexicon.half_verbs or len(words) < 2:
        return False
    thinks = words[0] in lexicon.half_verbs and words[1] == "to" and lexicon.speech_verbs.isdisjoint(words[2:])
    return thinks or words[1] == "that"


def _leads_to(words: Sequence[Word], gap: Run, lexicon: Lexicon) -> bool:
    """Whether a verb of speech stands right before a quotation, or a word before it: Anna called out “…”"""
    last = [word.text.lower() for word in words[max(gap.start, gap.end - 2) : gap.end]]
    goes_on = last[-1].isalpha() and not (gap.end < len(words) and words[gap.end].paragraph)
    return lexicon.finer_cues and goes_on and not lexicon.speech_verbs.isdisjoint(last)


def _may_stand_between(word: str, lexicon: Lexicon) -> bool:
    """A verb of speech and who speaks: "said at last", "quickly answered"."""
    return word in lexicon.between or word.endswith("ly")


def can_speak(words: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether a mention of these words, where a speaker is looked for, can be one: "she", "Anna", "the old man"."""
    first = words[0].lower()
    if len(words) == 1 and first in lexicon.never_subjects:
        return False
    return first in lexicon.subjects or words[0][:1].isupper() or len(words) > 1


def opens_clause(words: Sequence[str], place: int, lexicon: Lexicon) -> bool:
    """Whether who is named at a place may do what follows: "when Ben had left" and ", and Ben", but not "to Ben"."""
    if place == 0:
        return True
    before = words[place - 1].lower()
    if before in lexicon.conjunctions:  # "Anna and Ben" are no clause
        return place == 1 or not words[place - 2][:1].isalnum()
    return before in lexicon.clause_openers


def is_person(words: Sequence[str], lexicon: Lexicon) -> bool:
    """Whether these words are surely somebody who can do something: "she", "Anna", "the old man"."""
    last = words[-1]
    if len(words) == 1 and last.lower() in lexicon.subjects:
        return True
    return last.lower() not in lexicon.pronoun_words and (last[:1].isupper() or last in lexicon.nouns)


def is_called(words: Sequence[Word], start: int, end: int, lexicon: Lexicon) -> bool:
    """Whether a name inside of a quotation is that of who is addressed: marks stand around it."""
    while start > 0 and words[start - 1].text.lower() in lexicon.before_vocatives:
        start -= 1
    before = words[start - 1].text if start else ","
    behind = words[end].text if end < len(words) else ","
    return before in lexicon.vocative_marks and behind in lexicon.vocative_marks
