"""The baseline's pruning against the plain rule."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.model.baseline.prune import best_without_crossing

Spans = list[tuple[int, int]]


def cross(a: tuple[int, int], b: tuple[int, int]) -> bool:
    first, second = sorted([a, b])
    return first[0] < second[0] <= first[1] < second[1]


def plainly(order: list[int], spans: Spans, keep: int) -> list[int]:
    taken: list[int] = []
    for row in order:
        if len(taken) < keep and not any(cross(spans[row], spans[other]) for other in taken):
            taken.append(row)
    return sorted(taken, key=lambda row: spans[row])


def prune(order: list[int], spans: Spans, keep: int) -> list[int]:
    starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    return best_without_crossing(np.array(order, dtype=np.int64), starts, ends, keep).tolist()


spans_in_order = st.lists(
    st.tuples(st.integers(0, 25), st.integers(0, 8)).map(lambda s: (s[0], s[0] + s[1])), unique=True, max_size=60
).flatmap(lambda spans: st.tuples(st.just(spans), st.permutations(range(len(spans)))))


@given(spans_in_order, st.integers(0, 40))
def test_equals_the_plain_rule(case: tuple[Spans, list[int]], keep: int) -> None:
    spans, order = case
    taken = prune(order, spans, keep)
    assert taken == plainly(order, spans, keep)
    assert not any(cross(spans[a], spans[b]) for a, b in combinations(taken, 2))
    assert all(spans[a] < spans[b] for a, b in pairwise(taken))


@pytest.mark.parametrize(
    ("spans", "expected"),
    [
        ([(2, 5), (4, 7)], [0]),  # they cross
        ([(2, 5), (5, 7)], [0]),  # by one piece
        ([(4, 7), (2, 5)], [0]),  # the other way round
        ([(2, 5), (6, 7)], [0, 1]),  # neighbours
        ([(2, 5), (3, 4)], [0, 1]),  # one holds the other
        ([(2, 5), (2, 4)], [1, 0]),  # with the same start
        ([(2, 5), (4, 5)], [0, 1]),  # with the same end
        ([(2, 5), (0, 9)], [1, 0]),
        ([(2, 5), (4, 7), (6, 8)], [0, 2]),  # what was not taken bars nobody
    ],
)
def test_by_hand(spans: Spans, expected: list[int]) -> None:
    assert prune(list(range(len(spans))), spans, 10) == expected


def test_the_best_come_first_and_no_more_than_asked() -> None:
    spans = [(0, 0), (1, 1), (2, 2), (3, 3)]
    assert prune([3, 0, 2, 1], spans, 2) == [0, 3]
    assert prune([3, 0, 2, 1], spans, 0) == []
    assert prune([2], spans, 4) == [2]
    assert prune([], [], 4) == []
