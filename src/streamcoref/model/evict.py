"""EVICT: which entities to let go after a segment."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import BeforeValidator, Field, SerializeAsAny

from streamcoref.model.memory import EntityMemory
from streamcoref.model.notes import BoolArray
from streamcoref.model.parts import PartOptions

DoubleArray = npt.NDArray[np.float64]
Measure = Literal["middle", "start"]
Limit = Annotated[int, Field(gt=0, le=1 << 40)]  # of pieces or entities; what is computed with it fits into 64 bits

DOUBTFUL = 0.25  # how much a span that is surely no mention still counts: one that is, counts five times as much
LARGEST_LOGIT = 30.0  # of a mention score; a larger one is as sure, and its exponential would overflow


class EvictionPolicy(ABC):
    """Marks the entities to evict, [count], when `position` pieces of the text have been read."""

    @abstractmethod
    def __call__(self, memory: EntityMemory, position: int) -> BoolArray: ...


class NoEviction(EvictionPolicy):
    """Keeps everything: memory then grows with the number of entities."""

    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        return np.zeros(len(memory), dtype=bool)


class TwoDistances(EvictionPolicy):
    """The paper's: one limit for entities with a single mention, a longer one for the others.

    Its text and its code differ in where the distance to the latest mention is measured from: the `middle` of the
    mention (the text, and the default here) or its `start` (the code, and so their checkpoints and the paper's recipe).
    """

    def __init__(self, singleton: int, cluster: int, measure: Measure) -> None:
        self.singleton, self.cluster, self.measure = singleton, cluster, measure

    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        limit = np.where(memory.sizes == 1, self.singleton, self.cluster)
        return distances(memory, position, self.measure) > limit


class OneDistance(EvictionPolicy):
    """One limit for all."""

    def __init__(self, distance: int, measure: Measure) -> None:
        self.distance, self.measure = distance, measure

    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        return distances(memory, position, self.measure) > self.distance


class SizeTimesDistance(EvictionPolicy):
    """A limit in proportion to the number of mentions, up to `longest` so that memory stays bounded."""

    def __init__(self, distance: int, longest: int, measure: Measure) -> None:
        self.distance, self.longest, self.measure = distance, longest, measure

    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        limit = np.minimum(memory.sizes * self.distance, self.longest)
        return distances(memory, position, self.measure) > limit


class Budget(EvictionPolicy):
    """A hard cap: of what another policy leaves, the `places` most salient entities stay."""

    def __init__(self, places: int, first: EvictionPolicy) -> None:
        self.places, self.first = places, first

    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        evicted = self.first(memory, position)
        surplus = int(np.sum(~evicted)) - self.places
        if surplus > 0:
            rank = np.where(evicted, np.inf, salience(memory, position))
            evicted[np.argsort(rank, kind="stable")[:surplus]] = True
        return evicted


def distances(memory: EntityMemory, position: int, measure: Measure) -> DoubleArray:
    """Pieces since the latest mention: from its middle, as the paper's text says, or its start, as its code does."""
    if measure == "start":
        return (position - memory.last_starts).astype(np.float64)
    return position - memory.places / 2


def salience(memory: EntityMemory, position: int) -> DoubleArray:
    """Minus the age, where mentions and a sure mention score make younger: the least salient is the smallest."""
    likely = 1 / (1 + np.exp(-np.clip(memory.best_scores, -LARGEST_LOGIT, LARGEST_LOGIT)))
    return -distances(memory, position, "middle") / (memory.sizes * (DOUBTFUL + likely))


class EvictionOptions(PartOptions):
    """Any policy may be joined with a `budget`, the most entities that stay alive after a segment."""

    budget: Limit | None = None

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
    singleton: Limit = 600
    cluster: Limit = 1200
    measure: Measure = "middle"

    def policy(self) -> EvictionPolicy:
        return TwoDistances(self.singleton, self.cluster, self.measure)


class OneDistanceOptions(EvictionOptions):
    name: Literal["one_distance"] = "one_distance"
    distance: Limit
    measure: Measure = "middle"

    def policy(self) -> EvictionPolicy:
        return OneDistance(self.distance, self.measure)


class SizeTimesDistanceOptions(EvictionOptions):
    name: Literal["size_times_distance"] = "size_times_distance"
    distance: Limit
    longest: Limit
    measure: Measure = "middle"

    def policy(self) -> EvictionPolicy:
        return SizeTimesDistance(self.distance, self.longest, self.measure)


def parse_eviction(value: Any) -> EvictionOptions:
    """A policy by name and options, `two_distances:singleton=600,cluster=1200`, or as the table of a config.

    A table may also come as the text of a JSON object.
    """
    if isinstance(value, str):
        value = _table(value) if value.lstrip().startswith("{") else _named(value)
    elif isinstance(value, Mapping):
        value = dict(value)
    elif not isinstance(value, EvictionOptions):
        raise ValueError(f"{value!r} is no policy; give one by name, such as 'none', or the table of a config")
    return EvictionOptions.choose(value)


def _table(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("a table that is nested without end") from None


def _named(text: str) -> dict[str, Any]:
    name, _, rest = text.partition(":")
    values: dict[str, Any] = {"name": name.strip()}
    for part in rest.split(",") if rest else ():
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or not key or key in values:
            raise ValueError(f"{part!r} is not an option of the form key=value, each key once")
        values[key] = value
    return values


AnyEviction = Annotated[SerializeAsAny[EvictionOptions], BeforeValidator(parse_eviction)]
