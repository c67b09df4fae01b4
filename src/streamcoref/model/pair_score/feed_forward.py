"""The paper's scorer: a feed-forward net on [span; entity; span * entity; features]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import PositiveInt
from torch import Tensor

from streamcoref.model.features import PairFeatures
from streamcoref.model.feed_forward import FeedForward
from streamcoref.model.linear import linear
from streamcoref.model.pair_score.base import FeatureTables, Pairs, PairScorer, PairScorerOptions
from streamcoref.model.parts import Surroundings


class FeedForwardScorer(PairScorer):
    """Only the product of span and entity is multiplied per pair; the other parts are read beforehand."""

    def __init__(self, size: int, hidden: int, features: PairFeatures, dropout: float = 0.0) -> None:
        super().__init__()
        self.features = features
        self.net = FeedForward([size, size, size, features.size], hidden, dropout)
        self.reading_size = hidden

    def read_spans(self, spans: Tensor) -> Tensor:
        return self.net.project(0, spans) + self.net.hidden.bias

    def read_entities(self, entities: Tensor) -> Tensor:
        return self.net.project(1, entities)

    def fold_features(self, fixed: Mapping[str, int | None]) -> FeatureTables:
        score = self.features.fold_apart(lambda x: self.net.project(3, x), fixed)
        return FeatureTables(score, product=self.net.part(2).T.contiguous())

    def score(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        assert tables.product is not None
        product = linear(pairs.span * pairs.entity, tables.product.T)  # [..., hidden]
        features = tables.score[pairs.features]
        return self.net.finish(product + pairs.span_reading + pairs.entity_reading + features)


class FeedForwardScorerOptions(PairScorerOptions):
    name: Literal["feed_forward"] = "feed_forward"
    hidden: PositiveInt = 3000

    def build(self, around: Surroundings) -> PairScorer:
        return FeedForwardScorer(around.span_size, self.hidden, self.pair_features(around), around.dropout)
