"""Who is spoken of where: the chapters of a store and their main entities."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from streamcoref.document import Section
from streamcoref.store.database import Store


@dataclass(frozen=True, slots=True)
class Chapter:
    """A part of the text between two headings: `titles` are those of the sections it lies in, the outermost first.

    What stands before the first heading has no titles. `mentions` says how often each entity is mentioned, by its id.
    """

    titles: tuple[str, ...]
    start: int
    end: int
    mentions: Counter[int]


def chapters(store: Store, level: int | None = None) -> Iterator[Chapter]:
    """The chapters in the order of the text; sections deeper than `level` belong to those that they lie in.

    A heading that only others follow, as that of a volume before its first chapter, makes none; nor does a beginning
    without mentions. One chapter's numbers are held at a time.
    """
    sections = [section for section in store.sections() if level is None or section.level <= level]
    if not sections:
        return
    places = store.places()
    place = next(places, None)
    opening = Section("", 0, 0, sections[0].start)
    last = Section("", 0, max(section.end for section in sections), 0)
    within: list[Section] = []
    for section, after in pairwise([opening, *sections, last]):
        within = [*(outer for outer in within if 0 < outer.level < section.level), section]
        mentions: Counter[int] = Counter()
        while place is not None and (place[0] is None or place[0] < after.start or after is last):
            mentions[place[1]] += 1
            place = next(places, None)
        if mentions or (section is not opening and after.level <= section.level):
            titles = tuple(outer.title for outer in within if outer is not opening)
            yield Chapter(titles, section.start, after.start, mentions)
