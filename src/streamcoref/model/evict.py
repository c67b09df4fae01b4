"""EVICT: which entities to let go after a segment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
import numpy.typing as npt

from streamcoref.model.memory import EntityMemory

BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
Measure = Literal["middle", "start"]


class EvictionPolicy(ABC):
    """Marks the entities to evict, [count], when `position` pieces of the text have been read."""

    @abstractmethod
    def __call__(self, memory: EntityMemory, position: int) -> BoolArray: ...


class NoEviction(EvictionPolicy):
    """Keeps everything: memory then grows with the number of entities."""

    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        return np.zeros(len(memory), dtype=bool)


class TwoDistances(EvictionPolicy):
    """The paper's: one limit for entities with a single mention, a longer one for the others."""

    def __init__(self, singleton: int, cluster: int, measure: Measure) -> None:
        self.singleton, self.cluster, self.measure = singleton, cluster, measure

    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        limit = np.where(memory.sizes[: len(memory)] == 1, self.singleton, self.cluster)
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
        limit = np.minimum(memory.sizes[: len(memory)] * self.distance, self.longest)
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


def distances(memory: EntityMemory, position: int, measure: Measure) -> FloatArray:
    """Pieces since the latest mention: from its middle, as the paper's text says, or its start, as its code does."""
    if measure == "start":
        return (position - memory.last_starts[: len(memory)]).astype(np.float64)
    return position - memory.places[: len(memory)] / 2


def salience(memory: EntityMemory, position: int) -> FloatArray:
    """Minus the age, where mentions and a sure mention score make younger: the least salient is the smallest."""
    sizes = memory.sizes[: len(memory)]
    sureness = 0.25 + 1 / (1 + np.exp(-np.clip(memory.best_scores[: len(memory)], -30, 30)))
    return -distances(memory, position, "middle") / (sizes * sureness)
