"""A book that was taken out of its file, and how its text is put together."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from streamcoref.document import Document
from streamcoref.errors import InputError
from streamcoref.text.sections import Heading, sections_of
from streamcoref.text.split import document_from_text

LONGEST_TEXT = 50_000_000  # characters; it is held as a whole, and a small file may unpack to anything
_LONGEST_TITLE = 300  # characters; what is longer is no title, and is cut
# What may part two pieces of text, the weaker first: of several in a row the strongest counts.
BLANK, CELL, LINE, PARAGRAPH = " ", "\t", "\n", "\n\n"
_STRENGTH = {"": 0, BLANK: 1, CELL: 2, LINE: 3, PARAGRAPH: 4}
_SPACE = re.compile(r"[ \t\n\r\f]+")  # what markup calls white space; a no-break space is a character
_NO_TEXT = re.compile("[\0\ud800-\udfff]")
_SOFT_HYPHEN = "\xad"  # says where a word may be broken, and shows nowhere else


@dataclass(frozen=True, slots=True)
class Decoding:
    """How bytes become characters where a file does not say so itself: as for plain text."""

    encoding: str = "utf-8"
    errors: str = "strict"


@dataclass(frozen=True, slots=True)
class Book:
    """The text of a book and its headings, in the order of the text; none if its file tells of none."""

    text: str
    headings: tuple[Heading, ...] = ()

    def document(self, key: str) -> Document:
        """If nobody marked the headings, they are those that are plain to see, as in plain text."""
        sections = sections_of(self.headings, len(self.text)) if self.headings else None
        return document_from_text(key, self.text, sections=sections)


# Takes a book out of a file, which can be read at any place; the path is for messages.
Extract = Callable[[BinaryIO, Path, Decoding], Book]


class BookText:
    """A text as it grows: words as they come, parted by a blank, a line end or a blank line, as a page shows them.

    Marks name places: that of the next character to come.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts: list[str] = []
        self._length = 0
        self._gap = ""
        self._waiting: list[str] = []
        self.marks: dict[str, int] = {}
        self.headings: list[Heading] = []
        self._heading: tuple[int, str] | None = None  # the level of the open one, and its mark
        self._title: list[str] = []

    def add(self, text: str) -> None:
        """Text as markup has it: any white space is a blank."""
        text = text.replace(_SOFT_HYPHEN, "")
        words = _SPACE.sub(BLANK, text)
        if words.startswith(BLANK):
            self.part(BLANK)
        if bare := words.strip(BLANK):
            self.add_as_it_is(bare)
            if words.endswith(BLANK):
                self.part(BLANK)

    def add_as_it_is(self, text: str) -> None:
        """Text whose white space is its own."""
        if not text:
            return
        gap = self._gap if self._length else ""
        self._gap = ""
        text = without_no_text(text)
        self._parts += (gap, text)
        self._length += len(gap) + len(text)
        if self._length > LONGEST_TEXT:
            raise InputError(f"this has more than {LONGEST_TEXT:,} characters of text, as no book has", self._path)
        self.marks.update((name, self._length - len(text)) for name in self._waiting)
        self._waiting.clear()
        if self._heading is not None:
            self._title += (gap, text)

    def part(self, gap: str) -> None:
        """What comes next is parted from what was there by this at least."""
        self._gap = max(self._gap, gap, key=_STRENGTH.__getitem__)

    def part_more(self, gap: str) -> None:
        """The same where gaps add up: two line ends are a blank line."""
        self.part(PARAGRAPH if self._gap == gap == LINE else gap)

    def mark(self, name: str) -> None:
        if name not in self.marks:
            self._waiting.append(name)

    def begin_heading(self, level: int) -> None:
        self.part(PARAGRAPH)
        self._heading = level, f"\0{len(self.headings)}"
        self._title = []
        self.mark(self._heading[1])

    def end_heading(self, otherwise: str = "") -> None:
        """The heading is what came since its beginning, or `otherwise` if that was nothing, as where it is an image."""
        if self._heading is None:
            return
        (level, mark), self._heading = self._heading, None
        self.part(PARAGRAPH)
        if title := one_line("".join(self._title)) or one_line(otherwise):
            self.headings.append(Heading(title, level, -1))  # where it starts, its mark says
        else:
            self.marks.pop(mark, None)
            self._waiting = [name for name in self._waiting if name != mark]

    def settled_marks(self) -> dict[str, int]:
        """Where all marks are: those behind the last character, at the end."""
        self.marks.update((name, self._length) for name in self._waiting)
        return self.marks

    def book(self, contents: Sequence[Heading] | None = None) -> Book:
        """What has been put together; with a table of contents its headings instead of those of the text."""
        marks = self.settled_marks()
        found = [replace(one, start=marks[f"\0{number}"]) for number, one in enumerate(self.headings)]
        return Book("".join(self._parts), ordered(found if contents is None else contents))


def without_no_text(text: str) -> str:
    """NULs and halves of characters, which no book has and not every file can hold, as U+FFFD."""
    return _NO_TEXT.sub("\ufffd", text)


def one_line(title: str) -> str:
    return " ".join(title.split())[:_LONGEST_TITLE]


def ordered(headings: Iterable[Heading]) -> tuple[Heading, ...]:
    """In the order of the text, with levels from 1 on that leave none out; of two of a level at one place the first."""
    found = sorted(headings, key=lambda heading: (heading.start, heading.level))
    ranks = {level: rank for rank, level in enumerate(sorted({heading.level for heading in found}), 1)}
    seen: set[tuple[int, int]] = set()
    kept = []
    for heading in found:
        place = heading.start, heading.level
        if place not in seen:
            seen.add(place)
            kept.append(replace(heading, level=ranks[heading.level]))
    return tuple(kept)
