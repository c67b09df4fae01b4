"""What is printed on page after page and is no part of the text: page numbers and running titles."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from streamcoref.text.numbers import number_of

_EDGE = 2  # lines at the top, and at the bottom, of a page that may be such
_FEWEST = 3  # pages that are numbered alike, or show the same title
_NEAR = 2  # pages before and after: left and right ones may differ, and each chapter may have its own
_AROUND = " -–—.|[]()·•"
_ALONE = re.compile(r"(?:page |p\. ?)?(\d{1,4}|[ivxlc]{1,8})", re.IGNORECASE)
_BESIDE = re.compile(r"(\d{1,4})\s+(\D.*)|(.*\D)\s+(\d{1,4})")
# A heading may be repeated above the pages of its chapter; where it stands first, it is the heading.
_HEADING = re.compile(r"(?:chapter|part|book|volume|letter|act|scene|canto|prologue|epilogue)\b", re.IGNORECASE)


def blank_running_lines(pages: Sequence[list[str]]) -> None:
    """Empty those lines of the pages."""
    numbers = _page_numbers(pages)
    titles: dict[str, set[int]] = defaultdict(set)
    for number, page in enumerate(pages):
        for at in _edges(page):
            if (number, at) not in numbers or numbers[number, at]:
                titles[numbers.get((number, at)) or page[at]].add(number)
    for number, page in enumerate(pages):
        for at in _edges(page):
            if (number, at) in numbers and not numbers[number, at]:
                page[at] = ""
                continue
            title = numbers.get((number, at)) or page[at]
            shown = titles[title]
            near = sum(other in shown for other in range(number - _NEAR, number + _NEAR + 1))
            first = number == min(shown) and _HEADING.match(title)
            if len(shown) >= _FEWEST and near > 1 and not first:
                page[at] = ""


def _page_numbers(pages: Sequence[list[str]]) -> dict[tuple[int, int], str]:
    """The lines with a page number, by page and line, and what stands beside it there.

    A number is a page's if it counts on with the pages: as far ahead of them as that of some others.
    """
    found = [
        (number, at, value - number, beside)
        for number, page in enumerate(pages)
        for at in _edges(page)
        for value, beside in _numbers(page[at])
    ]
    ahead = Counter(difference for *_, difference, _ in found)
    return {(number, at): beside for number, at, difference, beside in found if ahead[difference] >= _FEWEST}


def _numbers(line: str) -> Iterator[tuple[int, str]]:
    bare = line.strip(_AROUND)
    if alone := _ALONE.fullmatch(bare):
        if alone[1].islower() or alone[1].isdecimal():  # capitals are the numbers of chapters
            value = number_of(alone[1])
            if value is not None:
                yield value, ""
    elif beside := _BESIDE.fullmatch(bare):
        yield int(beside[1] or beside[4]), (beside[2] or beside[3]).strip(_AROUND)


def _edges(page: Sequence[str]) -> list[int]:
    """The first and the last lines of a page, of those that are not empty."""
    filled = [number for number, line in enumerate(page) if line]
    return (
        sorted({*filled[:_EDGE], *filled[-_EDGE:]}) if len(filled) > 2 * _EDGE else sorted({*filled[:1], *filled[-1:]})
    )
