"""Who a pronoun or a name beside a quotation can be, and who one inside of it cannot, by the turns of the conversation.

Of a span that tells who speaks ("said she"), the conversation knows who should: who has been said to already, who was
spoken to. Of a *he* or *she* inside a quotation, it knows who speaks and who listens, and is meant by neither.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

import numpy as np

from streamcoref.language.attribution import talk_lexicon
from streamcoref.language.lexicon import Gender, Lexicon
from streamcoref.language.names import read_mention
from streamcoref.language.quotations import NARRATED, Quotations
from streamcoref.language.trackers import WordTracker
from streamcoref.model.conversation import Conversation
from streamcoref.model.features.base import Beginning, FeatureOptions, PairFeature
from streamcoref.model.notes import Array, IntArray, Notes
from streamcoref.model.parts import Surroundings
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.turns import NOBODY, Expected


class Part(IntEnum):
    """An entity's part in the conversation, for a span."""

    NOTHING = 0
    # Of a span that tells who speaks a turn: the entity has been said to already; or should speak it; or spoke the one
    # before; or is called by name in it; or is none of these, while another should.
    SPEAKS, EXPECTED, SPOKE, CALLED, UNEXPECTED = 1, 2, 3, 4, 5
    # Of he and she in a quotation: the entity says it, or listens.
    SAYS_IT, LISTENS = 6, 7


_BEGINNINGS: dict[int, Beginning] = {
    Part.SPEAKS: Beginning(Part.NOTHING, 4.0),
    Part.EXPECTED: Beginning(Part.NOTHING, 2.0),
    Part.SPOKE: Beginning(Part.NOTHING, -2.0),
    Part.CALLED: Beginning(Part.NOTHING, -3.0),
    Part.UNEXPECTED: Beginning(Part.NOTHING, -0.5),
    Part.SAYS_IT: Beginning(Part.NOTHING, -4.0),
    Part.LISTENS: Beginning(Part.NOTHING, -3.0),
}
_COLUMNS = ("says", "should", "before", "calls")
# As numbers, which are found far quicker than the members of an enum.
_NOTHING, _UNEXPECTED, _SPOKE, _EXPECTED = (int(p) for p in (Part.NOTHING, Part.UNEXPECTED, Part.SPOKE, Part.EXPECTED))
_OF_CALLS = np.array([Part.CALLED, Part.LISTENS])  # by whether inside
_OF_SAYS = np.array([Part.SPEAKS, Part.SAYS_IT])
_THIRD = Gender.HE | Gender.SHE


class Talk(PairFeature):
    name = "talk"
    buckets = len(Part)
    span_columns = np.dtype(
        [
            ("says", np.int64),  # entities, NOBODY where unknown: as `Expected` has them
            ("should", np.int64),
            ("before", np.int64),
            ("calls", np.int64),
            ("inside", np.int64),  # 1 of a pronoun in a quotation, whose speaker and listener are the first and last
        ]
    )
    beginnings = _BEGINNINGS

    def __init__(self, lexicon: Lexicon) -> None:
        self.lexicon = lexicon

    def trackers(self) -> list[WordTracker]:
        return [Quotations(self.lexicon)]

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        columns: dict[str, Array] = {name: np.full(len(spans), NOBODY, dtype=np.int64) for name in _COLUMNS}
        return {**columns, "inside": np.zeros(len(spans), dtype=np.int64)}

    def waits(self, spans: SegmentSpans) -> list[bool]:
        turns, first = spans.segment.tracks[Quotations.name], spans.segment.first_word
        return [
            turns[start - first] != NARRATED and bool(seen.pronoun & _THIRD)
            for seen, (start, _) in zip(spans.read(read_mention, self.lexicon), spans.word_spans, strict=True)
        ]

    def expect(self, notes: Notes, span: int, expected: Expected) -> None:
        for name, who in zip(_COLUMNS, expected, strict=True):
            notes[name][span] = who

    def settle(self, spans: SegmentSpans, notes: Notes, conversation: Conversation) -> None:
        turns, first = spans.segment.tracks[Quotations.name], spans.segment.first_word
        for m in np.flatnonzero(self.waits(spans)).tolist():
            word = spans.word_spans[m][0]
            turn = conversation.turn_of(turns[word - first])
            if turn is not None:
                notes["says"][m], notes["calls"][m] = turn.at(word)
                notes["inside"][m] = 1

    def compare(self, spans: Notes, entities: Notes) -> IntArray | int:
        says, should, before, calls = spans["says"], spans["should"], spans["before"], spans["calls"]
        if spans.dimensions == 0 and max(says, should, before, calls) == NOBODY:
            return _NOTHING
        ids, inside = entities["id"], spans["inside"]
        value = np.where(should == NOBODY, _NOTHING, _UNEXPECTED)
        value = np.where(ids == calls, _OF_CALLS[inside], value)
        value = np.where(ids == before, _SPOKE, value)
        value = np.where(ids == should, _EXPECTED, value)
        return np.where(ids == says, _OF_SAYS[inside], value)


class TalkOptions(FeatureOptions):
    name: Literal["talk"] = "talk"

    def build(self, around: Surroundings) -> PairFeature:
        return Talk(talk_lexicon(around.lexicon))
