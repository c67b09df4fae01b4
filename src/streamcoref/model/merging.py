"""Entities that turn out to be one: the same name, and nothing against it. Off in the paper's own algorithm."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamcoref.model.features.identity import HE, SHE
from streamcoref.model.memory import EntityMemory
from streamcoref.model.notes import IntArray, Notes


class Merge(NamedTuple):
    """Two entities that have become one, by their numbers: what was the younger one is now the older one."""

    kept: int
    gone: int


def merge_same_names(memory: EntityMemory, votes: int) -> list[Merge]:
    """Make those entities one that are mostly called by the same name, each at least `votes` times.

    Names are the same if first and last word are; titles that tell them apart (Mr. and Mrs.), or pronouns of he and
    she, speak against it.
    """
    if "called" not in memory.notes.columns:
        return []
    merged: list[Merge] = []
    while (pair := _first_pair(memory.notes.at(slice(0, len(memory))), votes)) is not None:
        kept, gone = pair
        merged.append(Merge(int(memory.ids[kept]), int(memory.ids[gone])))
        memory.merge(kept, gone)
    return merged


def _first_pair(notes: Notes, votes: int) -> tuple[int, int] | None:
    """The slots of two entities that are one, the older before the younger, whichever stands where."""
    called = notes["called"]
    rows = np.arange(len(called))
    top = called.argmax(-1) if len(called) else rows
    title, first, last = (notes[name][rows, top] for name in ("titles", "firsts", "lasts"))
    sure = (called[rows, top] >= votes) & (2 * called[rows, top] >= called.sum(-1))
    gender = _sex(notes["genders"])
    seen: dict[tuple[int, int], list[int]] = {}
    for slot in np.flatnonzero(sure).tolist():
        name = int(first[slot]), int(last[slot])
        for other in seen.get(name, ()):
            if not _clash(int(title[slot]), int(title[other])) and not _clash(int(gender[slot]), int(gender[other])):
                return (other, slot) if notes["id"][other] < notes["id"][slot] else (slot, other)
        seen.setdefault(name, []).append(slot)
    return None


def _clash(one: int, other: int) -> bool:
    return one != 0 and other != 0 and one != other


def _sex(genders: IntArray) -> IntArray:
    """1 of entities that are mostly he, 2 of those that are mostly she, 0 of others."""
    he, she = genders[:, HE], genders[:, SHE]
    return np.where(he > 2 * she, 1, np.where(she > 2 * he, 2, 0))
