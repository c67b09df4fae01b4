"""What holds for all clusters, and every metric against its definition taken literally."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import combinations, permutations
from math import comb

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.metrics import Counts, Scores, bcub, blanc, ceafe, ceafm, lea, mentions, muc, score_document
from streamcoref.metrics.alignment import best_alignment

Partition = list[list[int]]

# The first example loads scipy, and a loaded machine has its own clock: time is no part of these tests.
unhurried = settings(deadline=None)


@st.composite
def partitions(draw: st.DrawFn, universe: int = 12, most: int = 6, least: int = 0) -> Partition:
    """Some of the mentions 0..universe, in up to `most` clusters."""
    members = draw(st.lists(st.integers(0, universe), unique=True, min_size=least))
    homes = [draw(st.integers(0, most - 1)) for _ in members]
    clusters: dict[int, list[int]] = {}
    for mention, home in zip(members, homes, strict=True):
        clusters.setdefault(home, []).append(mention)
    return list(clusters.values())


def every_figure(scores: Scores) -> Iterator[float]:
    for metric in scores.metrics().values():
        yield from (metric.precision, metric.recall, metric.f1)
    yield scores.conll_f1


@unhurried
@given(partitions(), partitions(), st.booleans())
def test_figures_are_between_0_and_1(key: Partition, response: Partition, singletons: bool) -> None:
    assert all(0 <= figure <= 1 + 1e-12 for figure in every_figure(score_document(key, response, singletons)))


@unhurried
@given(partitions(least=2))
def test_a_perfect_response_scores_1(key: Partition) -> None:
    """With two mentions or more; MUC needs a link, and is 0 where all are singletons."""
    scores = score_document(key, key)
    links = any(len(cluster) > 1 for cluster in key)
    for name, metric in scores.metrics().items():
        expected = 1 if links or name != "muc" else 0
        assert (metric.precision, metric.recall, metric.f1) == pytest.approx((expected,) * 3)


@unhurried
@given(partitions(), partitions())
def test_less_than_perfect_is_less_than_1(key: Partition, response: Partition) -> None:
    same = {frozenset(c) for c in key} == {frozenset(c) for c in response}
    scores = score_document(key, response)
    if not same:
        assert scores.bcub.f1 < 1
        assert scores.ceafm.f1 < 1
        assert scores.ceafe.f1 < 1
        assert scores.lea.f1 < 1
        assert scores.conll_f1 < 1


@unhurried
@given(partitions(), partitions())
def test_precision_and_recall_swap_with_key_and_response(key: Partition, response: Partition) -> None:
    there, back = score_document(key, response), score_document(response, key)
    for name in ("mentions", "muc", "bcub", "ceafm", "ceafe", "lea"):
        a, b = there.metrics()[name], back.metrics()[name]
        assert (a.precision, a.recall, a.f1) == pytest.approx((b.recall, b.precision, b.f1))
    # BLANC leaves out a kind of pair that the *key* lacks, so it swaps only where both sides lack the same
    a_kinds, b_kinds = ([kind(s) for kind in (has_links, has_distinct)] for s in (there, back))
    if a_kinds == b_kinds:
        a, b = there.blanc, back.blanc
        assert (a.precision, a.recall, a.f1) == pytest.approx((b.recall, b.precision, b.f1))


def has_links(scores: Scores) -> bool:
    return scores.blanc.coreferent.recall_denominator > 0


def has_distinct(scores: Scores) -> bool:
    return scores.blanc.distinct.recall_denominator > 0


@unhurried
@given(partitions(), partitions(), st.randoms(use_true_random=False))
def test_order_does_not_matter(key: Partition, response: Partition, rng: random.Random) -> None:
    def shuffled(clusters: Partition) -> Partition:
        return rng.sample([rng.sample(cluster, len(cluster)) for cluster in clusters], len(clusters))

    assert score_document(shuffled(key), shuffled(response)) == score_document(key, response)


@unhurried
@given(st.lists(st.tuples(partitions(), partitions()), max_size=4))
def test_documents_add_up_in_any_grouping(pairs: list[tuple[Partition, Partition]]) -> None:
    """Documents side by side give the same as one document that holds them all, but for BLANC's pairs across."""
    apart = sum((score_document(*pair) for pair in pairs), Scores())
    key = [[(i, m) for m in cluster] for i, (clusters, _) in enumerate(pairs) for cluster in clusters]
    response = [[(i, m) for m in cluster] for i, (_, clusters) in enumerate(pairs) for cluster in clusters]
    together = score_document(key, response)
    for name in ("mentions", "muc", "bcub", "ceafm", "ceafe", "lea"):
        a, b = apart.metrics()[name], together.metrics()[name]
        assert (a.precision, a.recall, a.f1) == pytest.approx((b.precision, b.recall, b.f1))


@unhurried
@given(st.dictionaries(st.tuples(st.integers(0, 8), st.integers(0, 8)), st.floats(0.01, 5), max_size=14))
def test_alignment_by_components_equals_one_full_matrix(similarity: dict[tuple[int, int], float]) -> None:
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.zeros((9, 9))
    for place, value in similarity.items():
        matrix[place] = value
    full = matrix[linear_sum_assignment(matrix, maximize=True)].sum()
    assert best_alignment(similarity) == pytest.approx(full)


def test_no_matrix_is_larger_than_a_component(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand entities in pairs that overlap crosswise: matrices of 2 by 2, and none for the simple ones."""
    import scipy.optimize

    shapes = []
    solve = scipy.optimize.linear_sum_assignment

    def watched(matrix, maximize):  # type: ignore[no-untyped-def]
        shapes.append(matrix.shape)
        return solve(matrix, maximize=maximize)

    monkeypatch.setattr(scipy.optimize, "linear_sum_assignment", watched)
    key = [[(i, j, 0), (i, j, 1)] for i in range(500) for j in range(2)]
    crossed = [[(i, 0, j), (i, 1, j)] for i in range(500) for j in range(2)]
    assert ceafm.count(key, crossed).recall == 0.5
    assert shapes == [(2, 2)] * 500
    shapes.clear()
    halves = [[mention] for cluster in key for mention in cluster]
    assert ceafe.count(key, halves).recall == pytest.approx(2 / 3)
    assert ceafe.count(key, key).recall == 1
    assert shapes == []


# The definitions, taken literally, on clusters small enough to try everything.
tiny = partitions(universe=6, most=4)


def sets(clusters: Partition) -> list[set[int]]:
    return [set(cluster) for cluster in clusters]


def close(counts: Counts, recall: tuple[float, float], precision: tuple[float, float]) -> None:
    assert (counts.recall_numerator, counts.recall_denominator) == pytest.approx(recall)
    assert (counts.precision_numerator, counts.precision_denominator) == pytest.approx(precision)


@unhurried
@given(tiny, tiny)
def test_mentions_by_definition(key: Partition, response: Partition) -> None:
    ours, theirs = (set().union(*sets(side)) for side in (key, response))
    common = len(ours & theirs)
    close(mentions.count(key, response), (common, len(ours)), (common, len(theirs)))


@unhurried
@given(tiny, tiny)
def test_muc_by_definition(key: Partition, response: Partition) -> None:
    """Recall: |cluster| minus the number of parts that the other side cuts it into."""

    def side(one: Partition, other: Partition) -> tuple[float, float]:
        found = 0
        for cluster in sets(one):
            parts = [cluster & c for c in sets(other) if cluster & c]
            alone = len(cluster - set().union(*parts))
            found += len(cluster) - len(parts) - alone
        return found, sum(len(cluster) - 1 for cluster in one)

    close(muc.count(key, response), side(key, response), side(response, key))


@unhurried
@given(tiny, tiny)
def test_bcub_by_definition(key: Partition, response: Partition) -> None:
    def side(one: Partition, other: Partition) -> tuple[float, float]:
        total = 0.0
        for cluster in sets(one):
            for mention in cluster:
                partner: set[int] = next((c for c in sets(other) if mention in c), set())
                total += len(cluster & partner) / len(cluster)
        return total, sum(len(cluster) for cluster in one)

    close(bcub.count(key, response), side(key, response), side(response, key))


def best_by_trying(similarity: list[list[float]]) -> float:
    """Rows are the shorter side."""
    rows, columns = len(similarity), len(similarity[0]) if similarity else 0
    return max(
        (sum(similarity[i][j] for i, j in enumerate(chosen)) for chosen in permutations(range(columns), rows)),
        default=0,
    )


@unhurried
@given(tiny, tiny)
def test_ceaf_by_definition(key: Partition, response: Partition) -> None:
    short, long = sorted((sets(key), sets(response)), key=len)
    phi3 = best_by_trying([[len(a & b) for b in long] for a in short])
    phi4 = best_by_trying([[2 * len(a & b) / (len(a) + len(b)) for b in long] for a in short])
    ours, theirs = (sum(len(cluster) for cluster in side) for side in (key, response))
    close(ceafm.count(key, response), (phi3, ours), (phi3, theirs))
    close(ceafe.count(key, response), (phi4, len(key)), (phi4, len(response)))


@unhurried
@given(tiny, tiny)
def test_blanc_by_definition(key: Partition, response: Partition) -> None:
    def pairs(clusters: Partition) -> tuple[set[frozenset[int]], set[frozenset[int]]]:
        everything = {frozenset(pair) for pair in combinations([m for c in clusters for m in c], 2)}
        links = {frozenset(pair) for cluster in clusters for pair in combinations(cluster, 2)}
        return links, everything - links

    (key_links, key_distinct), (links, apart) = pairs(key), pairs(response)
    counts = blanc.count(key, response)
    both = len(key_links & links)
    close(counts.coreferent, (both, len(key_links)), (both, len(links)))
    both = len(key_distinct & apart)
    close(counts.distinct, (both, len(key_distinct)), (both, len(apart)))


@unhurried
@given(tiny, tiny)
def test_lea_by_definition(key: Partition, response: Partition) -> None:
    """A self-link of a singleton is found where the other side has the same singleton."""

    def links(cluster: set[int]) -> set[frozenset[int]]:
        if len(cluster) == 1:
            return {frozenset(cluster)}
        return {frozenset(pair) for pair in combinations(cluster, 2)}

    def side(one: Partition, other: Partition) -> tuple[float, float]:
        theirs = set().union(*(links(cluster) for cluster in sets(other)))
        total = 0.0
        for cluster in sets(one):
            size = len(cluster)
            total += size * len(links(cluster) & theirs) / (comb(size, 2) if size > 1 else 1)
        return total, sum(len(cluster) for cluster in one)

    close(lea.count(key, response), side(key, response), side(response, key))
