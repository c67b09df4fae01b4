"""PAIRSCORE: what a scorer is to the rest of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from torch import Tensor, nn

from streamcoref.model.features import PairFeatures
from streamcoref.model.text_context import TextContext


class Pairs(NamedTuple):
    """Spans against entities. Leading dimensions broadcast: [1] against [n] is one span and n entities, [k, 1]
    against [1, n] a block, [p] against [p] a list of pairs.

    `features` indexes the folded feature tables. The texts are there only for a scorer that asks for them by
    `uses_text`, and then for one span against n entities, of each of which the latest mentions are remembered.
    """

    span: Tensor  # [..., size]
    span_reading: Tensor  # [..., scorer's own]
    entity: Tensor  # [..., size]
    entity_reading: Tensor  # [..., reading_size]
    features: Tensor  # [...], integers
    span_text: TextContext | None = None
    entity_texts: Sequence[tuple[TextContext, ...]] = ()


@dataclass(frozen=True, eq=False)
class FeatureTables:
    """The scorer's feature embeddings, folded: what every combination adds to `score` and to `refine`."""

    score: Tensor  # [combinations, ...]
    refine: Tensor | None = None  # [combinations, ...]
    product: Tensor | None = None  # [size, hidden], a scorer's weight laid out for small products


class PairScorer(nn.Module, ABC):
    """Scores spans against entities. Starting a new entity scores 0.

    `score` is computed for every pair. A scorer with a `shortlist` then adds `refine` for that many entities of
    the best score, and the others are out of the question; its `score` must be a product with the entity's vector, for
    which `queries` gives the other factor, plus the folded features. What depends on the span or the entity alone is
    read once: `read_spans` may be any function, but **`read_entities` must be linear, without a bias**: an entity is
    a blend of its spans, and its reading is blended with it and never computed again.
    """

    features: PairFeatures
    reading_size: int
    shortlist: int | None = None
    uses_text: bool = False

    @abstractmethod
    def read_spans(self, spans: Tensor) -> Tensor:
        """[k, size] to [k, whatever the scorer wants to know of a span]."""

    @abstractmethod
    def read_entities(self, entities: Tensor) -> Tensor:
        """[n, size] to [n, reading_size], linear."""

    @abstractmethod
    def fold_features(self, fixed: Mapping[str, int | None]) -> FeatureTables:
        """The feature tables for a text: `fixed` holds what does not vary between its pairs."""

    @abstractmethod
    def score(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        """Scores [...]."""

    def queries(self, span_readings: Tensor) -> Tensor:
        """The factors of a shortlist's scores, [k, size]: score = query . entity + tables.score of the features."""
        raise TypeError(f"{type(self).__name__} has a shortlist but no queries()")

    def refine(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        """What to add for the pairs of the shortlist, [...]."""
        raise TypeError(f"{type(self).__name__} has a shortlist but no refine()")


def look_up(table: Tensor, index: Tensor) -> Tensor:
    """Rows of a folded table, [..., ...]; one span's pairs, the common case, by the quickest way there is."""
    return table.index_select(0, index) if index.dim() == 1 else table[index]
