"""Buckets and folded feature tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from streamcoref.errors import StreamcorefError
from streamcoref.model.features import FeatureIndex, Fixed, PairFeature, PairFeatures, TextLabels, pair_features
from streamcoref.model.features.buckets import bucket
from streamcoref.model.notes import IntArray, Notes
from tests.model import toys
from tests.model.features import pairs


def test_the_papers_buckets() -> None:
    ranges = [(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 7), (8, 15), (16, 31), (32, 63), (64, 200)]
    for number, (low, high) in enumerate(ranges):
        assert bucket(np.arange(low, high + 1)).tolist() == [number] * (high - low + 1)
    assert bucket(np.array([-1, -2, -1000])).tolist() == [0, 0, 0]
    assert bucket(np.array([10**6, 2**40])).tolist() == [9, 9]
    assert bucket(np.array([[1, 70], [6, -3]])).tolist() == [[1, 9], [5, 0]]


NAMES = ("speaker", "genre", "distance", "segment", "scheme", "size", "exact_match", "last_word_match")
COUNTS = dict(zip(NAMES, (2, 3, 10, 3, 2, 10, 2, 2), strict=True))


def make(names: tuple[str, ...]) -> PairFeatures:
    torch.manual_seed(0)
    return PairFeatures([pairs.build(name) for name in names], 5)


class Given(PairFeature):
    """A feature whose buckets are a column of the entities."""

    def __init__(self, name: str, buckets: int) -> None:
        self.name, self.buckets = name, buckets

    def compare(self, spans: Notes, entities: Notes) -> IntArray:
        return entities[self.name]


def row(index: FeatureIndex, values: dict[str, int]) -> int:
    """The number of a combination of buckets, whatever they come from."""
    steps = [(Given(feature.name, feature.buckets), step) for feature, step in index.steps]
    entities = Notes({"place": np.zeros(1), **{name: np.array([value]) for name, value in values.items()}})
    return int(FeatureIndex(steps)(Notes({"place": np.zeros(())}), entities)[0])


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
        place = row(features.index(fixed), values)
        seen.add(place)
        expected = linear(concatenated(features, {**fixed, **values}))
        torch.testing.assert_close(table[place], expected, atol=1e-5, rtol=1e-5)
    assert seen == set(range(len(table)))  # one row a combination, no more


@pytest.mark.parametrize("most", [1, 20, 50, 512])
@torch.inference_mode()
def test_small_tables_add_up_to_the_large_one(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """However many features share a table, and in every shape of indices."""
    monkeypatch.setattr(pair_features, "MOST_COMBINATIONS", most)
    features = make(NAMES)
    fixed: dict[str, int | None] = {"speaker": None, "segment": 0, "genre": 1, "scheme": 1}
    linear = nn.Linear(features.size, 7)
    table, apart = features.fold(linear, fixed), features.fold_apart(linear, fixed)
    assert max(map(len, apart.tables)) <= max(most, *(COUNTS[name] for name in NAMES if name not in fixed))
    every = torch.arange(len(table))
    torch.testing.assert_close(apart[every], table, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(apart[every.view(2, -1)], table.view(2, -1, 7), atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_a_smaller_set_folds_to_the_index_of_a_larger() -> None:
    features, prior = make(NAMES), make(("distance", "exact_match", "scheme"))
    fixed: dict[str, int | None] = {"speaker": None, "segment": 0, "genre": 0, "scheme": 1}
    linear = nn.Linear(prior.size, 1)
    table = prior.fold(linear, fixed, like=features)
    for distance, size, exact, last in product(range(10), range(10), range(2), range(2)):
        values = {"distance": distance, "size": size, "exact_match": exact, "last_word_match": last}
        place = row(features.index(fixed), values)
        expected = linear(concatenated(prior, {**fixed, **values}))
        torch.testing.assert_close(table[place], expected, atol=1e-5, rtol=1e-5)


def test_indices_broadcast() -> None:
    index = make(("size", "distance")).index({})
    spans = Notes({"place": np.array([[0], [8], [200]])})
    entities = Notes({"place": np.array([0, -2]), "size": np.array([1, 3])})
    assert index(spans, entities).tolist() == [[10, 31], [14, 35], [19, 39]]
    assert index(spans.at((0, 0)), entities).tolist() == [10, 31]


def test_what_is_fixed_in_a_text() -> None:
    features = make(NAMES)
    entities, mentions = (TextLabels(2, 1, against) for against in ("entities", "mentions"))
    assert features.fixed(entities) == {"speaker": None, "genre": 2, "segment": 0, "scheme": 1}
    assert features.fixed(mentions) == {"genre": 2, "scheme": 1, "size": 1}
    assert pairs.build("genre").fixed(entities) == Fixed(2)


def test_an_unknown_feature_is_named() -> None:
    with pytest.raises(StreamcorefError, match=r"features.1: unknown name 'colour'; known: .*distance"):
        toys.config(pair_score={"name": "feed_forward", "features": ["distance", "colour"]})


def test_two_features_with_one_column_are_refused() -> None:
    twice = [pairs.build("exact_match"), pairs.build("exact_match")]
    with pytest.raises(TypeError, match="two pair features have a column 'form'"):
        PairFeatures(twice, 4)


class Misnamed(Given):
    """What it notes of a span would take the place of what every span has."""

    span_columns = np.dtype([("place", np.int64)])


def test_a_feature_may_not_take_a_column_that_every_span_has() -> None:
    with pytest.raises(TypeError, match="have a column 'place'"):
        PairFeatures([Misnamed("mine", 2)], 4)


def test_dropout_acts_on_features_in_training() -> None:
    features = PairFeatures([pairs.build("distance")], 50, dropout=0.5)
    assert (features.fold(lambda x: x, {}) == 0).any()
    assert not (features.eval().fold(lambda x: x, {}) == 0).any()
