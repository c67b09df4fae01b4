"""Headings of plain text: which are seen, where they start, and that no chunking changes them."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Section
from streamcoref.text import document_from_text
from streamcoref.text.headings import HeadingFinder
from streamcoref.text.sections import Heading, sections_of

PROSE = "It was a dark and stormy night, and nobody\nwas out but the cat.\n\n"


def found(text: str) -> list[tuple[str, int]]:
    return [(section.title, section.level) for section in document_from_text("d", text).sections]


def headings(text: str, *, size: int) -> list[Heading]:
    finder = HeadingFinder()
    chunks = [text[begin : begin + size] for begin in range(0, len(text), size)]
    return [heading for chunk in chunks for heading in finder.read(chunk)] + finder.end()


@pytest.mark.parametrize(
    "heading",
    [
        "CHAPTER I",
        "CHAPTER XII.",
        "Chapter 1",
        "Chapter 12: The Cat",
        "CHAPTER I. Mrs. Lynde is Surprised",
        "CHAPTER I—THE CAT",
        "CHAPTER I The Cat",
        "CHAPTER THE FIRST",
        "CHAPTER THE LAST",
        "Chapter Twenty-One",
        "Chapter One. The Cat",
        "BOOK THE FIRST",
        "VOLUME II",
        "PART 2",
        "ADVENTURE VI. THE MAN WITH THE TWISTED LIP",
        "Letter 4",
        "STAVE ONE",
        "ACT III",
        "PROLOGUE",
        "Epilogue.",
        "I",
    ],
)
def test_what_is_a_heading(heading: str) -> None:
    title = heading.rstrip(".") if heading.startswith("Epi") else heading
    assert found(f"{heading}\n\n{PROSE}") == [(title, 1)]
    assert found(f"The Title\n\nby Me\n\n\n   {heading}\r\n\r\n{PROSE}") == [(title, 1)]
    assert found(f"_{heading}_\n\n{PROSE}") == [(title, 1)]


@pytest.mark.parametrize(
    "line",
    [
        "Chapter 2 was dull.",
        "chapter 2",
        "CHAPTER",
        "CHAPTER MIX",
        "Part I\nof the plan had failed.",
        "Book one of these rooms.",
        "Part one",
        "Chapter 2's end",
        "Parting I",
        "A CHAPTER I",
        "II",
        "VII.",
        "12",
        "prologue",
        "“CHAPTER I”",
        "CHAPTER I. " + "The Cat " * 20,
        "Introductions",
    ],
)
def test_what_is_none(line: str) -> None:
    assert found(f"{PROSE}{line}\n\n{PROSE}") == []


def test_titles_below_the_number() -> None:
    assert found(f"CHAPTER I.\nTHE STRANGE MAN\n\n{PROSE}") == [("CHAPTER I. THE STRANGE MAN", 1)]
    assert found(f"CHAPTER I.\n\nTHE STRANGE MAN\n\n{PROSE}") == [("CHAPTER I. THE STRANGE MAN", 1)]
    assert found(f"CHAPTER I. The strange\nman\n\n{PROSE}") == [("CHAPTER I. The strange man", 1)]
    assert found(f"CHAPTER I.\n\nThe end.\n\n{PROSE}") == [("CHAPTER I.", 1)]


def test_prose_right_below_the_number() -> None:
    assert found("CHAPTER I\n" + PROSE.strip() + "\nIt came in.\nAnd slept.\n") == [("CHAPTER I", 1)]
    assert found("CHAPTER I\n" + "It was a dark and stormy night. " * 20) == [("CHAPTER I", 1)]


def test_divisions_lie_inside_others() -> None:
    lines = ("VOLUME I", "CHAPTER I", PROSE, "CHAPTER II", PROSE, "I", PROSE, "II", PROSE, "VOLUME II", "CHAPTER I")
    text = "\n\n".join([*lines, PROSE])
    sections = document_from_text("d", text).sections
    assert [(section.title, section.level) for section in sections] == [
        ("VOLUME I", 1),
        ("CHAPTER I", 2),
        ("CHAPTER II", 2),
        ("I", 3),
        ("II", 3),
        ("VOLUME II", 1),
        ("CHAPTER I", 2),
    ]
    assert all(text[section.start :].startswith(f"{section.title}\n") for section in sections)
    second = text.index("VOLUME II")
    assert [section.end for section in sections] == [
        second,
        text.index("CHAPTER II"),
        second,
        text.index("II\n\nIt", text.index("\nI\n")),
        second,
        len(text),
        len(text),
    ]


def test_a_table_of_contents_is_none_of_it() -> None:
    contents = "CONTENTS\n\nVOLUME I\n\nCHAPTER I. A\nCHAPTER II. B\n\nVOLUME II\n\nCHAPTER I. C\n\nCHAPTER II. D\n\n"
    text = f"{contents}CHAPTER III. E\n\nVOLUME I\n\nCHAPTER I. A\n\n{PROSE}CHAPTER II. B\n\n{PROSE}"
    assert found(text) == [("VOLUME I", 1), ("CHAPTER I. A", 2), ("CHAPTER II. B", 2)]
    between = f"Contents\n\nCHAPTER I\n\nCHAPTER II\n\nCHAPTER III\n\nFor my cat.\n\nCHAPTER I\n\n{PROSE}"
    assert found(between) == [("CHAPTER I", 1)]
    assert found("CHAPTER I. A\nCHAPTER II. B\nCHAPTER III. C\nCHAPTER IV. D\n") == []


def test_a_heading_with_nothing_below_is_none() -> None:
    assert found(f"CHAPTER I\n\n{PROSE}CHAPTER II") == [("CHAPTER I", 1)]
    assert found("CHAPTER I") == found("") == found("\n\n") == []


LINES = st.sampled_from(
    [
        "",
        "",
        "CHAPTER I",
        "CHAPTER II. B",
        "VOLUME I",
        "I",
        "II",
        "x" * 310,
        " " * 310,
        "THE CAT",
        "It ran.",
        "\r",
        "a\nb",
    ]
)


@given(st.lists(LINES, max_size=30), st.integers(1, 400))
def test_chunks_make_no_difference(lines: list[str], size: int) -> None:
    text = "\n".join(lines)
    assert headings(text, size=size) == headings(text, size=len(text) + 1)


@given(st.lists(LINES, max_size=20), st.integers(1, 50), st.integers(0, 200))
def test_what_is_certain_at_a_place_depends_on_nothing_else(lines: list[str], size: int, place: int) -> None:
    """So that a job that was stopped there and goes on finds the same again."""
    text = "\n".join(lines)[:place]
    at_once, bit_by_bit = HeadingFinder(), HeadingFinder()
    together = at_once.read(text)
    apart = [found for begin in range(0, len(text), size) for found in bit_by_bit.read(text[begin : begin + size])]
    assert together == apart


def test_nothing_is_held_but_some_lines() -> None:
    finder = HeadingFinder()
    for chunk in ("x" * 10_000, "CHAPTER I\n\n", "\n" * 1000, f"VOLUME II\n\n{PROSE}"):
        finder.read(chunk * 10)
        tracemalloc.start()
        for _ in range(300):
            finder.read(chunk)
        held, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert held < 20_000, chunk[:20]


def test_sections_of_headings_in_any_order() -> None:
    given = [Heading("b", 2, 5), Heading("A", 1, 2), Heading("C", 1, 9), Heading("d", 3, 12)]
    assert sections_of(given, 20) == (
        Section("A", 1, 2, 9),
        Section("b", 2, 5, 9),
        Section("C", 1, 9, 20),
        Section("d", 3, 12, 20),
    )
    assert sections_of([], 5) == ()
