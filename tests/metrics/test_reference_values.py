"""Values worked out by hand, and the rules for repeated and twinless mentions, on literal clusters."""

from __future__ import annotations

import json

import pytest

from streamcoref.metrics import Scores, blanc, lea, score_document, score_documents

# The clusters of the official scorer's case A, and responses in its manner: a mention is a letter.
KEY = ["a", "bc", "def"]


def figures(scores: Scores, metric: str) -> tuple[float, float]:
    counts = scores.metrics()[metric]
    return counts.recall, counts.precision


@pytest.mark.parametrize(
    ("response", "metric", "recall", "precision"),
    [
        # missing mentions
        (["a", "de"], "mentions", 3 / 6, 3 / 3),
        (["a", "de"], "muc", 1 / 3, 1 / 1),
        (["a", "de"], "bcub", (1 + 2 * 2 / 3) / 6, 3 / 3),
        (["a", "de"], "ceafm", 3 / 6, 3 / 3),
        (["a", "de"], "ceafe", (1 + 4 / 5) / 3, (1 + 4 / 5) / 2),
        (["a", "de"], "blanc", (1 / 4 + 2 / 11) / 2, (1 / 1 + 2 / 2) / 2),
        (["a", "de"], "lea", (1 + 3 * 1 / 3) / 6, 3 / 3),
        # missing and twinless mentions
        (["a", "bcx", "dy", "z"], "mentions", 4 / 6, 4 / 7),
        (["a", "bcx", "dy", "z"], "muc", 1 / 3, 1 / 3),
        (["a", "bcx", "dy", "z"], "bcub", (1 + 2 + 1 / 3) / 6, (1 + 4 / 3 + 1 / 2) / 7),
        (["a", "bcx", "dy", "z"], "ceafm", 4 / 6, 4 / 7),
        (["a", "bcx", "dy", "z"], "ceafe", (1 + 4 / 5 + 2 / 5) / 3, (1 + 4 / 5 + 2 / 5) / 4),
        (["a", "bcx", "dy", "z"], "blanc", (1 / 4 + 5 / 11) / 2, (1 / 4 + 5 / 17) / 2),
        (["a", "bcx", "dy", "z"], "lea", (1 + 2 + 0) / 6, (1 + 3 * 1 / 3) / 7),
        # one entity of everything: a singleton's self-link is resolved by a singleton only
        (["abcdef"], "lea", (0 + 2 + 3) / 6, 6 * 4 / 15 / 6),
        (["a", "b", "c", "d", "e", "f"], "lea", 1 / 6, 1 / 6),
        # two response clusters compete for one key cluster: each is aligned once
        (["d", "ef"], "ceafm", 2 / 6, 2 / 3),
    ],
)
def test_values_worked_out_by_hand(response: list[str], metric: str, recall: float, precision: float) -> None:
    assert figures(score_document(KEY, response), metric) == pytest.approx((recall, precision))


def test_a_chain_of_overlaps_is_aligned_as_a_whole() -> None:
    """Greedy alignment takes the overlap of 3 and gets 3 in all; the best alignment takes 2 and 2."""
    scores = score_document(["ab", "cdefg"], ["abcde", "fg"])
    assert scores.ceafm.recall_numerator == 4
    assert score_document(["ab", "cde"], ["abcde"]).ceafm.recall_numerator == 3


@pytest.mark.parametrize(
    "repeating",
    [
        ["a", "bbcx", "dy", "z"],  # in its own cluster, as in case A7
        ["a", "bcx", "dy", "bz"],  # in a later cluster too, as in A8
        ["a", "bcx", "dy", "bbbbbbbbbbz"],  # more than ten times, as in A9, which the official scorer refuses
        ["a", "bcxx", "dy", "zx"],  # a mention that the key does not have
        ["a", "bcx", "dy", "z", "b", ""],  # leaving a cluster with nothing
    ],
)
@pytest.mark.parametrize("swap", [False, True])
def test_a_repeated_mention_counts_once_where_it_came_first(repeating: list[str], swap: bool) -> None:
    plain = ["a", "bcx", "dy", "z"]
    if swap:
        assert score_document(repeating, KEY) == score_document(plain, KEY)
    else:
        assert score_document(KEY, repeating) == score_document(KEY, plain)


def test_dropping_singletons_takes_them_from_both_sides_before_everything() -> None:
    kept = score_document(["a", "bc", "def"], ["a", "bcx", "dy", "z", "ff"])
    dropped = score_document(["a", "bc", "def"], ["a", "bcx", "dy", "z", "ff"], singletons=False)
    assert dropped == score_document(["bc", "def"], ["bcx", "dy"])
    assert (kept.key_mentions, kept.response_mentions) == (6, 8)
    assert (dropped.key_mentions, dropped.response_mentions) == (5, 5)
    assert dropped.lea != kept.lea


def test_a_corpus_is_scored_by_sums_not_by_the_mean_of_documents() -> None:
    pairs = [(["ab"], ["ab"]), (["abcd", "ef"], ["ab", "cdef"])]
    one, other = (score_document(key, response) for key, response in pairs)
    both = score_documents(pairs)
    assert both == one + other == sum([other, one], Scores())
    assert both.documents == 2
    assert both.muc.recall == (1 + 3) / (1 + 4)
    assert both.muc.recall != pytest.approx((one.muc.recall + other.muc.recall) / 2)
    # the pairs of the corpus decide what BLANC averages, not those of each document: the first has no other kind
    assert both.blanc.recall == pytest.approx(((1 + 3) / (1 + 7) + 4 / 8) / 2)


def test_conll_average_is_the_mean_of_three_f1() -> None:
    scores = score_document(KEY, ["a", "bcx", "dy", "z"])
    assert scores.conll_f1 == pytest.approx((0.333333 + 0.468320 + 0.628571) / 3, abs=1e-5)


def test_nothing_to_divide_by_is_zero() -> None:
    for key, response in ([], []), ([], ["ab"]), (["ab"], []):
        scores = score_document(key, response)
        assert all((m.recall, m.precision, m.f1) == (0, 0, 0) for m in scores.metrics().values())
    perfect = score_document(["a", "b"], ["a", "b"])
    assert perfect.muc.f1 == 0  # no links anywhere, as in case N1
    assert (perfect.bcub.f1, perfect.ceafe.f1, perfect.blanc.f1, perfect.lea.f1) == (1, 1, 1, 1)


def test_blanc_drops_the_kind_of_pair_that_the_key_lacks() -> None:
    all_apart = blanc.count(["a", "b", "c"], ["ab", "c"])
    assert (all_apart.recall, all_apart.precision, all_apart.f1) == pytest.approx((2 / 3, 1, 0.8))
    all_one = blanc.count(["abc"], ["ab", "c"])
    assert (all_one.recall, all_one.precision, all_one.f1) == pytest.approx((1 / 3, 1, 0.5))
    assert blanc.count(["a"], ["a"]).f1 == 0


def test_blanc_f1_is_the_mean_of_two_f1() -> None:
    counts = blanc.count(KEY, ["a", "bcx", "dy", "z"])
    assert counts.f1 == pytest.approx((counts.coreferent.f1 + counts.distinct.f1) / 2)
    assert counts.f1 == pytest.approx(0.30357, abs=5e-6)


def test_mentions_may_be_any_hashable_and_clusters_any_iterable() -> None:
    spans = (((0, 1), (4, 6)), ((2, 3),))
    assert lea.count(spans, iter([iter([(4, 6), (0, 1)]), [(2, 3)]])).f1 == 1


def test_to_dict_is_plain_json() -> None:
    scores = score_document(KEY, ["a", "de"])
    data = json.loads(json.dumps(scores.to_dict()))
    assert data["ceafe"] == pytest.approx({"precision": 0.9, "recall": 0.6, "f1": 0.72})
    assert (data["documents"], data["key_mentions"], data["response_mentions"]) == (1, 6, 3)
    assert data["conll_f1"] == scores.conll_f1
