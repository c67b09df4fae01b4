"""Features of a pair, as buckets with embeddings, folded into one table that a pair looks up once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
from torch import Tensor, nn

from streamcoref.errors import StreamcorefError
from streamcoref.model.agreement import OTHER, VALUES, agreement
from streamcoref.model.segments import IntArray

# How many values each feature has; genre and scheme have as many as the model knows.
BUCKETS = {
    "speaker": 2,
    "distance": 10,
    "segment": 3,
    "size": 10,
    "exact_match": 2,
    "last_word_match": 2,
    "agreement": VALUES,
}

# 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64+: the bucket of every number up to 64
_BUCKET_OF = np.array([0, 1, 2, 3, 4, *[5] * 3, *[6] * 8, *[7] * 16, *[8] * 32, 9])


def bucket(numbers: IntArray) -> IntArray:
    """The paper's ten buckets of a distance or a count; negative numbers go to the first."""
    return _BUCKET_OF.take(numbers, mode="clip")


class PairFeatures(nn.Module):
    """Embeddings of the named features, concatenated in the order given.

    A scorer reads features through a linear layer. All combinations of the features that vary are few (10 distances
    in the paper, 400 with size and string matches, 10,000 with agreement), so that layer is applied to each
    combination once, by `fold`, and a pair costs one look-up by `index`. Features that are the same for all pairs of a
    text are `fixed`.
    """

    def __init__(
        self,
        names: Sequence[str],
        size: int,
        genres: int = 1,
        schemes: int = 1,
        dropout: float = 0.0,
        segments: int = BUCKETS["segment"],
    ) -> None:
        super().__init__()
        known = {**BUCKETS, "genre": genres, "scheme": schemes, "segment": segments}
        for name in names:
            if name not in known:
                raise StreamcorefError(f"unknown pair feature {name!r}; the known ones are {', '.join(known)}")
        self.names = tuple(names)
        self.tables = nn.ModuleDict({name: nn.Embedding(known[name], size) for name in names})
        self.farthest_segment = segments - 1  # farther ones count as this
        self.shape = tuple((name, known[name]) for name in names)
        strides = self._strides(("distance", "size", "exact_match", "last_word_match", "agreement"))
        self.distance_steps = _BUCKET_OF * strides["distance"]
        self.size_steps = _BUCKET_OF * strides["size"] if strides["size"] else None
        matches = np.array([strides["exact_match"], strides["last_word_match"]])
        self.match_steps = matches if matches.any() else None
        self.agreement_step = strides["agreement"]
        self.dropout = nn.Dropout(dropout)
        self.size = size * len(self.names)

    def fold(
        self,
        project: Callable[[Tensor], Tensor],
        fixed: Mapping[str, int | None],
        like: PairFeatures | None = None,
    ) -> Tensor:
        """The projected embedding of every combination, [combinations, ...]. A feature fixed to None is all zeros.

        `project` is linear, with or without a bias, so each feature goes through it alone, and a combination is a sum.
        `like` gives the combinations of another, larger set of features, so that both share one index.
        """
        weights = {name: self._table(name).weight for name in self.names}
        nothing = next(iter(weights.values())).new_zeros(1, self.size)
        bias = project(nothing)[0]  # [...]
        varying = [(name, count) for name, count in (like or self).shape if name not in fixed]
        result = bias.reshape(*[1] * len(varying), *bias.shape)
        for place, (name, weight) in enumerate(weights.items()):
            value = fixed.get(name)
            if name in fixed and value is None:
                continue
            rows = weight if value is None else weight[value : value + 1]
            before = place * rows.shape[1]
            columns = nn.functional.pad(self.dropout(rows), (before, self.size - before - rows.shape[1]))
            part = project(columns) - bias  # [buckets, ...]
            shape = [len(part) if other == name else 1 for other, _ in varying]
            result = result + part.reshape(*shape, *bias.shape)
        counts = [count for _, count in varying]
        return result.expand(*counts, *bias.shape).reshape(math.prod(counts), *bias.shape)

    def _strides(self, varying: Sequence[str]) -> dict[str, int]:
        """By how much a step of each varying feature moves the index; 0 for those that are not used."""
        strides, product = dict.fromkeys(varying, 0), 1
        for name, buckets in reversed(self.shape):
            if name in varying:
                strides[name] = product
                product *= buckets
        return strides

    def index_of_entities(
        self,
        span_places: IntArray,
        span_forms: IntArray,
        span_traits: IntArray,
        places: IntArray,
        sizes: IntArray,
        forms: IntArray,
        traits: IntArray,
    ) -> IntArray:
        """The combination of k spans against n entities, [k, n], or of one span, [n].

        Places are twice the middle of a mention (of an entity's latest one), as sums of its first and last piece:
        [k, 1] or [] and [n]. Forms are [k, 1, 2] or [2] for spans and [n, 2, FORMS] for entities, traits [k, ...] or
        [...] and [n, ...]. This is `index`, in as few steps as can be: it is called for every span.
        """
        index = self.distance_steps.take((span_places - places) >> 1, mode="clip")
        if self.size_steps is not None:
            index += self.size_steps.take(sizes, mode="clip")
        if self.match_steps is not None:
            index += (forms == span_forms[..., None]).any(-1) @ self.match_steps  # [..., n, 2] @ [2]
        if self.agreement_step and (span_traits.ndim > 1 or span_traits[0] != OTHER):  # of others it says nothing: 0
            index += self.agreement_step * agreement(span_traits, traits)
        return index

    def index(self, values: Mapping[str, npt.NDArray[np.int64 | np.bool_]]) -> IntArray:
        """The combination of each pair; `values` holds the varying features' buckets, of broadcastable shapes."""
        result: IntArray | int = 0
        for name, buckets in self.shape:
            if name in values:
                result = result * buckets + values[name].astype(np.int64, copy=False)
        return np.asarray(result)

    def _table(self, name: str) -> nn.Embedding:
        table = self.tables[name]
        assert isinstance(table, nn.Embedding)
        return table
