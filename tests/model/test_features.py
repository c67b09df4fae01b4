"""Buckets and folded feature tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from streamcoref.errors import StreamcorefError
from streamcoref.model.features import BUCKETS, PairFeatures, bucket


def test_the_papers_buckets() -> None:
    ranges = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 7), (8, 15), (16, 31), (32, 63), (64, 200)]
    for number, (low, high) in enumerate(ranges):
        assert bucket(np.arange(low, high + 1)).tolist() == [number] * (high - low + 1)
    assert bucket(np.array([-1, -2, -1000])).tolist() == [0, 0, 0]
    assert bucket(np.array([10**6, 2**40])).tolist() == [9, 9]
    assert bucket(np.array([[1, 70], [6, -3]])).tolist() == [[1, 9], [5, 0]]


NAMES = ("speaker", "genre", "distance", "segment", "scheme", "size", "exact_match", "last_word_match")
COUNTS = {**BUCKETS, "genre": 3, "scheme": 2}


def make(names: tuple[str, ...]) -> PairFeatures:
    torch.manual_seed(0)
    return PairFeatures(names, 5, genres=3, schemes=2)


def concatenated(features: PairFeatures, values: dict[str, int | None]) -> torch.Tensor:
    parts = []
    for name in features.names:
        table = features.tables[name]
        value = values[name]
        assert isinstance(table, nn.Embedding)
        parts.append(torch.zeros(5) if value is None else table.weight[value])
    return torch.cat(parts)


@pytest.mark.parametrize(
    ("names", "fixed"),
    [
        (("distance",), {}),
        (("speaker", "genre", "distance", "segment"), {"speaker": None, "segment": 0, "genre": 2, "scheme": 1}),
        (NAMES, {"speaker": None, "segment": 0, "genre": 1, "scheme": 1}),
        (NAMES, {"genre": 0, "scheme": 0, "size": 1}),
        (("genre", "scheme"), {"genre": 2, "scheme": 1}),
        (("size", "distance"), {}),
    ],
)
@torch.inference_mode()
def test_fold_and_index_equal_concatenation(names: tuple[str, ...], fixed: dict[str, int | None]) -> None:
    features = make(names)
    assert features.size == 5 * len(names)
    linear = nn.Linear(features.size, 7)
    table = features.fold(linear, fixed)
    varying = [name for name in names if name not in fixed]
    seen = set()
    for combination in product(*(range(COUNTS[name]) for name in varying)):
        values = dict(zip(varying, combination, strict=True))
        place = int(features.index({name: np.array(value) for name, value in values.items()}))
        seen.add(place)
        expected = linear(concatenated(features, {**fixed, **values}))
        torch.testing.assert_close(table[place], expected, atol=1e-5, rtol=1e-5)
    assert seen == set(range(len(table)))  # one row a combination, no more


@torch.inference_mode()
def test_a_smaller_set_folds_to_the_index_of_a_larger() -> None:
    features, prior = make(NAMES), make(("distance", "exact_match", "scheme"))
    fixed: dict[str, int | None] = {"speaker": None, "segment": 0, "genre": 0, "scheme": 1}
    linear = nn.Linear(prior.size, 1)
    table = prior.fold(linear, fixed, like=features)
    for distance, size, exact, last in product(range(10), range(10), range(2), range(2)):
        values = {"distance": distance, "size": size, "exact_match": exact, "last_word_match": last}
        place = features.index({name: np.array(value) for name, value in values.items()})
        expected = linear(concatenated(prior, {**fixed, **values}))
        torch.testing.assert_close(table[int(place)], expected, atol=1e-5, rtol=1e-5)


def test_indices_broadcast() -> None:
    features = make(("size", "distance"))
    sizes, distances = np.array([1, 3]), np.array([[0], [4], [9]])
    index = features.index({"size": sizes, "distance": distances})
    assert index.tolist() == [[10, 30], [14, 34], [19, 39]]


def test_an_unknown_feature_is_named() -> None:
    with pytest.raises(StreamcorefError, match=r"unknown pair feature 'colour'; the known ones are speaker, distance"):
        make(("distance", "colour"))


def test_dropout_acts_on_features_in_training() -> None:
    features = PairFeatures(["distance"], 50, dropout=0.5)
    assert (features.fold(lambda x: x, {}) == 0).any()
    assert not (features.eval().fold(lambda x: x, {}) == 0).any()
