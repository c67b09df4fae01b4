"""A bilinear score of every pair, and the feed-forward net only for the best few.

The whole-document baseline chooses antecedents like this; with small sizes it is the light scorer of small models.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Self

import numpy as np
import torch
from pydantic import Field, PositiveInt, model_validator
from torch import Tensor, nn

from streamcoref.model.arrays import FloatArray, numbers
from streamcoref.model.features import PairFeatures
from streamcoref.model.feed_forward import FeedForward
from streamcoref.model.linear import Linear
from streamcoref.model.notes import IntArray
from streamcoref.model.pair_score.base import FeatureTables, Pairs, PairScorer, PairScorerOptions, RefineRow
from streamcoref.model.parts import Surroundings

SMALL = 1 << 13  # numbers of a shortlist's hidden layer: with more, numpy would start threads, and gain nothing
# Multiplications of one product up to which numpy's library (OpenBLAS) computes it in the thread that asks for it.
IN_ONE_THREAD = 1 << 18


class CoarseToFineScorer(PairScorer):
    """score = (W span) . entity + prior(features); refine = FF([span; entity; span * entity; features]).

    The prior has embeddings of its own, of some of the features. While it learns there is dropout on W span, and with
    `target_dropout` on the entity as well, as in the baseline's code.
    """

    def __init__(
        self,
        size: int,
        hidden: int,
        features: PairFeatures,
        prior_features: PairFeatures,
        shortlist: int,
        dropout: float = 0.0,
        target_dropout: bool = False,
    ) -> None:
        super().__init__()
        self.features = features
        self.prior_features = prior_features
        self.prior = nn.Linear(prior_features.size, 1)
        self.bilinear = Linear(size, size)
        self.net = FeedForward([size, size, size, features.size], hidden, dropout)
        self.dropout = nn.Dropout(dropout)
        self.target_dropout = target_dropout
        self.reading_size = hidden
        self.shortlist = shortlist

    def read_spans(self, spans: Tensor) -> Tensor:
        return torch.cat(
            [self.dropout(self.bilinear(spans)), self.net.project(0, spans) + self.net.hidden.bias], dim=-1
        )

    def read_entities(self, entities: Tensor) -> Tensor:
        return self.net.project(1, entities)

    def fold_features(self, fixed: Mapping[str, int | None]) -> FeatureTables:
        return FeatureTables(
            score=self.prior_features.fold(self.prior, fixed, like=self.features).squeeze(-1),
            refine=self.features.fold_apart(lambda x: self.net.project(3, x), fixed),
            product=self.net.part(2).T.contiguous(),
        )

    def queries(self, span_readings: Tensor) -> Tensor:
        return span_readings.narrow(-1, 0, self.bilinear.out_features)

    def score(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        entity = self.dropout(pairs.entity) if self.target_dropout else pairs.entity
        return _dot(self.queries(pairs.span_reading), entity) + tables.score[pairs.features]

    def refine(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        assert tables.refine is not None
        assert tables.product is not None
        reading = pairs.span_reading.narrow(-1, self.bilinear.out_features, self.reading_size)
        rest = tables.refine[pairs.features] + reading + pairs.entity_reading  # [..., hidden]
        product = pairs.span * pairs.entity
        if product.dim() == 2:  # one span: as few operations as can be
            return self.net.finish(torch.addmm(rest, product, tables.product))
        return self.net.finish(product @ tables.product + rest)

    def row_refiner(
        self, spans: Tensor, span_readings: Tensor, entities: Tensor, entity_readings: Tensor, tables: FeatureTables
    ) -> RefineRow | None:
        small = (self.shortlist or 0) * self.reading_size <= SMALL and entities.device.type == "cpu"
        if not small or type(self).refine is not CoarseToFineScorer.refine:
            return None
        readings = span_readings.narrow(-1, self.bilinear.out_features, self.reading_size)
        return RowRefiner(self.net, self.shortlist or 0, spans, readings, entities, entity_readings, tables)


class RowRefiner:
    """`CoarseToFineScorer.refine` in numpy.

    The product is made in a few parts, each too small for threads, which would get in the way of those that encode.
    For a few rows numpy's library takes half the time of torch's, and leaves more in the cache for the next span.
    """

    def __init__(
        self,
        net: FeedForward,
        shortlist: int,
        spans: Tensor,
        span_readings: Tensor,
        entities: Tensor,
        entity_readings: Tensor,
        tables: FeatureTables,
    ) -> None:
        assert tables.refine is not None
        assert tables.product is not None
        self.spans, self.span_readings = numbers(spans), numbers(span_readings)
        self.entities, self.entity_readings = numbers(entities), numbers(entity_readings)
        self.features = tables.refine
        size, hidden = tables.product.shape
        self.parts = parts_of(size, shortlist * hidden)
        self.product = numbers(tables.product).reshape(self.parts, -1, hidden)  # [parts, size / parts, hidden]
        self.weight, self.bias = numbers(net.output.weight)[0], net.output.bias.item()

    def __call__(self, span: int, slots: IntArray, features: IntArray) -> FloatArray:
        pairs = self.entities[slots]
        pairs *= self.spans[span]
        by_part = pairs.reshape(len(slots), self.parts, -1).swapaxes(0, 1)  # [parts, n, size / parts]
        hidden: FloatArray = np.add.reduce(by_part @ self.product)  # [n, hidden]
        hidden += self.span_readings[span]
        hidden += self.entity_readings[slots]
        hidden += self.features.rows(features)
        np.maximum(hidden, 0, out=hidden)
        scores: FloatArray = hidden @ self.weight
        scores += self.bias
        return scores


def parts_of(size: int, multiplications: int) -> int:
    """Into how many equal parts to cut a product over `size`, each place of which takes so many multiplications."""
    return next(n for n in range(1, size + 1) if size % n == 0 and multiplications * (size // n) <= IN_ONE_THREAD)


def _dot(a: Tensor, b: Tensor) -> Tensor:
    """The dot product over the last dimension; a block of spans against entities is one matrix product."""
    if a.dim() == 3 and a.shape[1] == 1 and b.shape[0] == 1:
        return a[:, 0] @ b[0].T
    return (a * b).sum(-1)


class CoarseToFineScorerOptions(PairScorerOptions):
    name: Literal["coarse_to_fine"] = "coarse_to_fine"
    hidden: PositiveInt = 3000
    shortlist: PositiveInt = 50
    prior_features: tuple[str, ...] = Field(("distance",), min_length=1)
    target_dropout: bool = False

    @model_validator(mode="after")
    def _prior_within_features(self) -> Self:
        surplus = set(self.prior_features) - {feature.name for feature in self.features}
        if surplus:
            raise ValueError(f"prior_features {', '.join(sorted(surplus))} must be among features too")
        return self

    def build(self, around: Surroundings) -> PairScorer:
        return CoarseToFineScorer(
            around.span_size,
            self.hidden,
            self.pair_features(around),
            self.pair_features(around, self.prior_features),
            self.shortlist,
            around.dropout,
            self.target_dropout,
        )
