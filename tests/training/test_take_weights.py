"""A model that starts from another takes what fits."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from streamcoref.model.base import CorefModel
from streamcoref.model.config import build_model, preset
from streamcoref.model.features.likeness import Likeness
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from streamcoref.training.conversion import take_weights
from tests.model import toys

SCORER: dict[str, Any] = {
    "name": "coarse_to_fine",
    "hidden": 24,
    "shortlist": 4,
    "features": ["distance", "exact_match"],
    "feature_size": 4,
    "prior_features": ["distance"],
}


def model_with(seed: int, **changes: Any) -> CorefModel:
    return toys.model(toys.config(pair_score={**SCORER, **changes}), seed)


def decisions(model: CorefModel) -> list[tuple[int, float]]:
    segments = toys.cut(toys.document(3, 80, vocabulary=toys.TALK), 32)
    results = toys.read(model, preset("tiny"), segments)
    return [(link.entity, round(link.score, 3)) for result in results for link in result.links]


def test_features_added_behind_change_nothing_at_first() -> None:
    old = model_with(1)
    new = model_with(2, features=[*SCORER["features"], "agreement"], prior_features=["distance", "agreement"])
    assert decisions(new) != decisions(old)
    missing, left = take_weights(new, old)
    assert sorted(missing) == [
        "pair_score.features.tables.agreement.weight",
        "pair_score.prior_features.tables.agreement.weight",
    ]
    assert left == []
    assert decisions(new) == decisions(old)


def test_added_features_learn() -> None:
    new = model_with(2, features=[*SCORER["features"], "agreement"])
    take_weights(new, model_with(1))
    table = new.pair_score.fold_features({"genre": 0, "scheme": 0}).refine
    assert table is not None
    torch.stack([(part * torch.randn_like(part)).sum() for part in table.tables]).sum().backward()
    gradient = new.pair_score.net.hidden.weight.grad
    assert gradient is not None
    assert gradient[:, -4:].abs().sum() > 0


def test_other_features_are_not_mixed_up() -> None:
    new = model_with(2, features=["agreement", *SCORER["features"]])
    missing, left = take_weights(new, model_with(1))
    assert "pair_score.net.hidden.weight" in missing
    assert left == ["pair_score.net.hidden.weight"]


def test_a_scorer_of_another_size_is_not_taken() -> None:
    config = toys.config(pair_score={**SCORER, "hidden": 16, "features": [*SCORER["features"], "agreement"]})
    missing, _ = take_weights(build_model(config), model_with(1))
    assert "pair_score.net.hidden.weight" in missing


def test_values_that_a_baseline_never_saw_begin_as_the_features_say() -> None:
    names = {"features": ["distance", "identity"], "prior_features": ["distance", "identity"]}
    baseline = toys.model(toys.config(kind="baseline", pair_score={**SCORER, **names}), 1)
    more = {name: [*given, "talk"] for name, given in names.items()}
    model = model_with(2, **more)
    take_weights(model, baseline)
    scorer = model.pair_score
    assert isinstance(scorer, CoarseToFineScorer)
    prior, refine = scorer.prior_features, scorer.features
    for place, feature in enumerate(prior.features[1:], 1):
        weights = scorer.prior.weight[0, 4 * place : 4 * (place + 1)]
        scores = (prior.table(feature.name) @ weights).tolist()
        assert feature.beginnings
        for value, (like, above) in feature.beginnings.items():
            assert scores[value] == pytest.approx(scores[like] + above, abs=1e-3)
            assert torch.equal(refine.table(feature.name)[value], refine.table(feature.name)[like])
    given = baseline.state_dict()["pair_score.prior_features.tables.identity.weight"]
    assert torch.equal(prior.table("identity")[Likeness.SAME_NAME], given[Likeness.SAME_NAME]), (
        "what it has learnt stays"
    )
    again = model_with(3, **more)
    take_weights(again, model)
    assert torch.equal(again.state_dict()["pair_score.prior.weight"], scorer.prior.weight), "once is enough"
