"""PAIRSCORE: what a scorer is to the rest of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, NamedTuple

from pydantic import BeforeValidator, Field, PositiveInt, SerializeAsAny
from torch import Tensor, nn

from streamcoref.model.arrays import FloatArray
from streamcoref.model.features import AnyFeature, FoldedFeatures, PairFeatures
from streamcoref.model.notes import IntArray
from streamcoref.model.parts import PartOptions, Surroundings
from streamcoref.model.text_context import TextContext

if TYPE_CHECKING:
    from streamcoref.model.encoder import Encoder


class Pairs(NamedTuple):
    """Spans against entities. Leading dimensions broadcast: [1] against [n] is one span and n entities, [k, 1]
    against [1, n] a block, [p] against [p] a list of pairs.

    `features` indexes the folded feature tables. The texts are there only for a scorer that asks for them by
    `uses_text`, and then for one span against n entities, of each of which the latest mentions are remembered: all that
    `score` is asked for if it has no shortlist, else those that `refine` is, with their scores `so_far`.
    """

    span: Tensor  # [..., size]
    span_reading: Tensor  # [..., scorer's own]
    entity: Tensor  # [..., size]
    entity_reading: Tensor  # [..., reading_size]
    features: Tensor  # [...], integers
    span_text: TextContext | None = None
    entity_texts: Sequence[tuple[TextContext, ...]] = ()
    so_far: Tensor | None = None  # [n], with the span's own score, above that of a new entity


@dataclass(frozen=True, eq=False)
class FeatureTables:
    """The scorer's feature embeddings, folded: what every combination adds to `score` and to `refine`.

    Of a scorer with a shortlist `score` is a tensor with one number a combination.
    """

    score: Tensor | FoldedFeatures  # [combinations, ...]
    refine: FoldedFeatures | None = None  # [combinations, ...]
    product: Tensor | None = None  # [size, hidden], a scorer's weight laid out for small products


# One of the spans against the entities in some slots [n], the pairs having these features [n]: what to add, [n].
RefineRow = Callable[[int, IntArray, IntArray], FloatArray]


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
    contexts: int = 4  # the latest mentions of an entity whose texts a scorer that uses text is given
    asks: bool = True  # whether one that adds what a reader of text says may ask it now

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

    def row_refiner(
        self, spans: Tensor, span_readings: Tensor, entities: Tensor, entity_readings: Tensor, tables: FeatureTables
    ) -> RefineRow | None:
        """A quicker `refine` for one span after another of a segment, if there is one.

        Tensors are as in `Pairs`, [k, ...] of the spans and [capacity, ...] of the entities, which change meanwhile.
        """
        return None

    def refine_all(self, rows: Sequence[Pairs], tables: FeatureTables) -> list[Tensor]:
        """`refine` for several spans, each against its own entities with their texts: what training asks at once."""
        return [self.refine(pairs, tables) for pairs in rows]

    def begin(self, encoder: Encoder) -> None:
        """Called when a model that is to be trained gets this scorer anew, its encoder having its weights already."""


class PairScorerOptions(PartOptions):
    """`features` are names, or tables with a name and the options of that feature."""

    features: tuple[AnyFeature, ...] = Field(
        ("speaker", "genre", "distance", "segment"), min_length=1, validate_default=True
    )
    feature_size: PositiveInt = 20

    @abstractmethod
    def build(self, around: Surroundings) -> PairScorer: ...

    def pair_features(self, around: Surroundings, names: Sequence[str] | None = None) -> PairFeatures:
        """All features, or those of the given names."""
        chosen = self.features if names is None else [self._feature(name) for name in names]
        return PairFeatures([feature.build(around) for feature in chosen], self.feature_size, around.embedding_dropout)

    def _feature(self, name: str) -> AnyFeature:
        return next(feature for feature in self.features if feature.name == name)


AnyPairScorer = Annotated[SerializeAsAny[PairScorerOptions], BeforeValidator(PairScorerOptions.choose)]
