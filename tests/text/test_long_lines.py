"""A line without end: time goes with its length, whatever it is made of. It is that of the CPU, with room for noise."""

from __future__ import annotations

import random
import string
import time
from collections.abc import Callable
from dataclasses import replace

import pytest

from streamcoref.document import Document
from streamcoref.text import document_from_text, split_text
from streamcoref.text.splitter import TextSplitter
from tests import toy_resolver

LONGER = 4  # times
WORSE = 2.5  # times as long a character; what is quadratic takes four times as long, and more the longer it is
UNITS = {
    "one letter": "a",
    "hyphens": "a-",
    "apostrophes": "a'",
    "underlines": "a_",
    "addresses": "a@",
    "initials": "a.",
    "hosts": "ab.",
    "links": "http://a.b/?x=1,",
    "links that end badly": "www.)",
    "numbers": "1,",
    "citations": "[1]",
    "quotation marks": '"',
    "stops": ".",
    "marks": "=-",
    "JSON": '{"a":1,',
    "Han": "中",
    "families": "👨\u200d",
    "combining marks": "\u0301",
    "joiners": "\u200d",
}


def seconds(work: Callable[[str], object], text: str) -> float:
    """The least of two: what else happens on the machine only adds to it."""

    def once() -> float:
        began = time.process_time()
        work(text)
        return time.process_time() - began

    return min(once(), once())


def check_level(work: Callable[[str], object], text: str, length: int, longer: int = LONGER) -> None:
    short, long = (seconds(work, text[:end]) for end in (length, longer * length))
    assert long < WORSE * longer * max(short, 0.005), f"{short:.3f} s, and for {longer} times as much {long:.3f} s"


def in_chunks(text: str) -> None:
    splitter = TextSplitter()
    for first in range(0, len(text), 8192):
        splitter.read(text[first : first + 8192])
    splitter.read("", final=True)


def by_characters(text: str) -> None:
    splitter = TextSplitter()
    for character in text:
        splitter.read(character)
    splitter.read("", final=True)


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_words_and_sentences(unit: str) -> None:
    text = unit * 80_000
    check_level(split_text, text, 20_000)
    check_level(in_chunks, text, 20_000)
    check_level(by_characters, text, 5_000)


def test_letters_at_random() -> None:
    """From 100 kB to 5 MB."""
    choose = random.Random(5)
    text = "".join(choose.choices(string.ascii_letters + string.digits + "+/", k=5_000_000))
    check_level(split_text, text, 100_000, 50)
    check_level(in_chunks, text, 100_000, 50)


def test_a_stream() -> None:
    def read(text: str) -> None:
        stream = toy_resolver.resolver().stream()
        stream.feed(text)
        stream.close()

    check_level(read, "a" * 12_000, 3_000)
    check_level(read, "he,Anna," * 500, 1_000)


def test_names_for_the_pronouns_of_one_sentence() -> None:
    """Many people who are named before, and then spoken of in a sentence without end."""

    def prepared(people: int) -> Document:
        names = "".join(f"Anna{i} ran. " for i in range(people))
        document = document_from_text("long", names + "she,x," * people)
        place = {word: (i, i + 1) for i, word in enumerate(document.words) if word.startswith("Anna")}
        shes = [(i, i + 1) for i, word in enumerate(document.words) if word == "she"]
        document = replace(document, clusters=tuple(zip(place.values(), shes, strict=True)))
        assert document.entities[0].name == "Anna0"
        return document

    short, long = (prepared(people) for people in (500, LONGER * 500))
    assert long.resolved_text().count("Anna7,x") == 1
    took = [seconds(lambda _, document=document: document.resolved_text(), "") for document in (short, long)]  # type: ignore[misc]
    assert took[1] < WORSE * LONGER * took[0], took
