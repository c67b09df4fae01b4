"""What the turns of a conversation say of a span beside a quotation, or inside one."""

from __future__ import annotations

import numpy as np
import pytest

from streamcoref.model.conversation import Conversation
from streamcoref.model.features.talk import Part
from streamcoref.model.turns import NOBODY, Expected
from tests.model.features import pairs
from tests.model.features.pairs import said
from tests.model.test_conversation import read, segments

TALK = pairs.build("talk")


def parts(expected: Expected) -> list[int]:
    """Of entities 0, 1 and 2, for a span of which that is expected."""
    spans = pairs.notes_of([said("she"), said("he")], TALK)
    TALK.expect(spans, 1, expected)
    entities = pairs.entities_of([[said("Anna")], [said("Ben")], [said("Clara")]], TALK)
    entities["id"][:] = [0, 1, 2]
    both = pairs.block(TALK, spans, entities).tolist()
    assert both[0] == [Part.NOTHING] * 3
    assert np.broadcast_to(TALK.compare(spans.at(1), entities), 3).tolist() == both[1], "alone, or among others"
    return list(both[1])


@pytest.mark.parametrize(
    ("expected", "found"),
    [
        (Expected(), [Part.NOTHING] * 3),
        (Expected(speaks=1), [Part.NOTHING, Part.SPEAKS, Part.NOTHING]),
        (Expected(expected=0, spoke=1), [Part.EXPECTED, Part.SPOKE, Part.UNEXPECTED]),
        (Expected(hears=2), [Part.NOTHING, Part.NOTHING, Part.CALLED]),
        (Expected(speaks=1, expected=1, spoke=0), [Part.SPOKE, Part.SPEAKS, Part.UNEXPECTED]),
        (Expected(NOBODY, NOBODY, NOBODY, NOBODY), [Part.NOTHING] * 3),
    ],
)
def test_of_a_span_that_tells_who_speaks(expected: Expected, found: list[int]) -> None:
    assert parts(expected) == found


def test_he_and_she_in_a_quotation_are_neither_who_speaks_nor_who_listens() -> None:
    conversation = Conversation()
    (segment,) = segments("“Come, Ben, he waits,” said Anna.")
    spans = pairs.spans_of([said(word) for word in segment.texts])
    tracks = {**spans.segment.tracks, "quotations": segment.tracks["quotations"]}
    spans = pairs.with_tracks(spans, tracks)
    assert [word for word, waits in zip(segment.texts, TALK.waits(spans), strict=True) if waits] == ["he"]
    read(conversation, segment)
    notes = pairs.note_spans(spans, [TALK])
    TALK.settle(spans, notes, conversation)
    entities = pairs.entities_of([[said("Anna")], [said("Ben")], [said("Clara")]], TALK)
    entities["id"][:] = [1, 2, 3]
    he = segment.texts.index("he")
    assert pairs.block(TALK, notes, entities)[he].tolist() == [Part.SAYS_IT, Part.LISTENS, Part.NOTHING]
