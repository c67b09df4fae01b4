"""Names against names: titles that nobody has both of, and how often an entity is called as a span says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

import numpy as np

from streamcoref.language.lexicon import MISS, MRS, Gender
from streamcoref.model.features.agreement import SpanKind
from streamcoref.model.features.likeness import Likeness
from streamcoref.model.notes import Array, BoolArray, IntArray, Notes

# One name in so many is no mistake, by what it votes for: the very name, a part of it, the family, title and surname,
# another title.
_AT_TIMES, _OFTEN = 8, 4
_NO_MISTAKE = np.array([_AT_TIMES, _AT_TIMES, _OFTEN, _OFTEN, _OFTEN])
_RANKS = 8  # bits of a title's number for its gender
# The genders of which an entity's mentions are counted.
COUNTED = tuple(int(one) for one in (Gender.HE, Gender.SHE, Gender.IT, Gender.THEY, Gender.WE))
HE, SHE = COUNTED.index(Gender.HE), COUNTED.index(Gender.SHE)  # their places among these
_BITS = np.array(COUNTED)
# The places of the genders that one of a few bits is, by its number.
_PLACES = [[n for n, bit in enumerate(COUNTED) if gender & bit] for gender in range(sum(COUNTED) + 1)]


def title_number(gender: Gender, rank: int) -> int:
    """A title as it is kept: its gender, and above it its rank; 0 of one that has neither."""
    return int(gender) + (rank << _RANKS)


def sex_of(title: int) -> int:
    """The gender of a title, by its number; 0 if it tells none."""
    return title % (1 << _RANKS)


@overload
def titles_clash(one: int, other: int) -> bool: ...
@overload
def titles_clash(one: IntArray, other: IntArray | int) -> BoolArray: ...
def titles_clash(one: IntArray | int, other: IntArray | int) -> BoolArray | bool:
    """Whether nobody can have both titles: Mr. and Mrs. of one surname are two, and so are Mrs. and Miss."""
    sex, other_sex, rank, other_rank = one % (1 << _RANKS), other % (1 << _RANKS), one >> _RANKS, other >> _RANKS
    by_sex = (sex != 0) & (other_sex != 0) & (sex != other_sex)
    clash: BoolArray | bool = by_sex | ((rank != 0) & (other_rank != 0) & (rank != other_rank))
    return clash


@overload
def is_husband(one: int, other: int) -> bool: ...
@overload
def is_husband(one: IntArray, other: IntArray) -> BoolArray: ...
def is_husband(one: IntArray | int, other: IntArray | int) -> BoolArray | bool:
    """Whether of two that share a surname, and nothing else, one is Mrs. and the other has no title: "Hall" is not Mrs.
    Hall. A given name may do without: "Harriet" is Miss Harriet."""
    is_one: BoolArray | bool = ((one == 0) & (other >> _RANKS == MRS)) | ((other == 0) & (one >> _RANKS == MRS))
    return is_one


def agreement(spans: Notes, entities: Notes) -> Array:
    """Of how many of an entity's mentions that have a gender it is a span's: 0 none, 1 less than half, 3 more.

    2 if there are no such mentions. One span has a gender; of several some may have none.
    """
    own, every = _votes_of_gender(spans, entities["genders"])
    found = (2 * own >= every).view(np.int8) << 1  # in bytes, which are quicker
    found |= (own > 0).view(np.int8)
    return found


def _votes_of_gender(spans: Notes, counts: IntArray) -> tuple[IntArray, IntArray]:
    """How many of an entity's mentions have a span's gender, and how many have any."""
    if spans.dimensions == 0:
        places = _PLACES[spans["gender"]]
        own: IntArray = counts[..., places[0]] if len(places) == 1 else counts[..., places].sum(-1)  # mostly the first
        return own, counts.sum(-1)
    mine = (spans["gender"][..., None] & _BITS) > 0  # [..., genders]
    return np.where(mine, counts, 0).sum(-1), counts.sum(-1)


def is_nameless(entities: Notes) -> BoolArray:
    """The first place for a form of a name is the first to be taken, and never free again."""
    nameless: BoolArray = entities["called"][..., 0] == 0
    return nameless


def compare_names(spans: Notes, entities: Notes, fade: bool = True, titles_tell: bool = False) -> IntArray:
    """Entities that have a name by its forms, others by their gender. One span shares a word with few of them."""
    columns = [entities[name] for name in ("titles", "firsts", "lasts", "called", "genders")]
    if spans.dimensions:
        by_forms = _forms(spans, columns, fade, titles_tell)
    else:
        by_forms = np.full(entities["place"].shape, _OTHER_NAME)
        rows = np.flatnonzero(_shares_word(entities, int(spans["first"]), int(spans["last"])))
        if len(rows):
            by_forms[rows] = _forms(spans, [column[rows] for column in columns], fade, titles_tell)
    if not spans["gender"].any():
        return np.where(is_nameless(entities), _NAMELESS, by_forms)
    nameless = _OF_NAMES.take(agreement(spans, entities))
    if spans.dimensions:
        nameless = np.where(spans["gender"] == 0, _NAMELESS, nameless)
    return np.where(is_nameless(entities), nameless, by_forms)


# As numbers, which numpy takes far quicker than the members of an enum.
_NAMELESS, _OTHER_NAME, _OTHER_TITLE = int(Likeness.NAMELESS), int(Likeness.OTHER_NAME), int(Likeness.OTHER_TITLE)
_OF_FAMILY = np.array([Likeness.OTHER_NAME, Likeness.OF_THE_FAMILY])  # by whether
_TITLE_AND_SURNAME = int(Likeness.TITLE_AND_SURNAME)
_PART = np.array([Likeness.PART_AT_TIMES, Likeness.PART_OF_NAME])  # by whether mostly
_SAME = np.array([Likeness.SAME_AT_TIMES, Likeness.SAME_NAME])
# By agreement
_OF_NAMES = np.array([Likeness.NAMELESS_CLASHES, Likeness.NAMELESS, Likeness.NAMELESS, Likeness.NAMELESS_AGREES])


def _shares_word(entities: Notes, first: int, last: int) -> BoolArray:
    firsts, lasts = entities["firsts"], entities["lasts"]
    equal = (firsts == last) | (lasts == last)
    if first != last:
        equal |= (firsts == first) | (lasts == first)
    shares: BoolArray = equal.any(-1)
    return shares


def _forms(spans: Notes, columns: Sequence[IntArray], fade: bool, titles_tell: bool) -> IntArray:
    """Each form of the entity's name votes as often as it was called so; with `fade`, if that is not too rarely.

    With `titles_tell` who has often another title, and more often than the span's, is somebody else: Miss Morland, who
    is mostly Catherine, is not Mrs. Morland. Nor is she Morland: ladies have a title with their surname.
    """
    titles, firsts, lasts, called, genders = columns
    title, first, last = (spans[name][..., None] for name in ("title", "first", "last"))
    all_called = called.sum(-1)
    single, singles = first == last, firsts == lasts
    clash = single & singles & is_husband(title, titles)
    if title.any():
        clash |= titles_clash(title, titles)
    if titles_tell:
        his = (title == 0) & (spans["gender"][..., None] == 0) & (titles >> _RANKS == MISS)
        is_miss = title >> _RANKS == MISS
        if is_miss.any():
            hers, every = (votes[..., None] for votes in _votes_of_gender(spans, genders))
            his |= (titles == 0) & is_miss & (2 * hers <= every)
        clash |= single & singles & his
    same = (first == firsts) & (last == lasts) & ~clash
    shares_last = last == lasts
    within = (single & ((last == firsts) | shares_last)) | (singles & ((lasts == first) | shares_last))
    titled = shares_last & ((single & (title != 0)) | (singles & (titles != 0))) & (single != singles)
    part = within & ~clash & ~titled

    # Votes for the very name, for it or a part of it, for the family, for title and surname, and for another title.
    voting = np.stack([same, same | part, shares_last & ~same, titled & ~clash, shares_last & clash])
    votes = np.where(voting, called, 0).sum(-1)
    whole, some, _, _, other = votes
    counts = votes > 0
    if fade:
        counts &= _NO_MISTAKE.reshape(-1, *[1] * (votes.ndim - 1)) * votes >= all_called
    is_same, in_part, of_family, titled_so, _ = counts
    if fade and spans["gender"].any():
        own, every = _votes_of_gender(spans, genders)
        rarely = (3 * whole < all_called) | ~is_same
        like = (spans["gender"] == 0) | (3 * own >= every) | ~rarely  # not "Randolph", who is mostly she
        titled_so, in_part, is_same = titled_so & like, in_part & like, is_same & like
    value = _OF_FAMILY.take(of_family)
    value = np.where(titled_so, _TITLE_AND_SURNAME, value)
    value = np.where(in_part, _PART.take(2 * some >= all_called), value)
    value = np.where(is_same, _SAME.take(3 * whole >= all_called), value)
    differs = 2 * other > all_called
    if titles_tell:
        differs |= (other > whole) & (_AT_TIMES * other >= all_called)
    return np.where(differs, _OTHER_TITLE, value)


_NAMED = (Likeness.SAME_NAME, Likeness.PART_OF_NAME, Likeness.TITLE_AND_SURNAME)


def words_of_names(spans: Notes) -> IntArray:
    """The words, as hashes, that those of these spans which are names are compared by."""
    names = np.flatnonzero(spans["kind"] == SpanKind.NAME)
    words: IntArray = np.unique(np.concatenate([spans["first"][names], spans["last"][names]]))
    return words


def words_of_forms(entity: Mapping[str, Any]) -> set[int]:
    """The words, as hashes, by which an entity of these notes can be named."""
    forms = zip(entity["called"], entity["firsts"], entity["lasts"], strict=True)
    return {int(word) for called, *words in forms if called for word in words}


def named_by(spans: Notes, entities: Notes) -> tuple[IntArray, IntArray]:
    """The pairs of a span [k] and an entity [n] that is mostly called as the span says, or by a part of it."""
    names = np.flatnonzero(spans["kind"] == SpanKind.NAME)
    words = words_of_names(spans)
    known = (entities["called"] > 0) & (np.isin(entities["firsts"], words) | np.isin(entities["lasts"], words))
    rows = np.flatnonzero(known.any(-1))  # few of them, as a rule, so that only these are compared
    if not len(rows):
        return rows, rows
    likeness = compare_names(spans.at((names, None)), entities.at(rows))  # [names, rows]
    named, found = np.nonzero(np.isin(likeness, _NAMED))
    return names[named], rows[found]
