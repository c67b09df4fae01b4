"""The fast model against the literal one: same links, same scores, same evictions."""

from __future__ import annotations

from typing import Any

import pytest

from tests.model import toys
from tests.model.literal import LiteralModel

LIGHT = {"name": "light", "size": 16, "two_outputs": True}
ALL_FEATURES = ["speaker", "genre", "distance", "segment", "scheme", "size", "exact_match", "last_word_match"]
COARSE_TO_FINE = {
    "name": "coarse_to_fine",
    "hidden": 24,
    "shortlist": 4,
    "features": ALL_FEATURES,
    "feature_size": 4,
    "prior_features": ["distance", "exact_match"],
}
COMPILED = {**COARSE_TO_FINE, "hidden": 32, "features": ["genre", "distance", "size", "exact_match", "last_word_match"]}
TALKING = {**COARSE_TO_FINE, "features": [*ALL_FEATURES, "agreement"], "prior_features": ["distance", "agreement"]}
FEED_FORWARD = {"name": "feed_forward", "hidden": 24, "features": ALL_FEATURES, "feature_size": 4}

CASES: dict[str, dict[str, Any]] = {
    "paper": {},
    "every piece": {"spans": {"word_boundaries": False}},
    "all features": {"pair_score": FEED_FORWARD},
    "light": {"pair_score": COARSE_TO_FINE, "spans": {"scorer": LIGHT, "projected_size": 20, "ratio_of": "words"}},
    "compiled": {"pair_score": {**COMPILED, "shortlist": 9}},
    "compiled, a short list": {"pair_score": COMPILED},
    "threshold": {"spans": {"scorer": LIGHT, "min_score": 0.0}},
    "mean": {"update": {"name": "mean"}},
    "first": {"update": {"name": "first"}},
    "last": {"update": {"name": "last"}},
    "measured from the start": {"evict": {"name": "two_distances", "singleton": 40, "cluster": 80, "measure": "start"}},
    "one distance": {"evict": {"name": "one_distance", "distance": 50}},
    "size times distance": {"evict": {"name": "size_times_distance", "distance": 30, "longest": 90}},
    "no eviction": {"evict": {"name": "none"}},
    "budget alone": {"evict": {"name": "none", "budget": 6}},
    "budget with distances": {"evict": {"name": "two_distances", "singleton": 60, "cluster": 120, "budget": 5}},
    "agreement": {"pair_score": TALKING},
    "agreement in every pair": {"pair_score": {**FEED_FORWARD, "features": ["agreement", "distance"]}},
    "short segments": {"segments": {"max_pieces": 16}},
    "one sentence a segment": {"segments": {"max_sentences": 1}},
}


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize("case", CASES)
def test_fast_equals_literal(case: str, seed: int) -> None:
    # Sentences of up to 90 words do not fit into a segment: some segments are cut mid-sentence.
    longest = 90 if seed == 2 else 20
    document = toys.document(seed, 100, longest, toys.TALK if "agreement" in case else toys.WORDS)
    config = toys.config(**CASES[case])
    model = toys.model(config, seed)
    segments = toys.cut(document, config.segments.max_pieces, config.segments.max_sentences)
    results = toys.read(model, config, segments)
    links = [link for result in results for link in result.links]
    expected, evictions = LiteralModel(model, config).find_clusters(segments)

    assert len(expected) > 20
    assert [link.span for link in links] == [link.span for link in expected]
    assert [link.entity for link in links] == [link.entity for link in expected]
    assert [link.score for link in links] == pytest.approx([link.score for link in expected], abs=1e-4)
    assert [link.probability for link in links] == pytest.approx([link.probability for link in expected], abs=1e-4)
    assert [[record.id for record in result.evicted] for result in results] == evictions


def test_the_cases_exercise_the_algorithm() -> None:
    """Over all cases, spans join and start entities, entities are evicted, and segments end mid-sentence."""
    joined = started = evicted = cut = 0
    for case in CASES.values():
        config = toys.config(**case)
        document = toys.document(2, 150, longest_sentence=90)
        segments = toys.cut(document, config.segments.max_pieces, config.segments.max_sentences)
        cut += sum(s.first_word + len(s.words) not in document.sentence_ends for s in segments)
        for result in toys.read(toys.model(config, 2), config, segments):
            started += sum(link.is_new for link in result.links)
            joined += sum(not link.is_new for link in result.links)
            evicted += len(result.evicted)
    assert joined > 150
    assert started > 100
    assert evicted > 50
    assert cut > 5


@pytest.mark.parametrize("case", ["paper", "light"])
def test_encoder_batches_change_nothing(case: str) -> None:
    config = toys.config(**CASES[case])
    model = toys.model(config, 1)
    segments = toys.cut(toys.document(1, 300), config.segments.max_pieces)
    one, many = toys.read(model, config, segments), toys.read(model, config, segments, batch=4)
    assert [[(x.span, x.entity) for x in r.links] for r in one] == [[(x.span, x.entity) for x in r.links] for r in many]
    assert [[e.id for e in r.evicted] for r in one] == [[e.id for e in r.evicted] for r in many]
