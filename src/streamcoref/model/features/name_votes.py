"""Names against names: titles that nobody has both of, and how often an entity is called as a span says."""

from __future__ import annotations

from typing import Any

import numpy as np

from streamcoref.language.english import MRS, Gender
from streamcoref.model.features.agreement import SpanKind
from streamcoref.model.features.likeness import Likeness
from streamcoref.model.notes import BoolArray, IntArray, Notes

_OFTEN, _AT_TIMES = 4, 8  # one name in so many is no mistake: of a family's name, or of the very one
_RANKS = 8  # bits of a title's number for its gender
COUNTED = (Gender.HE, Gender.SHE, Gender.IT, Gender.THEY, Gender.WE)  # of which an entity's mentions are counted
HE, SHE = COUNTED.index(Gender.HE), COUNTED.index(Gender.SHE)  # their places among these


def title_number(gender: Gender, rank: int) -> int:
    """A title as it is kept: its gender, and above it its rank; 0 of one that has neither."""
    return int(gender) + (rank << _RANKS)


def sex_of(title: int) -> int:
    """The gender of a title, by its number; 0 if it tells none."""
    return title % (1 << _RANKS)


def titles_clash(one: IntArray, other: IntArray) -> BoolArray:
    """Whether nobody can have both titles: Mr. and Mrs. of one surname are two, and so are Mrs. and Miss."""
    sex, other_sex, rank, other_rank = one % (1 << _RANKS), other % (1 << _RANKS), one >> _RANKS, other >> _RANKS
    by_sex = (sex != 0) & (other_sex != 0) & (sex != other_sex)
    clash: BoolArray = by_sex | ((rank != 0) & (other_rank != 0) & (rank != other_rank))
    return clash


def is_husband(one: IntArray, other: IntArray) -> BoolArray:
    """Whether of two that share a surname, and nothing else, one is Mrs. and the other has no title: "Hall" is not Mrs.
    Hall. A given name may do without: "Harriet" is Miss Harriet."""
    is_one: BoolArray = ((one == 0) & (other >> _RANKS == MRS)) | ((other == 0) & (one >> _RANKS == MRS))
    return is_one


def votes_of_gender(spans: Notes, entities: Notes) -> tuple[IntArray, IntArray]:
    """How many of an entity's mentions have a span's gender, and how many have any."""
    mine = (spans["gender"][..., None] & np.array(COUNTED)) > 0  # [..., genders]
    counts = entities["genders"]
    return np.where(mine, counts, 0).sum(-1), counts.sum(-1)


def compare_names(spans: Notes, entities: Notes, fade: bool = True) -> IntArray:
    """Each form of the entity's name votes as often as it was called so; with `fade`, if that is not too rarely."""
    title, first, last = (spans[name][..., None] for name in ("title", "first", "last"))
    titles, firsts, lasts, called = (entities[name] for name in ("titles", "firsts", "lasts", "called"))
    all_called = called.sum(-1)
    single, singles = first == last, firsts == lasts
    clash = titles_clash(title, titles) | (single & singles & is_husband(title, titles))
    same = (first == firsts) & (last == lasts) & ~clash
    shares_last = last == lasts
    within = (single & ((last == firsts) | shares_last)) | (singles & ((lasts == first) | shares_last))
    titled = shares_last & ((single & (title != 0)) | (singles & (titles != 0))) & (single != singles)
    part = within & ~clash & ~titled

    def votes(which: Any) -> IntArray:
        counts: IntArray = np.where(which, called, 0).sum(-1)
        return counts

    whole, some = votes(same), votes(same | part)
    family, by_title = votes(shares_last & ~same), votes(titled & ~clash)
    own, every = votes_of_gender(spans, entities)
    has_gender = spans["gender"] != 0
    if fade:
        family, by_title = (np.where(_OFTEN * count >= all_called, count, 0) for count in (family, by_title))
        whole, some = (np.where(_AT_TIMES * count >= all_called, count, 0) for count in (whole, some))
        unlike = has_gender & (3 * own < every) & (3 * whole < all_called)  # "Randolph", who is mostly she
        by_title, whole, some = (np.where(unlike, 0, count) for count in (by_title, whole, some))
    value = np.where(family > 0, Likeness.OF_THE_FAMILY, Likeness.OTHER_NAME)
    value = np.where(by_title > 0, Likeness.TITLE_AND_SURNAME, value)
    value = np.where(some > 0, np.where(2 * some >= all_called, Likeness.PART_OF_NAME, Likeness.PART_AT_TIMES), value)
    value = np.where(whole > 0, np.where(3 * whole >= all_called, Likeness.SAME_NAME, Likeness.SAME_AT_TIMES), value)
    value = np.where(2 * votes(shares_last & clash) > all_called, Likeness.OTHER_TITLE, value)
    nameless = np.where(2 * own >= every, Likeness.NAMELESS_AGREES, Likeness.NAMELESS)
    nameless = np.where(own == 0, Likeness.NAMELESS_CLASHES, nameless)
    nameless = np.where((every == 0) | ~has_gender, Likeness.NAMELESS, nameless)
    return np.where(all_called == 0, nameless, value)


_NAMED = (Likeness.SAME_NAME, Likeness.PART_OF_NAME, Likeness.TITLE_AND_SURNAME)


def named_by(spans: Notes, entities: Notes) -> BoolArray:
    """Which entities [n] are mostly called as one of these spans [k] says, or by a part of it."""
    names = np.flatnonzero(spans["kind"] == SpanKind.NAME)
    words = np.concatenate([spans["first"][names], spans["last"][names]])
    known = (entities["called"] > 0) & (np.isin(entities["firsts"], words) | np.isin(entities["lasts"], words))
    found: BoolArray = np.atleast_1d(known.any(-1))  # few of them, as a rule, so that only these are compared
    rows = np.flatnonzero(found)
    if len(rows):
        likeness = compare_names(spans.at((names, None)), entities.at(rows))  # [names, rows]
        found[rows] = np.isin(likeness, _NAMED).any(0)
    return found
