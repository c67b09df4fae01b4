"""Names against names: titles that nobody has both of, and how often an entity is called as a span says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from streamcoref.language.lexicon import MISS, MRS, Gender
from streamcoref.model.features.agreement import SpanKind
from streamcoref.model.features.likeness import Likeness
from streamcoref.model.notes import Array, BoolArray, IntArray, Notes

# One name in so many is no mistake: if it is the very name, or a part of it; if it is of the family, or has a title.
_AT_TIMES, _OFTEN = 8, 4
_RANKS = 8  # bits of a title's number for its gender
# The genders of which an entity's mentions are counted.
COUNTED = tuple(int(one) for one in (Gender.HE, Gender.SHE, Gender.IT, Gender.THEY, Gender.WE))
HE, SHE = COUNTED.index(Gender.HE), COUNTED.index(Gender.SHE)  # their places among these
_BITS = np.array(COUNTED)
# The places of the genders that one of a few bits is, by its number.
PLACES = [[n for n, bit in enumerate(COUNTED) if gender & bit] for gender in range(sum(COUNTED) + 1)]


def title_number(gender: Gender, rank: int) -> int:
    """A title as it is kept: its gender, and above it its rank; 0 of one that has neither."""
    return int(gender) + (rank << _RANKS)


def sex_of(title: int) -> int:
    """The gender of a title, by its number; 0 if it tells none."""
    return title % (1 << _RANKS)


def titles_clash(one: int, other: int) -> bool:
    """Whether nobody can have both titles: Mr. and Mrs. of one surname are two, and so are Mrs. and Miss."""
    sex, other_sex, rank, other_rank = sex_of(one), sex_of(other), one >> _RANKS, other >> _RANKS
    by_sex = sex != 0 and other_sex != 0 and sex != other_sex
    return by_sex or (rank != 0 and other_rank != 0 and rank != other_rank)


def is_husband(one: int, other: int) -> bool:
    """Whether of two that share a surname, and nothing else, one is Mrs. and the other has no title: "Hall" is not Mrs.
    Hall. A given name may do without: "Harriet" is Miss Harriet."""
    return (one == 0 and other >> _RANKS == MRS) or (other == 0 and one >> _RANKS == MRS)


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
        places = PLACES[spans["gender"]]
        own: IntArray = counts[..., places[0]] if len(places) == 1 else counts[..., places].sum(-1)  # mostly the first
        return own, counts.sum(-1)
    mine = (spans["gender"][..., None] & _BITS) > 0  # [..., genders]
    return np.where(mine, counts, 0).sum(-1), counts.sum(-1)


def is_nameless(entities: Notes) -> BoolArray:
    """The first place for a form of a name is the first to be taken, and never free again."""
    nameless: BoolArray = entities["called"][..., 0] == 0
    return nameless


def compare_names(spans: Notes, entities: Notes, fade: bool = True, titles_tell: bool = False) -> IntArray:
    """Entities that have a name by its forms, others by their gender. A span shares a word with few of them."""
    if spans.dimensions:
        own = entities.dimensions == 2  # each span has entities of its own, or all of them the same ones
        known = (entities.at(m % len(entities)) if own else entities for m in range(len(spans)))
        return np.stack([compare_names(spans.at((m, 0)), one, fade, titles_tell) for m, one in enumerate(known)])
    title, first, last, gender = (int(spans[name]) for name in ("title", "first", "last", "gender"))
    by_forms = np.full(entities["place"].shape, _OTHER_NAME)
    columns = [entities[name] for name in ("called", "titles", "firsts", "lasts", "genders")]
    for row in np.flatnonzero(_shares_word(entities, first, last)).tolist():
        *forms, genders = (column[row].tolist() for column in columns)
        by_forms[row] = _by_forms(title, first, last, gender, zip(*forms, strict=True), genders, fade, titles_tell)
    nameless = _OF_NAMES.take(agreement(spans, entities)) if gender else _NAMELESS
    return np.where(is_nameless(entities), nameless, by_forms)


# As numbers, which numpy takes far quicker than the members of an enum.
_NAMELESS, _OTHER_NAME, _OTHER_TITLE = int(Likeness.NAMELESS), int(Likeness.OTHER_NAME), int(Likeness.OTHER_TITLE)
_OF_THE_FAMILY, _TITLE_AND_SURNAME = int(Likeness.OF_THE_FAMILY), int(Likeness.TITLE_AND_SURNAME)
_PART = int(Likeness.PART_AT_TIMES), int(Likeness.PART_OF_NAME)  # by whether mostly
_SAME = int(Likeness.SAME_AT_TIMES), int(Likeness.SAME_NAME)
# By agreement
_OF_NAMES = np.array([Likeness.NAMELESS_CLASHES, Likeness.NAMELESS, Likeness.NAMELESS, Likeness.NAMELESS_AGREES])


def _shares_word(entities: Notes, first: int, last: int) -> BoolArray:
    firsts, lasts = entities["firsts"], entities["lasts"]
    equal = (firsts == last) | (lasts == last)
    if first != last:
        equal |= (firsts == first) | (lasts == first)
    shares: BoolArray = equal.any(-1)
    return shares


def _by_forms(
    title: int,
    first: int,
    last: int,
    gender: int,
    forms: Iterable[tuple[int, int, int, int]],
    genders: Sequence[int],
    fade: bool,
    titles_tell: bool,
) -> int:
    """Each form of the entity's name votes as often as it was called so; with `fade`, if that is not too rarely.

    With `titles_tell` who has often another title, and more often than the span's, is somebody else: Miss Morland, who
    is mostly Catherine, is not Mrs. Morland. Nor is she Morland: ladies have a title with their surname.

    In plain numbers: a name shares words with few entities, which have few forms, and arrays of these cost more.
    """
    single, rank = first == last, title >> _RANKS
    own, every = sum([genders[place] for place in PLACES[gender]]), sum(genders)
    # Votes for the very name, for it or a part of it, for the family, for title and surname, and for another title.
    whole = some = family = titled_so = other = all_called = 0
    for called, their_title, their_first, their_last in forms:
        if not called:
            continue
        all_called += called
        singles, shares_last = their_first == their_last, last == their_last
        clash = titles_clash(title, their_title)
        if single and singles and not clash:
            clash = is_husband(title, their_title)
            if titles_tell and their_title >> _RANKS == MISS:
                clash |= title == 0 and gender == 0
            elif titles_tell and rank == MISS:
                clash |= their_title == 0 and 2 * own <= every
        if clash:
            other += called if shares_last else 0
            family += called if shares_last else 0
            continue
        if first == their_first and shares_last:
            whole += called
            some += called
            continue
        family += called if shares_last else 0
        if shares_last and single != singles and (title if single else their_title):
            titled_so += called
        elif (single and last in (their_first, their_last)) or (singles and their_last in (first, last)):
            some += called
    least = all_called if fade else 0  # with which votes are compared, so that a few may be a mistake
    is_same = whole > 0 and _AT_TIMES * whole >= least
    if 2 * other > all_called or (titles_tell and other > whole and _AT_TIMES * other >= all_called):
        return _OTHER_TITLE
    # Not "Randolph", who is mostly she
    unlike = fade and gender != 0 and 3 * own < every and (not is_same or 3 * whole < all_called)
    if not unlike:
        if is_same:
            return _SAME[3 * whole >= all_called]
        if some and _AT_TIMES * some >= least:
            return _PART[2 * some >= all_called]
        if titled_so and _OFTEN * titled_so >= least:
            return _TITLE_AND_SURNAME
    return _OF_THE_FAMILY if family and _OFTEN * family >= least else _OTHER_NAME


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
