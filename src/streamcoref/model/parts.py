"""The parts of a model as named options: what a config may say of each, and how it is built.

A part is chosen by its `name`. To add one, subclass the options of its kind with a name of your own and a `build`
that turns them into plain arguments; from then on configs may name it. See `docs/extending.md`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PositiveInt, SerializeAsAny, model_validator

from streamcoref.model.evict import (
    Budget,
    EvictionPolicy,
    Measure,
    NoEviction,
    OneDistance,
    SizeTimesDistance,
    TwoDistances,
)
from streamcoref.model.features import PairFeatures
from streamcoref.model.mention_score import FeedForwardMentionScorer, LightMentionScorer, MentionScorer
from streamcoref.model.pair_score import CoarseToFineScorer, FeedForwardScorer, PairScorer
from streamcoref.model.span_vector import SpanVector
from streamcoref.model.update import Alpha, First, Last, Mean, UpdateRule


class Options(BaseModel):
    """Plain, checked values; unknown keys are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What a part needs to know of the model it is built into."""

    hidden_size: int  # of the encoder
    span_size: int  # of span and entity vectors
    max_width: int  # of spans
    genres: int
    schemes: int
    dropout: float


class PartOptions(Options, ABC):
    """Options of one kind of part. `kinds` maps the names of this kind to their classes."""

    kinds: ClassVar[dict[str, type[Any]]]
    name: str

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if PartOptions in cls.__bases__:
            cls.kinds = {}

    @classmethod
    def __pydantic_init_subclass__(cls, **arguments: Any) -> None:
        super().__pydantic_init_subclass__(**arguments)
        if PartOptions not in cls.__bases__:
            cls.kinds[cls.model_fields["name"].default] = cls

    @classmethod
    def choose(cls, value: Any) -> Self:
        """Options from a mapping (or themselves) by its `name`."""
        if isinstance(value, cls):
            return value
        name = value.get("name") if isinstance(value, dict) else None
        if not isinstance(name, str) or name not in cls.kinds:
            raise ValueError(f"unknown name {name!r}; known: {', '.join(cls.kinds)}")
        chosen: Self = cls.kinds[name].model_validate(value)
        return chosen


class MentionScorerOptions(PartOptions):
    @abstractmethod
    def build(self, around: Surroundings, vectors: SpanVector) -> MentionScorer: ...


class FeedForwardMentionScorerOptions(MentionScorerOptions):
    name: Literal["feed_forward"] = "feed_forward"
    hidden: PositiveInt = 3000
    width_size: PositiveInt = 20

    def build(self, around: Surroundings, vectors: SpanVector) -> MentionScorer:
        return FeedForwardMentionScorer(vectors, self.hidden, around.max_width, self.width_size, around.dropout)


class LightMentionScorerOptions(MentionScorerOptions):
    name: Literal["light"] = "light"
    size: PositiveInt = 256
    two_outputs: bool = True

    def build(self, around: Surroundings, vectors: SpanVector) -> MentionScorer:
        return LightMentionScorer(
            around.hidden_size, self.size, around.max_width, around.schemes, self.two_outputs, around.dropout
        )


class PairScorerOptions(PartOptions):
    features: tuple[str, ...] = Field(("speaker", "genre", "distance", "segment"), min_length=1)
    feature_size: PositiveInt = 20
    segment_buckets: PositiveInt = 3  # of a baseline: distances in segments that it tells apart

    @abstractmethod
    def build(self, around: Surroundings) -> PairScorer: ...

    def pair_features(self, around: Surroundings, names: tuple[str, ...] | None = None) -> PairFeatures:
        return PairFeatures(
            self.features if names is None else names,
            self.feature_size,
            around.genres,
            around.schemes,
            around.dropout,
            self.segment_buckets,
        )


class FeedForwardScorerOptions(PairScorerOptions):
    name: Literal["feed_forward"] = "feed_forward"
    hidden: PositiveInt = 3000

    def build(self, around: Surroundings) -> PairScorer:
        return FeedForwardScorer(around.span_size, self.hidden, self.pair_features(around), around.dropout)


class CoarseToFineScorerOptions(PairScorerOptions):
    name: Literal["coarse_to_fine"] = "coarse_to_fine"
    hidden: PositiveInt = 3000
    shortlist: PositiveInt = 50
    prior_features: tuple[str, ...] = Field(("distance",), min_length=1)

    @model_validator(mode="after")
    def _prior_within_features(self) -> Self:
        surplus = set(self.prior_features) - set(self.features)
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
        )


class UpdateOptions(PartOptions):
    @abstractmethod
    def build(self, around: Surroundings) -> UpdateRule: ...


class AlphaOptions(UpdateOptions):
    name: Literal["alpha"] = "alpha"
    hidden: PositiveInt = 300

    def build(self, around: Surroundings) -> UpdateRule:
        return Alpha(around.span_size, self.hidden, around.dropout)


class MeanOptions(UpdateOptions):
    name: Literal["mean"] = "mean"

    def build(self, around: Surroundings) -> UpdateRule:
        return Mean()


class FirstOptions(UpdateOptions):
    name: Literal["first"] = "first"

    def build(self, around: Surroundings) -> UpdateRule:
        return First()


class LastOptions(UpdateOptions):
    name: Literal["last"] = "last"

    def build(self, around: Surroundings) -> UpdateRule:
        return Last()


class EvictionOptions(PartOptions):
    """Any policy may be joined with a `budget`, the most entities that stay alive after a segment."""

    budget: PositiveInt | None = None

    def build(self) -> EvictionPolicy:
        policy = self.policy()
        return policy if self.budget is None else Budget(self.budget, policy)

    @abstractmethod
    def policy(self) -> EvictionPolicy: ...


class NoEvictionOptions(EvictionOptions):
    name: Literal["none"] = "none"

    def policy(self) -> EvictionPolicy:
        return NoEviction()


class TwoDistancesOptions(EvictionOptions):
    name: Literal["two_distances"] = "two_distances"
    singleton: PositiveInt = 600
    cluster: PositiveInt = 1200
    measure: Measure = "middle"

    def policy(self) -> EvictionPolicy:
        return TwoDistances(self.singleton, self.cluster, self.measure)


class OneDistanceOptions(EvictionOptions):
    name: Literal["one_distance"] = "one_distance"
    distance: PositiveInt
    measure: Measure = "middle"

    def policy(self) -> EvictionPolicy:
        return OneDistance(self.distance, self.measure)


class SizeTimesDistanceOptions(EvictionOptions):
    name: Literal["size_times_distance"] = "size_times_distance"
    distance: PositiveInt
    longest: PositiveInt
    measure: Measure = "middle"

    def policy(self) -> EvictionPolicy:
        return SizeTimesDistance(self.distance, self.longest, self.measure)


AnyMentionScorer = Annotated[SerializeAsAny[MentionScorerOptions], BeforeValidator(MentionScorerOptions.choose)]
AnyPairScorer = Annotated[SerializeAsAny[PairScorerOptions], BeforeValidator(PairScorerOptions.choose)]
AnyUpdate = Annotated[SerializeAsAny[UpdateOptions], BeforeValidator(UpdateOptions.choose)]
AnyEviction = Annotated[SerializeAsAny[EvictionOptions], BeforeValidator(EvictionOptions.choose)]


class EncoderOptions(Options):
    """`name` is where a new model's encoder comes from; `architecture`, in a checkpoint, how to build it again."""

    name: str | None = None
    architecture: dict[str, Any] | None = None
    trainable_from: int | None = Field(default=None, ge=0)
    layers: PositiveInt = 1  # a piece's vector is the mean of this many last layers
    attention_dropout: float | None = Field(default=None, ge=0, lt=1)  # None: as the encoder has it


class SegmentOptions(Options):
    max_pieces: int = Field(default=512, ge=8)
    max_sentences: PositiveInt | None = None
    speakers_as_text: bool = False  # the encoder reads the speaker's name before each turn


class SpanOptions(Options):
    scorer: AnyMentionScorer
    max_width: PositiveInt = 30
    word_boundaries: bool = True
    ratio: float = Field(default=0.4, gt=0)
    ratio_of: Literal["pieces", "words"] = "pieces"
    min_score: float | None = None
    width_size: PositiveInt = 20
    projected_size: PositiveInt | None = None
