"""Headings as they are met in a text, and the sections that they make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from streamcoref.document import Section


@dataclass(frozen=True, slots=True)
class Heading:
    """The beginning of a section: where that ends shows when the next of its level, or an outer one, comes."""

    title: str
    level: int
    start: int


def sections_of(headings: Sequence[Heading], length: int) -> tuple[Section, ...]:
    """The sections of a text of so many characters."""
    sections: list[Section] = []
    ends: dict[int, int] = {}  # level -> where the next section of that level, or of an outer one, starts
    for heading in sorted(headings, key=lambda heading: heading.start)[::-1]:
        end = min((ends[level] for level in ends if level <= heading.level), default=length)
        sections.append(Section(heading.title, heading.level, heading.start, end))
        ends[heading.level] = heading.start
    return tuple(sections[::-1])
