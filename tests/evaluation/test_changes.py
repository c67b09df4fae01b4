"""Another eviction policy or segment length than the model's own."""

from __future__ import annotations

from typing import Any

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.evaluation.changes import with_eviction, with_segment_length
from streamcoref.model.evict import EvictionOptions, NoEvictionOptions, OneDistanceOptions, TwoDistancesOptions
from tests.evaluation import toy_evaluation as toy

CORPUS = [EvaluationCorpus("toy", [toy.document(1, 150)])]


@pytest.mark.parametrize(
    ("policy", "options"),
    [
        ("two_distances:singleton=600,cluster=1200,budget=300", TwoDistancesOptions(budget=300)),
        (' {"name": "two_distances", "budget": 300} ', TwoDistancesOptions(singleton=600, cluster=1200, budget=300)),
        ({"name": "two_distances", "budget": 300}, TwoDistancesOptions(budget=300)),
        ("one_distance: distance = 5, measure = start", OneDistanceOptions(distance=5, measure="start")),
        ("none", NoEvictionOptions()),
        (NoEvictionOptions(budget=3), NoEvictionOptions(budget=3)),
    ],
)
def test_policies_by_name_as_json_and_as_tables(policy: Any, options: EvictionOptions) -> None:
    assert with_eviction(toy.checkpoint(), policy).config.evict == options


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lru", "eviction policy lru: unknown name 'lru'; known: none, two_distances"),
        ("", "unknown name ''"),
        ("one_distance", "distance: Field required"),
        ("one_distance:distance=far", "distance: Input should be a valid integer"),
        ("two_distances:singleton=0,far=3", "singleton: Input should be greater than 0; far: unknown key"),
        ("two_distances:singleton", "'singleton' is not an option of the form key=value"),
        ("two_distances:singleton=1,singleton=2", "each key once"),
        ("two_distances:name=none", "each key once"),
        ('{"name": ', "eviction policy {"),
        ('{"budget": 3}', "unknown name None"),
        (7, "eviction policy 7: 7 is no policy; give one by name"),
    ],
)
def test_mistakes_are_one_sentence(text: Any, message: str) -> None:
    with pytest.raises(StreamcorefError) as caught:
        with_eviction(toy.checkpoint(), text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_eviction_changes_what_is_alive() -> None:
    checkpoint = toy.checkpoint()
    kept = evaluate(with_eviction(checkpoint, "none"), CORPUS).peak_entities
    capped = with_eviction(checkpoint, "none:budget=3")
    own = evaluate(checkpoint, CORPUS).peak_entities  # still as it was: the model is shared, its policy is not
    assert capped.model is checkpoint.model
    few = evaluate(capped, CORPUS).peak_entities
    assert kept is not None
    assert own is not None
    assert few is not None
    assert kept > own > few
    assert capped.config.evict == NoEvictionOptions(budget=3)


def test_a_baseline_has_nothing_to_evict() -> None:
    with pytest.raises(StreamcorefError, match="baseline, which holds no entities"):
        with_eviction(toy.checkpoint("baseline"), NoEvictionOptions())


def test_segment_length() -> None:
    checkpoint = toy.checkpoint()
    seen: list[int] = []
    hook = checkpoint.model.encoder.register_forward_pre_hook(lambda _, given: seen.extend(map(len, given[0])))
    changed = with_segment_length(checkpoint, 24)
    evaluate(changed, CORPUS)
    hook.remove()
    assert max(seen) <= 24
    assert checkpoint.config.segments.max_pieces == 64  # the one given is not changed
    assert evaluate(changed, CORPUS).documents[0].pieces == evaluate(checkpoint, CORPUS).documents[0].pieces


@pytest.mark.parametrize(
    ("length", "message"), [(129, "129 pieces is too long: .* 128 only"), (7, "segment length 7: max_pieces: .* 8")]
)
def test_impossible_segment_lengths(length: int, message: str) -> None:
    with pytest.raises(StreamcorefError, match=message):
        with_segment_length(toy.checkpoint(), length)
