"""Another eviction policy or segment length than the model's own."""

from __future__ import annotations

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.evaluation.changes import parse_eviction, with_eviction, with_segment_length
from streamcoref.model.parts import NoEvictionOptions, OneDistanceOptions, TwoDistancesOptions
from tests.evaluation import toy_evaluation as toy

CORPUS = [EvaluationCorpus("toy", [toy.document(1, 150)])]


def test_policies_by_name_and_as_json() -> None:
    full = TwoDistancesOptions(singleton=600, cluster=1200, budget=300)
    assert parse_eviction("two_distances:singleton=600,cluster=1200,budget=300") == full
    assert parse_eviction(' {"name": "two_distances", "budget": 300} ') == full
    assert parse_eviction("one_distance: distance = 5, measure = start") == OneDistanceOptions(
        distance=5, measure="start"
    )
    assert parse_eviction("none") == NoEvictionOptions()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lru", "--evict lru: unknown name 'lru'; known: none, two_distances"),
        ("", "unknown name ''"),
        ("one_distance", "distance: Field required"),
        ("one_distance:distance=far", "distance: Input should be a valid integer"),
        ("two_distances:singleton=0,far=3", "singleton: Input should be greater than 0; far: unknown key"),
        ("two_distances:singleton", "'singleton' is not an option of the form key=value"),
        ("two_distances:singleton=1,singleton=2", "each key once"),
        ("two_distances:name=none", "each key once"),
        ('{"name": ', "--evict {"),
        ('{"budget": 3}', "unknown name None"),
    ],
)
def test_mistakes_are_one_sentence(text: str, message: str) -> None:
    with pytest.raises(StreamcorefError) as caught:
        parse_eviction(text)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_eviction_changes_what_is_alive() -> None:
    kept = evaluate(with_eviction(toy.checkpoint(), parse_eviction("none")), CORPUS).peak_entities
    own = evaluate(toy.checkpoint(), CORPUS).peak_entities
    capped = with_eviction(toy.checkpoint(), parse_eviction("none:budget=3"))
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
