"""The features of a scorer together: embeddings, folded into one table that a pair looks up once."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from streamcoref.model.arrays import FloatArray, numbers
from streamcoref.model.features.base import PairFeature, TextLabels
from streamcoref.model.notes import ENTITY, SPAN, IntArray, Notes

if TYPE_CHECKING:
    from streamcoref.language.trackers import WordTracker
    from streamcoref.model.conversation import Conversation
    from streamcoref.model.spans import SegmentSpans
    from streamcoref.model.turns import Expected


MOST_COMBINATIONS = 512  # of a table that is as wide as a layer: so many rows of 256 numbers stay near the cache


class PairFeatures(nn.Module):
    """Embeddings of features, concatenated in the order given.

    A scorer reads features through a linear layer. All combinations of the features that vary are few (10 distances
    in the paper, 400 with size and string matches, 10,000 with agreement), so that layer is applied to each
    combination once, by `fold`, and a pair costs one look-up by the number that `index` gives it; or two or three where
    the layer is wide, by `fold_apart`. Features that are the same for all pairs of a text are `fixed`.
    """

    def __init__(self, features: Sequence[PairFeature], size: int, dropout: float = 0.0) -> None:
        super().__init__()
        for kinds in ([SPAN, *(f.span_columns for f in features)], [ENTITY, *(f.entity_columns for f in features)]):
            Notes.empty(kinds, 0)  # raises if two features have a column of one name
        self.features = tuple(features)
        self.tables = nn.ModuleDict({feature.name: nn.Embedding(feature.buckets, size) for feature in features})
        self.dropout = nn.Dropout(dropout)
        self.size = size * len(self.features)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def trackers(self) -> list[WordTracker]:
        """What has to follow a text for these features, each once, as at its beginning."""
        return list({tracker.name: tracker for feature in self.features for tracker in feature.trackers()}.values())

    def in_order(self, spans: SegmentSpans) -> tuple[SegmentSpans, int]:
        """The spans in the order in which they are decided: that of the text, but those that wait are the last.

        Also how many these are.
        """
        waits = np.zeros(len(spans), dtype=bool)
        for feature in self.features:
            waits |= np.array(feature.waits(spans) or False)
        waiting = int(waits.sum())
        return (spans.at(np.argsort(waits, kind="stable")) if waiting else spans), waiting

    def expect(self, notes: Notes, span: int, expected: Expected) -> None:
        for feature in self.features:
            feature.expect(notes, span, expected)

    def settle(self, spans: SegmentSpans, notes: Notes, conversation: Conversation) -> None:
        for feature in self.features:
            feature.settle(spans, notes, conversation)

    def fixed(self, text: TextLabels) -> dict[str, int | None]:
        """The features that are the same for all pairs of a text, with their values; None is all zeros."""
        values = {feature.name: feature.fixed(text) for feature in self.features}
        return {name: value.bucket for name, value in values.items() if value is not None}

    def index(self, fixed: Mapping[str, int | None]) -> FeatureIndex:
        """What numbers the combinations of the others."""
        steps: list[tuple[PairFeature, int]] = []
        step = 1
        for feature in reversed(self.features):
            if feature.name not in fixed:
                steps.append((feature, step))
                step *= feature.buckets
        return FeatureIndex(steps[::-1])

    def fold(
        self,
        project: Callable[[Tensor], Tensor],
        fixed: Mapping[str, int | None],
        like: PairFeatures | None = None,
    ) -> Tensor:
        """The projected embedding of every combination, [combinations, ...]. A feature fixed to None is all zeros.

        `project` is linear, with or without a bias, so each feature goes through it alone, and a combination is a sum.
        `like` gives the combinations of another, larger set of features, so that both share one index. For a wide
        layer, which would make a large table of them, there is `fold_apart`.
        """
        same, parts = self._projected(project, fixed)
        return _sums(same, parts, [feature for feature in (like or self).features if feature.name not in fixed])

    def fold_apart(self, project: Callable[[Tensor], Tensor], fixed: Mapping[str, int | None]) -> FoldedFeatures:
        """The same as a sum of a few small tables, whose index is also that of `fold`."""
        same, parts = self._projected(project, fixed)
        groups: list[list[PairFeature]] = [[]]
        for feature in self.features:
            if feature.name not in fixed:
                if math.prod(other.buckets for other in [*groups[-1], feature]) > MOST_COMBINATIONS:
                    groups.append([])
                groups[-1].append(feature)
        nothing = torch.zeros_like(same)
        return FoldedFeatures([_sums(nothing if n else same, parts, group) for n, group in enumerate(groups)])

    def _projected(
        self, project: Callable[[Tensor], Tensor], fixed: Mapping[str, int | None]
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """What is the same for all pairs [...], and what each value of the others adds [buckets, ...]."""
        weights = {name: self.table(name) for name in self.names}
        same = bias = project(next(iter(weights.values())).new_zeros(1, self.size))[0]  # [...]
        parts: dict[str, Tensor] = {}
        for place, (name, weight) in enumerate(weights.items()):
            value = fixed.get(name)
            if name in fixed and value is None:
                continue
            rows = weight if value is None else weight[value : value + 1]
            before = place * rows.shape[1]
            columns = nn.functional.pad(self.dropout(rows), (before, self.size - before - rows.shape[1]))
            part = project(columns) - bias  # [buckets, ...]
            if name in fixed:
                same = same + part[0]
            else:
                parts[name] = part
        return same, parts

    def table(self, name: str) -> Tensor:
        """The embeddings of a feature's values, [buckets, size]."""
        table = self.tables[name]
        assert isinstance(table, nn.Embedding)
        return table.weight


class FoldedFeatures:
    """What every combination of features adds to a layer, looked up by its number: `folded[index]`.

    It is the sum of one row of each of a few tables, [combinations of some of the features, ...] each, in the order of
    the features.
    """

    def __init__(self, tables: Sequence[Tensor]) -> None:
        self.tables = tables

    def __getitem__(self, index: Tensor) -> Tensor:
        """[...] to [..., ...]"""
        *others, last = self.tables
        result = _rows(last, index if not others else index % len(last))
        step = len(last)
        for table in reversed(others):
            result = result + _rows(table, torch.div(index, step, rounding_mode="floor") % len(table))
            step *= len(table)
        return result

    def rows(self, index: IntArray) -> FloatArray:
        """The same for a few pairs [n] in numpy."""
        first, *others = self.arrays
        result: FloatArray | None = None
        for table in reversed(others):
            index, place = np.divmod(index, len(table))
            result = table[place] if result is None else np.add(result, table[place], out=result)
        return first[index] if result is None else np.add(result, first[index], out=result)

    @cached_property
    def arrays(self) -> list[FloatArray]:
        """The tables, [combinations, ...] each."""
        return [numbers(table) for table in self.tables]


class FeatureIndex:
    """The number of a pair's combination: each feature's bucket times its step, added up."""

    def __init__(self, steps: Sequence[tuple[PairFeature, int]]) -> None:
        self.steps = steps

    def __call__(self, spans: Notes, entities: Notes) -> IntArray:
        """Of spans against entities, whose dimensions broadcast: [n] for one span, [k, n] for k of them."""
        shape = entities["place"].shape
        if spans.dimensions:
            shape = np.broadcast_shapes(spans["place"].shape, shape)
        index = np.zeros(shape, dtype=np.int64)
        for feature, step in self.steps:
            value = feature.compare(spans, entities)
            if isinstance(value, int):
                if value:
                    index += step * int(value)
            elif value.dtype == bool:
                np.add(index, step, out=index, where=value)
            else:
                index += step * value
        return index


def _sums(same: Tensor, parts: Mapping[str, Tensor], varying: Sequence[PairFeature]) -> Tensor:
    """`same` [...] and one row of each feature's part, for all combinations of the features, [combinations, ...]."""
    result = same.reshape(*[1] * len(varying), *same.shape)
    for place, feature in enumerate(varying):
        if feature.name in parts:
            shape = [1] * len(varying)
            shape[place] = feature.buckets
            result = result + parts[feature.name].reshape(*shape, *same.shape)
    counts = [feature.buckets for feature in varying]
    return result.expand(*counts, *same.shape).reshape(math.prod(counts), *same.shape)


def _rows(table: Tensor, index: Tensor) -> Tensor:
    """[..., ...]; a list of pairs, the common case, by the quickest way there is."""
    if index.dim() == 1:
        return table.index_select(0, index)
    return table.index_select(0, index.reshape(-1)).view(*index.shape, *table.shape[1:])
