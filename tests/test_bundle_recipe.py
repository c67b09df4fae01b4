"""What `recipes/bundle.py` does to a model besides saving it."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch

from streamcoref.model.features.agreement import Value
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from tests.model import toys

RECIPE = Path(__file__).parent.parent / "recipes" / "bundle.py"


@pytest.fixture
def bundle() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bundle", RECIPE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@torch.no_grad()
def test_conflicts_cost_the_penalty_and_nothing_else_changes(bundle: ModuleType) -> None:
    scorer = {"name": "coarse_to_fine", "hidden": 8, "shortlist": 4, "feature_size": 4}
    names = {"features": ["distance", "agreement"], "prior_features": ["distance", "agreement"]}
    model = toys.model(toys.config(pair_score=scorer | names), 0)
    assert isinstance(model.pair_score, CoarseToFineScorer)

    def tables() -> tuple[torch.Tensor, torch.Tensor]:
        folded = model.pair_score.fold_features({"genre": 0, "scheme": 0})
        assert folded.refine is not None
        return folded.score.reshape(10, len(Value)), folded.refine

    score, refine = tables()
    bundle.penalise(model, 2.5)
    expected = torch.zeros(len(Value))
    expected[list(bundle.CONFLICTS)] = 2.5
    after, refine_after = tables()
    torch.testing.assert_close(score - after, expected.expand(10, -1), atol=1e-4, rtol=0)
    assert torch.equal(refine_after, refine)
