"""Text in chunks: the same words and sentences however it is cut, from a window of bounded size."""

from __future__ import annotations

import json
import time
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from streamcoref.document import Span
from streamcoref.text import split_text
from streamcoref.text.sentences import LONGEST_GAP, LOOK_AHEAD
from streamcoref.text.splitter import STEP, TextSplitter
from streamcoref.text.words import HORIZON, LONGEST_WORD

PARTS = [
    *["He left.", "Mr. Lee", "No. 5", "No.", "J.", "U.S.", "e.g. ", "etc. ", "3.5", "40,000", "1/2", "I.", "a", "The"],
    *["don't", "Ann’s", "'tis", "''", "``", "well-known", "w- ", "--", "...", "…", "cannot", "AT&T", "&", "_", "***"],
    *['"', "'", "“", "”", "’", "(", ")", "[12]", "[", "]", "?!", ". ", "! ", "。", "؟", ",", "-", "—", "/"],
    *["https://x.org/a?b=1", "www.", "http://", "a.b@c.org", "@", ".com", "x.org.uk", "k" * 99, "-b" * 30, "9." * 25],
    *[" ", "  ", "\n", "\r\n", "\r", "\n\n", "\n \n", "\t", "\f", "\x00", "\x85", "\u2028", "\u2029", "\u3000"],
    *["\ufeff", "\u200b", "\u200d", "\u00ad", "\u0301", "\ufe0f", "e\u0301", "שָׁלוֹם", "\u200f", "مى\u200cخواهم", "中文"],
    *["👨\u200d👩\u200d👧", "👍🏽", "🇳🇿", "🇳", "🏽", "\ud800", "y" * 250, "." * 130, "\n" + " " * 500],
]
texts = st.lists(st.sampled_from(PARTS) | st.text(max_size=6), max_size=40).map("".join)
# What a pass over the window may find: some hundred thousand words are too many to hold, a few are not.
LONGEST_WINDOW = 2 * (HORIZON + (LOOK_AHEAD + 1) * (LONGEST_WORD + LONGEST_GAP))


def split_in_chunks(chunks: list[str]) -> tuple[list[Span], list[int]]:
    splitter = TextSplitter()
    words: list[Span] = []
    ends: list[int] = []
    whole = "".join(chunks)
    for number, chunk in enumerate([*chunks, ""]):
        split = splitter.read(chunk, final=number == len(chunks))
        ends += [len(words) + end for end in split.ends]
        found = [(split.begin + start, split.begin + end) for start, end in split.words]
        assert [split.text[a:b] for a, b in split.words] == [whole[a:b] for a, b in found]
        if words and found and ends[-1:] != [len(words)]:  # what stands between two words of a sentence is there too
            assert split.begin + split.previous_end == words[-1][1]
        words += found
    assert splitter.position == len(whole)
    return words, ends


def cut(text: str, places: list[int]) -> list[str]:
    bounds = [0, *sorted(place % (len(text) + 1) for place in places), len(text)]
    return [text[a:b] for a, b in pairwise(bounds)]


@given(texts, st.lists(st.integers(0, 10_000), max_size=12))
@example("No. " + "x" * STEP + " No.  5", [4, 5, 60, 68])
@example('He left. "\n\ngo on.' + " ." * STEP, [10, 11, 80])
@example("He left. '" + " " * 2 * LONGEST_GAP + "go on." + " ." * STEP, [10, 700, 1500])
def test_chunks_are_split_like_the_whole(text: str, places: list[int]) -> None:
    assert split_in_chunks(cut(text, places)) == split_text(text)


@given(texts)
@example("a-" * 1200 + "b c")
@example("www." + "x" * 1200 + ". Then.")
@example("He said “No.” She left. " * 60)
def test_single_characters_are_split_like_the_whole(text: str) -> None:
    assert split_in_chunks(list(text)) == split_text(text)


@given(texts, st.integers(0, 10_000), st.integers(1, 9))
def test_what_it_holds_is_a_value(text: str, place: int, size: int) -> None:
    """Saved and read back at any place, through JSON, it goes on as if nothing had happened."""
    chunks = [text[first : first + size] for first in range(0, len(text), size)]
    place %= len(chunks) + 1
    ours, theirs = TextSplitter(), TextSplitter()
    for number, chunk in enumerate([*chunks, ""]):
        if number == place:
            theirs = TextSplitter.from_values(json.loads(json.dumps(theirs.to_values())))
        final = number == len(chunks)
        assert ours.read(chunk, final) == theirs.read(chunk, final)


@given(texts, texts)
def test_an_end_is_an_end(first: str, second: str) -> None:
    """What comes after `final` is split as if it stood alone."""
    splitter = TextSplitter()
    one, two = splitter.read(first, final=True), splitter.read(second, final=True)
    assert (one.words, one.ends) == split_text(first)
    moved = [(a + two.begin - len(first), b + two.begin - len(first)) for a, b in two.words]
    assert (moved, two.ends) == split_text(second)


ENDLESS = {
    "without a blank": "x" * 1000,
    "blanks": " " * 1000,
    "lines": "\n" * 1000,
    "a sentence": "and " * 250,
    "hyphens": "a-" * 500,
    "stops": "." * 1000,
    "openers": '. "(“' * 200,
    "addresses": "www." * 250,
    "characters": "中" * 1000,
    "joiners": "\u200d" * 1000,
    "a word a kilometre": " " * 999 + "a",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_the_window_is_bounded(name: str) -> None:
    splitter = TextSplitter()
    words = 0
    for _ in range(60):
        words += len(splitter.read(ENDLESS[name]).words)
        values = splitter.to_values()
        assert len(values["window"]) <= LONGEST_WINDOW
        assert len(values["words"]) <= LOOK_AHEAD + 1 + HORIZON  # a character may be a word
    words += len(splitter.read("", final=True).words)
    assert words == len(split_text(ENDLESS[name] * 60)[0])


@pytest.mark.parametrize("name", ["without a blank", "characters", "a sentence"])
def test_single_characters_cost_no_pass_each(name: str) -> None:
    text = ENDLESS[name] * 50
    began = time.process_time()
    assert split_in_chunks(list(text)) == split_text(text)
    assert time.process_time() - began < 5


def test_a_megabyte_without_a_blank_in_chunks_takes_linear_time() -> None:
    splitter = TextSplitter()
    began = time.process_time()
    words = sum(len(splitter.read("x" * 1000).words) for _ in range(1000))
    assert words + len(splitter.read("", final=True).words) == 1_000_000 // LONGEST_WORD
    assert time.process_time() - began < 5


def test_words_come_as_soon_as_they_are_certain() -> None:
    splitter = TextSplitter()
    assert len(splitter.read("one two three four five six seven eight nine ten eleven twelve thirteen ").words) == 7
    assert splitter.read("fourteen").words == []
    assert len(splitter.read("", final=True).words) == 7


def test_a_gap_without_end_ends_a_sentence() -> None:
    assert split_text(f"one{' ' * LONGEST_GAP}two")[1] == [2]
    assert split_text(f"one{' ' * (LONGEST_GAP + 1)}two")[1] == [1, 2]
