"""Who speaks, given which mentions are whose; and that no more than a few turns are held."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest

from streamcoref.language import LATEST, Quotations, lexicon
from streamcoref.model.conversation import MOST_ANSWERS, MOST_PENDING, Conversation
from streamcoref.model.segments import Segment, make_segment
from streamcoref.model.state import SavedTurn
from streamcoref.model.turns import MOST_TURNS, NOBODY, Expected, Turn, Way
from tests.language.texts import words_of

ENGLISH = lexicon(LATEST)
PEOPLE = {"Anna": 1, "she": 1, "She": 1, "Ben": 2, "he": 2, "He": 2, "Clara": 3}


class _Pieces:
    first, last = 1, 2


def segments(text: str, cuts: list[int] | None = None) -> list[Segment]:
    words = words_of("It began.\n\n" + text)
    turns = Quotations(ENGLISH).read(words)
    places = [0, *(cut for cut in cuts or [] if cut < len(words)), len(words)]
    return [
        make_segment(_Pieces(), words[a:b], [[9]] * (b - a), a, a, tracks={"quotations": turns[a:b]})  # type: ignore[arg-type]
        for a, b in pairwise(places)
    ]


def links(segment: Segment) -> list[tuple[tuple[int, int], int]]:
    first = segment.first_word
    return [((first + n, first + n + 1), PEOPLE[word]) for n, word in enumerate(segment.texts) if word in PEOPLE]


def read(conversation: Conversation, segment: Segment) -> None:
    listener = conversation.listen(segment, ENGLISH)
    for span, entity in links(segment):
        listener.decided(span, entity)
    listener.settle()


def speakers(text: str, cuts: list[int] | None = None) -> list[tuple[int, int, Way]]:
    """Speaker, addressee and way of each quotation."""
    conversation, found = Conversation(), []
    for segment in segments(text, cuts):
        read(conversation, segment)
        found += conversation.report()
        conversation = Conversation.from_values(json.loads(json.dumps(conversation.to_values())))
    found += conversation.report(final=True)
    assert found == sorted(found, key=lambda one: one.span)
    assert not conversation.turns
    return [(one.speaker, one.addressee, one.way) for one in found]


def test_named_beside_a_quotation() -> None:
    assert speakers("“No,” said Anna. “Not I.”\n\n“Yes,” he replied.") == [
        (1, 2, Way.NAMED),
        (1, 2, Way.NAMED),
        (2, 1, Way.PRONOUN),
    ]


def test_narration_beside_it() -> None:
    assert speakers("Anna smiled. “No.”") == [(1, NOBODY, Way.NARRATION)]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Anna heard Ben say, “No.”", 2),
        ("When Anna had gone Ben suddenly said: “No.”", 2),
        ("Anna, looking at Ben, said, “No.”", 1),
        ("When Ben had gone, Anna turned round and said, “No.”", 1),
        ("Anna sat down, and Ben, as the door was shut, said, “No.”", 2),
        ("Anna, when Ben had gone, said, “No.”", 1),
        ("Anna turned to Ben and said, “No.”", 1),
        ("It was broken by Anna's saying, “No.”", 1),
    ],
)
def test_who_stands_before_the_verb_speaks(text: str, speaker: int) -> None:
    assert speakers(text) == [(speaker, NOBODY, Way.NAMED)]


def test_several_may_speak_in_one_paragraph() -> None:
    """Each quotation that has a name beside it is that one's, and so are those behind it that have none."""
    text = "“A,” said Anna. “B.” Ben rose. “C,” said Ben. “D.”\n\n“E,” she said."
    assert [(who, to) for who, to, _ in speakers(text)] == [(1, NOBODY)] * 2 + [(2, NOBODY)] * 2 + [(1, 2)]
    assert [who for who, *_ in speakers("Anna said, “A.” And Ben said, “B.”")] == [1, 2]
    assert [who for who, *_ in speakers("Ben said to Anna, “A,” she read.")] == [1], "what is behind tells more"


@pytest.mark.parametrize("cut", [*range(3, 9), *range(10, 24)])  # not between a verb and its name
def test_several_in_one_paragraph_wherever_a_segment_ends(cut: int) -> None:
    text = "“A b,” said Anna. “B.” It rained. “C d,” said Ben. “D.”"
    whole = [who for who, *_ in speakers(text)]
    assert whole == [1, 1, 2, 2]
    assert [who for who, *_ in speakers(text, [cut])] == whole


def test_a_name_beside_a_quotation_is_how_it_is_known() -> None:
    assert [way for *_, way in speakers("“A,” she said. “C,” said Ben.")] == [Way.PRONOUN, Way.NAMED]


def test_who_speaks_in_a_paragraph_is_not_remembered_for_ever() -> None:
    conversation = Conversation()
    for segment in segments("“A,” said Anna. “B,” said Ben. " * 200, list(range(50, 5000, 50))):
        read(conversation, segment)
        conversation.report()
        assert all(len(turn.own) <= MOST_PENDING + 1 for turn in conversation.turns.values())
    conversation.renamed(1, 2)
    assert conversation.named() == {1}


def test_a_state_of_before_has_no_speakers_of_single_quotations() -> None:
    conversation = Conversation()
    (segment,) = segments("“A,” said Anna.")
    read(conversation, segment)
    (values,) = conversation.to_values()["turns"]
    older = {name: value for name, value in values.items() if name != "own"}
    assert SavedTurn.model_validate(older).own == []
    assert len(values["own"]) == 1


@pytest.mark.parametrize("own", [[(5, 1), (5, 2)], [(7, 1), (5, 2)], [(99, 1)], [(5, NOBODY)]])
def test_speakers_of_single_quotations_that_cannot_be(own: list[tuple[int, int]]) -> None:
    turn = Turn(1, 0, 0, 20, 3, own=[(5, 1), (7, 2)])
    assert turn.is_sound()
    turn.own = own
    assert not turn.is_sound()


def test_before_version_6_one_speaks_in_a_paragraph() -> None:
    conversation, older = Conversation(), lexicon(5)
    (segment,) = segments("“A,” said Anna. “C,” said Ben.")
    listener = conversation.listen(segment, older)
    for span, entity in links(segment):
        listener.decided(span, entity)
    listener.settle()
    assert [one.speaker for one in conversation.report(final=True)] == [1, 1]


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("“A,” said Anna, who had risen.", 1),
        ("“A,” said Anna to her brother.", 1),
        ("“A,” said Anna's brother.", 5),
        ("“A,” said Anna and her brother.", 5),
    ],
)
def test_a_name_inside_of_a_longer_mention(text: str, speaker: int) -> None:
    conversation = Conversation()
    (segment,) = segments(text)
    listener = conversation.listen(segment, ENGLISH)
    place = segment.texts.index("Anna")
    listener.decided((place, place + 1), 1)
    listener.decided((place, len(segment.texts) - 1), 5)
    listener.settle()
    assert [one.speaker for one in conversation.report(final=True)] == [speaker]


def test_speakers_take_turns_forwards_and_backwards() -> None:
    assert speakers("“A,” said Anna.\n\n“B,” said Ben.\n\n“C.”\n\n“D.”") == [
        (1, 2, Way.NAMED),
        (2, 1, Way.NAMED),
        (1, 2, Way.TURNS),
        (2, 1, Way.TURNS),
    ]
    assert speakers("“A.”\n\n“B,” said Ben.\n\n“C,” said Anna.") == [
        (1, 2, Way.TURNS),
        (2, 1, Way.NAMED),
        (1, 2, Way.NAMED),
    ]


def test_who_is_called_answers() -> None:
    assert speakers("“Come, Clara!” cried Anna.\n\n“I come.”") == [(1, 3, Way.NAMED), (3, 1, Way.CALLED)]


def test_narration_ends_a_conversation() -> None:
    text = "“A,” said Anna.\n\n“B,” said Ben.\n\nIt rained.\n\nThey slept.\n\n“C.”"
    assert speakers(text)[-1] == (NOBODY, NOBODY, Way.UNKNOWN)


def test_somebody_unknown_who_is_named_is_nobody_else() -> None:
    """The turn is not given to who would speak by turns."""
    text = "“A,” said Anna.\n\n“B,” said Ben.\n\n“C,” said Somebody."
    assert speakers(text)[-1] == (NOBODY, 2, Way.UNKNOWN)


@pytest.mark.parametrize("cut", range(3, 18))
def test_a_segment_may_end_anywhere(cut: int) -> None:
    text = "“A b c,” said Anna.\n\n“B,” he replied."
    assert [who for who, *_ in speakers(text, [cut])] == [1, 2]


def test_a_quotation_that_a_segment_cuts_is_one() -> None:
    text = "“" + "word " * 20 + "end,” said Anna."
    assert speakers(text, [8, 15]) == [(1, NOBODY, Way.NAMED)]


def test_what_is_held_does_not_grow() -> None:
    conversation = Conversation()
    reported = 0
    text = "“A,” said Anna.\n\n“B.”\n\n" * 200 + "“C d.” It rained. " * 200
    sizes = []
    for segment in segments(text, list(range(50, 5000, 50))):
        read(conversation, segment)
        reported += len(conversation.report())
        sizes.append(len(json.dumps(conversation.to_values())))
        assert len(conversation.turns) <= MOST_TURNS
        assert all(len(turn.pending) <= MOST_PENDING for turn in conversation.turns.values())
    assert reported > 500
    assert max(sizes) < 300 * MOST_TURNS + 50 * MOST_PENDING


def test_two_entities_become_one() -> None:
    conversation = Conversation()
    (segment,) = segments("“A,” said Anna.\n\n“B,” said Ben.")
    read(conversation, segment)
    conversation.renamed(1, 2)
    assert {one.speaker for one in conversation.report(final=True)} == {1}


def expectations(text: str) -> dict[str, Expected]:
    """Before each mention that tells who speaks is decided: what is known then, by its word."""
    conversation, found = Conversation(), {}
    (segment,) = segments(text)
    listener = conversation.listen(segment, ENGLISH)
    for span, entity in links(segment):
        expected = listener.expects(span)
        if expected is not None:
            found[segment.texts[span[0]]] = expected
        listener.decided(span, entity)
    return found


def test_who_should_speak_is_known_before_it_is_said() -> None:
    text = "“A,” said Anna.\n\n“B,” said Ben.\n\n“C,” she said."
    assert expectations(text) == {
        "Anna": Expected(),
        "Ben": Expected(spoke=1),
        "she": Expected(expected=1, spoke=2),
    }


def test_who_was_called_should_answer_and_does_not_call_himself() -> None:
    text = "“Come, Clara,” said Anna.\n\n“I come, Ben,” she replied."
    assert expectations(text)["Anna"] == Expected(hears=3)
    assert expectations(text)["she"] == Expected(expected=3, spoke=1, hears=2)


def test_who_was_said_to_speak_goes_on() -> None:
    assert expectations("“A,” said Anna, “b.” She smiled.")["She"] == Expected(speaks=1)


def test_turns_without_a_word_about_them_count() -> None:
    text = "“A,” said Anna.\n\n“B,” said Ben.\n\n“C.”\n\n“D,” he said."
    assert expectations(text)["he"] == Expected(expected=2, spoke=1)


def test_who_answers_when_somebody_is_called_is_noted() -> None:
    conversation = Conversation()
    (segment,) = segments(
        "“Come, Clara,” said Anna.\n\n“I come,” he replied.\n\n“Good, Ben,” said Anna.\n\n“Yes,” said he."
    )
    read(conversation, segment)
    assert conversation.answers == {(2, 3): 1}, "who answers to his own name tells nothing new"
    conversation = Conversation.from_values(json.loads(json.dumps(conversation.to_values())))
    conversation.renamed(1, 2)
    assert conversation.answers == {(1, 3): 1}
    for speaker in range(4, 4 + 2 * MOST_ANSWERS):
        conversation.note_answer(speaker, 3)
    assert len(conversation.answers) == MOST_ANSWERS


def test_a_name_in_the_paragraph_of_another_speaker_may_be_anybodys() -> None:
    assert "Ben" not in expectations("“A,” said Anna. “B,” said Ben.")
    assert expectations("“A,” said Anna. “B,” she said.")["she"] == Expected(speaks=1)


def test_a_mention_elsewhere_tells_nothing_of_speakers() -> None:
    assert expectations("Anna rose.\n\nIt rained.\n\n“A,” said Ben.") == {"Ben": Expected()}
