"""Entities that turn out to be one: names that can be one person's, and nothing against it. Off in the paper's own
algorithm."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from streamcoref.model.features.name_votes import HE, SHE, is_husband, sex_of, titles_clash
from streamcoref.model.memory import EntityMemory
from streamcoref.model.notes import IntArray, Notes

RARELY = 0.03  # the share of an entity's names that one must have to be one of its own, and not a mistake


class Merge(NamedTuple):
    """Two entities that have become one, by their numbers: what was the younger one is now the older one."""

    kept: int
    gone: int


class MainName(NamedTuple):
    """What an entity is mostly called: first and last word, which of a single word are one, and its title's gender."""

    id: int
    slot: int
    title: int
    first: int
    last: int
    sex: int  # 1 of he, 2 of she, 0 if unknown

    @property
    def is_single(self) -> bool:
        return self.first == self.last

    def clashes(self, other: MainName) -> bool:
        """Whether titles (Mr. and Mrs.), or pronouns of he and she, tell them apart."""
        same_word = self.is_single and other.is_single and self.last == other.last
        if titles_clash(self.title, other.title) or (same_word and is_husband(self.title, other.title)):
            return True
        return _differ(self.sex, other.sex) or _differ(sex_of(self.title), other.sex)


def merge_same_names(memory: EntityMemory, votes: int) -> list[Merge]:
    """Make those entities one that are mostly called by names of one person, each at least `votes` times.

    The same name is, and so is a part of one that nobody else has: "Holmes" and "Sherlock Holmes", but not "Miss
    Bennet" and "Jane Bennet" if there is an Elizabeth Bennet. A title and a surname are the entity's that has been
    called so besides by its given name: "Emma" and "Miss Woodhouse".
    """
    if "called" not in memory.notes.columns:
        return []
    merged: list[Merge] = []
    while (pair := _first_pair(memory.notes.at(slice(0, len(memory))), votes)) is not None:
        kept, gone = pair
        merged.append(Merge(int(memory.ids[kept]), int(memory.ids[gone])))
        memory.merge(kept, gone)
    return merged


def merge_who_answers(memory: EntityMemory, answers: Mapping[tuple[int, int], int], votes: int) -> list[Merge]:
    """Give a nameless entity, such as a narrator, the name of who was called when it answered.

    `answers` counts how often each one answered when another was called. It takes more than `votes` times, and more
    than half of the times that the entity has answered to a name.
    """
    merged: list[Merge] = []
    if "called" not in memory.notes.columns:
        return merged
    totals = Counter[int]()
    for (speaker, _), times in answers.items():
        totals[speaker] += times
    for (speaker, called), times in answers.items():
        if times <= votes or 2 * times <= totals[speaker]:
            continue
        slots = {number: slot for slot, number in enumerate(memory.ids.tolist())}
        if not {speaker, called} <= slots.keys():
            continue
        notes = memory.notes.at([slots[speaker], slots[called]])
        # Who was called something once in a hundred mentions was so by mistake.
        rarely = RARELY * notes["size"]
        named = (notes["called"].sum(-1) > rarely).tolist()
        sexes = _sex(np.where(notes["genders"] > rarely[:, None], notes["genders"], 0)).tolist()
        if named == [False, True] and not _differ(*sexes):
            merged.append(Merge(min(speaker, called), max(speaker, called)))
            memory.merge(slots[merged[-1].kept], slots[merged[-1].gone])
    return merged


def _first_pair(notes: Notes, votes: int) -> tuple[int, int] | None:
    """The slots of two entities that are one, the older before the younger, whichever stands where."""
    names = _names(notes, votes)
    by_word: dict[int, list[MainName]] = defaultdict(list)
    for name in names:
        for word in {name.first, name.last}:
            by_word[word].append(name)
    for group in by_word.values():
        for one, other in combinations(group, 2):
            if not one.clashes(other) and _one_person(one, other, group):
                return one.slot, other.slot
    singles = [name for name in names if name.is_single]
    titled, untitled = ([name for name in singles if bool(name.title) is with_title] for with_title in (True, False))
    if not titled or not untitled:
        return None
    forms = Forms.of(notes, np.array([name.slot for name in untitled]))
    full = _full_names(notes)
    # Few of them are anybody else's name or surname, so that only these are looked at.
    often = forms.often(votes)
    for name in titled:
        owner = _called_so(name, untitled, forms, votes) if (name.title, name.first, name.last) in often else None
        if owner is None and name.last in full:
            owner = _of_full_name(name, untitled, full[name.last], votes)
        if owner is not None:
            return (owner.slot, name.slot) if owner.id < name.id else (name.slot, owner.slot)
    return None


def _names(notes: Notes, votes: int) -> list[MainName]:
    """Of the entities that have one which most of their names have a word of, in the order of their ids."""
    often = np.flatnonzero((notes["called"] >= votes).any(-1))  # few, as a rule, so that only these are looked at
    called, titles, firsts, lasts = (notes[name][often] for name in ("called", "titles", "firsts", "lasts"))
    if not len(often):
        return []
    rows, top = np.arange(len(often)), called.argmax(-1)
    title, first, last = (names[rows, top] for names in (titles, firsts, lasts))
    agrees = (firsts == first[:, None]) | (lasts == last[:, None])
    sure = 2 * np.where(agrees, called, 0).sum(-1) >= called.sum(-1)
    found = (notes["id"][often], often, title, first, last, _sex(notes["genders"][often]))
    return sorted(MainName(*values) for values in zip(*(column[sure].tolist() for column in found), strict=True))


def _one_person(one: MainName, other: MainName, group: Sequence[MainName]) -> bool:
    """Whether names that have a word in common, which all of the group have, are one person's."""
    if (one.first, one.last) == (other.first, other.last):
        return True
    if one.is_single == other.is_single:
        return False
    single, full = (one, other) if one.is_single else (other, one)
    same = [(name.first, name.last) for name in group if not name.is_single and not name.clashes(single)]
    return set(same) == {(full.first, full.last)}  # nobody else can be meant


class Forms(NamedTuple):
    """The forms of some entities' names, [n, forms] each."""

    slots: IntArray  # [n]
    titles: IntArray
    firsts: IntArray
    lasts: IntArray
    called: IntArray

    @classmethod
    def of(cls, notes: Notes, slots: IntArray) -> Forms:
        return cls(slots, *(notes[column][slots] for column in ("titles", "firsts", "lasts", "called")))

    def often(self, votes: int) -> set[tuple[int, int, int]]:
        """Those that somebody has been called so many times: title, first word and last."""
        enough = self.called >= votes
        return set(zip(*(names[enough].tolist() for names in self[1:4]), strict=True))


class FullName(NamedTuple):
    """A form of an entity's name that has a given name and a surname."""

    slot: int
    title: int
    first: int
    called: int


def _full_names(notes: Notes) -> dict[int, list[FullName]]:
    """All of them, by the surname: few, as a rule, so that they are compared as plain numbers."""
    slots, places = np.nonzero((notes["called"] > 0) & (notes["firsts"] != notes["lasts"]))
    columns = (notes[name][slots, places].tolist() for name in ("lasts", "titles", "firsts", "called"))
    found: dict[int, list[FullName]] = defaultdict(list)
    for slot, last, *form in zip(slots.tolist(), *columns, strict=True):
        found[last].append(FullName(slot, *form))
    return found


# Whose is a title and a surname? Who is called so, too, and mostly by something else; or who has the given name.


def _called_so(name: MainName, others: Sequence[MainName], forms: Forms, votes: int) -> MainName | None:
    _, titles, firsts, lasts, called = forms  # of the others
    so = (titles == name.title) & (firsts == name.first) & (lasts == name.last)
    counts = np.where(so, called, 0).sum(-1)
    enough = counts >= votes
    if not enough.any():
        return None
    enough &= counts >= RARELY * called.sum(-1)
    # Jane, who is also Jane Fairfax, is not Miss Bates, whatever she was called by mistake.
    given = np.array([one.first for one in others])
    full = np.where((firsts == given[:, None]) & (firsts != lasts) & (called > 0), lasts, name.last)
    enough &= (full == name.last).all(-1) | ((firsts == given[:, None]) & (lasts == name.last)).any(-1)
    # A daughter is at times called as her mother is: a Mrs. needs her full name.
    enough &= [not one.clashes(name) and not is_husband(one.title, name.title) for one in others]
    owners = np.flatnonzero(enough).tolist()
    return others[max(owners, key=lambda place: int(counts[place]))] if owners else None


def _of_full_name(name: MainName, others: Sequence[MainName], full: Sequence[FullName], votes: int) -> MainName | None:
    """The one whose given name stands before the surname in a full name of the two, `votes` times: Emma, Emma
    Woodhouse, and Miss Woodhouse. If several could be meant, Jane and Elizabeth Bennet, nobody is.

    `full` are the full names of all who have been called by this surname.
    """
    fitting = [one for one in full if not titles_clash(one.title, name.title)]
    # Who was called Miss Daisy Miller is not Mrs. Miller.
    others_too = {one.first for one in full if titles_clash(one.title, name.title)}
    every = {one.first for one in fitting} - others_too
    given = [one for one in others if one.first in every and not one.clashes(name)]
    if len(given) != 1:
        return None
    both = given[0].slot, name.slot
    times = sum(one.called for one in fitting if one.slot in both and one.first == given[0].first)
    return given[0] if times >= votes else None


def _differ(one: int, other: int) -> bool:
    return one != 0 and other != 0 and one != other


def _sex(genders: IntArray) -> IntArray:
    """1 of entities that are mostly he, 2 of those that are mostly she, 0 of others: as `Gender` has them."""
    he, she = genders[:, HE], genders[:, SHE]
    return np.where(he > 2 * she, 1, np.where(she > 2 * he, 2, 0))
