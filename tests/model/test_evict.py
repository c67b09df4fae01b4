"""Eviction policies against cases worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.model.evict import (
    Budget,
    EvictionPolicy,
    NoEviction,
    OneDistance,
    SizeTimesDistance,
    TwoDistances,
    salience,
)
from streamcoref.model.memory import EntityMemory
from tests.model import toys

# An entity as (first piece, last piece) of its latest mention, number of mentions, best mention score.
Entity = tuple[int, int, int, float]


def memory_of(entities: list[Entity]) -> EntityMemory:
    memory = EntityMemory(1, capacity=max(1, len(entities)))
    for start, end, size, score in entities:
        slot = memory.add(torch.zeros(1), *toys.note(start, end, score=score))
        memory.sizes[slot] = size
    return memory


def evicted(policy: EvictionPolicy, position: int, *entities: Entity) -> list[bool]:
    return policy(memory_of(list(entities)), position).tolist()


def at(place: int, size: int = 1, score: float = 0.0) -> Entity:
    """A mention of one piece: its start is its middle."""
    return place, place, size, score


@pytest.mark.parametrize("measure", ["start", "middle"])
def test_two_distances_let_go_what_is_strictly_further(measure) -> None:
    policy = TwoDistances(600, 1200, measure)
    singles = evicted(policy, 1000, at(401), at(400), at(399))
    assert singles == [False, False, True]  # 599 and 600 stay, 601 goes
    clusters = evicted(policy, 2000, at(801, 2), at(800, 2), at(799, 2), at(799, 50))
    assert clusters == [False, False, True, True]  # 1199 and 1200 stay, 1201 goes


def test_the_middle_is_later_than_the_start() -> None:
    mention: Entity = (398, 403, 1, 0.0)  # starts 602 before, its middle 599.5
    assert evicted(TwoDistances(600, 1200, "start"), 1000, mention) == [True]
    assert evicted(TwoDistances(600, 1200, "middle"), 1000, mention) == [False]
    half = (399, 400, 1, 0.0)  # its middle is 600.5 before, not 600
    assert evicted(TwoDistances(600, 1200, "middle"), 1000, half) == [True]
    assert evicted(OneDistance(600, "start"), 1000, mention) == [True]
    assert evicted(OneDistance(600, "middle"), 1000, mention) == [False]
    assert evicted(SizeTimesDistance(600, 5000, "start"), 1000, mention) == [True]
    assert evicted(SizeTimesDistance(600, 5000, "middle"), 1000, mention) == [False]


def test_one_distance_for_all_sizes() -> None:
    policy = OneDistance(50, "middle")
    assert evicted(policy, 100, at(50), at(49), at(50, 9), at(49, 9)) == [False, True, False, True]


def test_size_times_distance_up_to_the_longest() -> None:
    policy = SizeTimesDistance(100, 250, "middle")
    cases = {(1, 100): False, (1, 101): True, (2, 200): False, (2, 201): True, (3, 250): False, (3, 251): True}
    entities = [at(1000 - distance, size) for size, distance in cases]
    assert evicted(policy, 1000, *entities) == list(cases.values())
    assert evicted(policy, 1000, at(749, 1000)) == [True]


def test_no_eviction() -> None:
    assert evicted(NoEviction(), 10**9, at(0), at(0, 5)) == [False, False]


@pytest.mark.parametrize(
    ("salient", "other"),
    [
        (at(90), at(80)),  # more recent
        (at(80, size=9), at(80)),  # larger
        (at(80, score=3.0), at(80, score=-3.0)),  # surer to be a mention
        (at(20, size=10), at(90)),  # 80 / 10 is younger than 10
        (at(90), at(50, size=4)),  # but 50 / 4 is older than 10
    ],
)
def test_the_least_salient_leaves_first(salient: Entity, other: Entity) -> None:
    budget = Budget(1, NoEviction())
    assert evicted(budget, 100, salient, other) == [False, True]
    assert evicted(budget, 100, other, salient) == [True, False]


def test_salience_by_hand() -> None:
    memory = memory_of([(10, 20, 4, 0.0), (90, 90, 1, 100.0), (90, 90, 1, -100.0)])
    # minus the age from the middle, over the size times 0.25 + sigmoid(score)
    assert salience(memory, 100).tolist() == pytest.approx([-85 / 3, -10 / 1.25, -10 / 0.25])


def test_extreme_scores_do_not_overflow() -> None:
    assert evicted(Budget(1, NoEviction()), 10, at(1, score=1e30), at(1, score=-1e30)) == [False, True]


def test_a_budget_counts_what_the_other_policy_leaves() -> None:
    policy = Budget(2, TwoDistances(50, 100, "middle"))
    # the second goes by distance; of the three left, the oldest goes by the budget
    assert evicted(policy, 200, at(190), at(100), at(160), at(170)) == [False, True, True, False]
    assert evicted(policy, 200, at(190), at(100), at(20), at(170)) == [False, True, True, False]
    assert evicted(Budget(4, TwoDistances(50, 100, "middle")), 200, at(190), at(100)) == [False, True]


entities = st.lists(
    st.tuples(st.integers(0, 900), st.integers(0, 20), st.integers(1, 30), st.floats(-50, 50)).map(
        lambda e: (e[0], e[0] + e[1], e[2], e[3])
    ),
    max_size=25,
)
policies = st.sampled_from(
    [NoEviction(), TwoDistances(200, 500, "start"), OneDistance(300, "middle"), SizeTimesDistance(50, 400, "middle")]
)


@given(entities, policies, st.integers(1, 12))
def test_a_budget_holds_and_keeps_the_most_salient(entities: list[Entity], first: EvictionPolicy, places: int) -> None:
    memory = memory_of(entities)
    gone = first(memory, 1000)
    both = Budget(places, first)(memory, 1000)
    assert not (gone & ~both).any()  # what the other policy lets go, goes
    assert (~both).sum() == min(places, (~gone).sum())  # no more than the cap, no fewer than need be
    values = salience(memory, 1000)
    dropped = both & ~gone
    if dropped.any() and not both.all():
        assert values[dropped].max() <= values[~both].min()


@given(st.lists(st.tuples(entities, st.integers(1, 50)), max_size=8), policies, st.integers(1, 10))
def test_the_cap_holds_over_any_sequence(
    steps: list[tuple[list[Entity], int]], first: EvictionPolicy, places: int
) -> None:
    policy = Budget(places, first)
    memory = EntityMemory(1)
    position = 1000
    for added, forward in steps:
        memory.reserve(len(memory) + len(added))
        for start, end, size, score in added:
            slot = memory.add(torch.zeros(1), *toys.note(start, end, score=score))
            memory.sizes[slot] = size
        position += forward
        memory.remove(policy(memory, position))
        assert len(memory) <= places
    assert np.unique(memory.ids).size == len(memory)
