"""Rows of link scores by the compiled kernel, `link_rows.c`, where it was built and knows all of a model's features.

Elsewhere numpy computes the same: whoever has no C compiler, or features of their own, misses nothing but time.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from functools import cache

import numpy as np

from streamcoref.model import compiled
from streamcoref.model.arrays import FloatArray
from streamcoref.model.features import FeatureIndex, PairFeature
from streamcoref.model.features.distance import Distance
from streamcoref.model.features.identity import Identity
from streamcoref.model.features.match import Match
from streamcoref.model.features.size import Size
from streamcoref.model.features.talk import Talk
from streamcoref.model.notes import Array, Notes
from streamcoref.model.pair_score.coarse_to_fine import RowRefiner

# As in the source
_TABLES, _ROWS, _BLOCK, _LONGEST = 4, 6, 32, 64

_NUMBERS = (
    "capacity forms last_words names shortlist size hidden reading_stride entity_stride score_stride "
    "distance_step size_step form_step last_word_step identity_step talk_step fade titles_tell narrators_are_apart"
)
# The columns of spans, by the names that notes have for them
_SPAN = "place form last_word kind title first last gender voice meant reversed sure says should before calls inside"
_ENTITY = {
    "ids": "id",
    "sizes": "size",
    "places": "place",
    "all_forms": "forms",
    "all_last_words": "last_words",
    **{name: name for name in "titles firsts lasts called genders voices narrated told".split()},
}


class _Links(ctypes.Structure):
    """`struct links`"""

    _fields_ = (
        *((name, ctypes.c_int64) for name in _NUMBERS.split()),
        *((name, ctypes.c_void_p) for name in [*_SPAN.split(), "vectors", "readings"]),
        *((name, ctypes.c_void_p) for name in [*_ENTITY, "entities", "entity_readings", "priors"]),
        ("tables", ctypes.c_int64),
        ("table_lengths", ctypes.c_int64 * _TABLES),
        ("table", ctypes.c_void_p * _TABLES),
        ("product", ctypes.c_void_p),
        ("weight", ctypes.c_void_p),
        ("bias", ctypes.c_double),
        *((name, ctypes.c_void_p) for name in ("products", "among", "scores")),
        ("spans", ctypes.c_int64),
        *((name, ctypes.c_void_p) for name in ("index", "best", "pairs")),
    )


@cache
def library() -> ctypes.CDLL | None:
    """The kernel, if it was built."""
    found = compiled.library("link_rows")
    if found is None:
        return None
    found.score_row.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64]
    found.blend_products.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_float]
    found.score_row.restype = found.blend_products.restype = None
    return found


class CompiledRows:
    """The rows of one segment's table of scores. It holds the arrays that the kernel reads and writes."""

    def __init__(self, kernel: ctypes.CDLL, links: _Links, arrays: Sequence[Array]) -> None:
        self._links, self._arrays = links, arrays
        self._at = ctypes.addressof(links)
        self._score_row, self._blend_products = kernel.score_row, kernel.blend_products

    def score(self, span: int, count: int) -> None:
        """Fill in the scores of a span's shortlist among the first `count` entities."""
        self._score_row(self._at, span, count)

    def changed(self, slot: int, span: int, share: float) -> None:
        """The products of an entity, of which a span is this share now, with all spans that follow."""
        self._blend_products(self._at, slot, span, share)


def compiled_rows(
    index: FeatureIndex,
    spans: Notes,
    entities: Notes,
    priors: FloatArray,
    products: FloatArray,
    among: FloatArray,
    scores: FloatArray,
    refiner: RowRefiner,
    shortlist: int,
) -> CompiledRows | None:
    """None where the kernel is not there, or does not know a feature; arguments are those of `score_table`."""
    kernel = library()
    numbers = _numbers_of(index.steps)
    tables = refiner.features.arrays
    size, hidden = refiner.spans.shape[1], refiner.span_readings.shape[1]
    if kernel is None or numbers is None or hidden % _BLOCK or shortlist > _LONGEST or len(tables) > _TABLES:
        return None
    capacity = len(entities)
    columns: dict[str, Array] = {
        **{name: spans[name] for name in _SPAN.split() if name in spans.columns},
        **{name: entities[column].T for name, column in _ENTITY.items() if column in entities.columns},
        "vectors": np.ascontiguousarray(refiner.spans),
        "priors": priors,
        "product": refiner.product,
        "weight": refiner.weight,
        "products": products,
        "among": among,
        "scores": scores,
        "index": np.empty(capacity, dtype=np.int64),
        "best": np.empty(shortlist, dtype=np.int64),
        "pairs": np.empty((size, _ROWS), dtype=np.float32),
    }
    rows = {
        "readings": refiner.span_readings,
        "entities": refiner.entities,
        "entity_readings": refiner.entity_readings,
    }
    if not all(array.flags.c_contiguous for array in [*columns.values(), *tables]):
        return None
    links = _Links(
        **numbers,
        capacity=capacity,
        shortlist=shortlist,
        size=size,
        hidden=hidden,
        reading_stride=_stride(refiner.span_readings),
        entity_stride=_stride(refiner.entities),
        score_stride=_stride(scores),
        spans=len(spans),
        bias=refiner.bias,
        tables=len(tables),
        **{name: array.ctypes.data for name, array in (columns | rows).items()},
    )
    for place, table in enumerate(tables):
        links.table_lengths[place], links.table[place] = len(table), table.ctypes.data
    return CompiledRows(kernel, links, [*columns.values(), *rows.values(), *tables])


def _stride(rows: FloatArray) -> int:
    return rows.strides[0] // rows.itemsize


def _numbers_of(steps: Sequence[tuple[PairFeature, int]]) -> Mapping[str, int] | None:
    """What the kernel has to know of each feature; None if there is one that it does not know."""
    numbers: dict[str, int] = {}
    for feature, step in steps:
        if type(feature) is Distance:
            numbers["distance_step"] = step
        elif type(feature) is Size:
            numbers["size_step"] = step
        elif type(feature) is Talk:
            numbers["talk_step"] = step
        elif type(feature) is Match:
            numbers |= {f"{feature.mine}_step": step, feature.theirs: feature.forms}
        elif type(feature) is Identity:
            numbers |= {"identity_step": step, "names": feature.names}
            lists = feature.lexicon
            numbers |= {"fade": lists.mistakes_fade, "titles_tell": lists.titles_tell}
            numbers |= {"narrators_are_apart": lists.narrators_are_apart}
        else:
            return None
    return numbers
