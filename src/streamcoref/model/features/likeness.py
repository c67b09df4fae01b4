"""What a span and an entity can be to each other, as far as `identity` tells."""

from __future__ import annotations

from enum import IntEnum

from streamcoref.model.features.base import Beginning


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
BEGINNINGS: dict[int, Beginning] = {
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
CONFLICTS: dict[int, float] = {
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
