"""Learning is tested, not assumed: a handful of documents is learnt completely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamcoref.training.recipe import Recipe
from streamcoref.training.trainer import Trainer
from tests.training import synthetic


def recipe(folder: Path, **training: Any) -> dict[str, Any]:
    """A recipe for the tiny preset on synthetic documents, trained and evaluated on the same ones."""
    corpus = folder / "toy.jsonl"
    if not corpus.exists():
        synthetic.corpus(corpus)
        synthetic.encoder_folder(folder / "encoder")
    return {
        "model": {"preset": "tiny", "changes": {"encoder": {"name": str(folder / "encoder")}}},
        "corpora": [
            {"name": "toy", "path": str(corpus), "use": "train"},
            {"name": "toy", "path": str(corpus), "use": "dev"},
        ],
        "training": {"epochs": 12, "encoder_rate": 1e-3, "head_rate": 3e-3, "schedule": "constant", **training},
        "run": {"folder": str(folder / "run"), "threads": 1},
    }


BASELINE = {
    "kind": "baseline",
    "pair_score": {
        "name": "coarse_to_fine",
        "hidden": 32,
        "shortlist": 20,
        "features": ["distance", "speaker", "segment"],
        "feature_size": 4,
    },
}


def run(values: dict[str, Any], resume: bool = False) -> Trainer:
    trainer = Trainer(Recipe.model_validate(values))
    assert trainer.run(resume)
    return trainer


def test_the_incremental_model_learns_a_corpus_completely(tmp_path: Path) -> None:
    assert run(recipe(tmp_path)).best == pytest.approx(1.0)


def test_the_baseline_learns_a_corpus_completely(tmp_path: Path) -> None:
    values = recipe(tmp_path, crop=3)
    values["model"]["changes"].update(BASELINE)
    assert run(values).best == pytest.approx(1.0)
