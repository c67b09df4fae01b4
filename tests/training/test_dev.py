"""The dev figures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.model.checkpoint import load_checkpoint
from streamcoref.training.dev import dev_scores, mean_f1
from tests.training import synthetic


@pytest.mark.parametrize("singletons", [False, True])
def test_dev_figures_are_those_of_evaluate(tmp_path: Path, singletons: bool) -> None:
    """Also where the corpus is called like one of the model's schemes, but names none: it was trained by the first."""
    values = synthetic.recipe(tmp_path, epochs=12, mention_loss="all")
    values["model"]["changes"] |= {"schemes": ["other", "toy"], "singletons": True}
    for corpus in values["corpora"]:
        corpus["singletons"] = singletons
    run = synthetic.new_run(values)
    assert run.train()
    figures = dev_scores(run.start.checkpoint, run.start.dev)["toy"]
    assert figures == synthetic.log(run.folder.path)[-1]["dev"]["toy"]
    last = load_checkpoint(run.folder.path / "last")
    expected = evaluate(last, [EvaluationCorpus("toy", values["corpora"][-1]["path"], "other", singletons)]).scores
    assert figures == expected.to_dict()
    assert figures["conll_f1"] > 0


@pytest.mark.parametrize("evict", [True, False])
def test_dev_figures_without_eviction(tmp_path: Path, evict: bool) -> None:
    values = synthetic.recipe(tmp_path, documents=3, epochs=1, dev_evict=evict)
    values["model"]["changes"]["evict"] = {"name": "none", "budget": 1}
    run = synthetic.new_run(values)
    policies = []
    whole = run.model.reading

    def reading(*labels: Any) -> Any:
        policies.append(type(labels[-1]).__name__)
        return whole(*labels)

    run.model.reading = reading  # type: ignore[method-assign]
    assert run.train()
    assert set(policies[-3:]) == {"Budget" if evict else "NoEviction"}
    assert load_checkpoint(run.folder.path / "last").config.evict.budget == 1


def test_epochs_are_compared_by_the_mean_over_corpora() -> None:
    assert mean_f1({"a": {"conll_f1": 0.5}, "b": {"conll_f1": 0.25}}) == 0.375
    assert mean_f1({}) is None
