"""The dev figures of a run, and what a run refuses before it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.model.checkpoint import load_checkpoint
from tests.model.test_text_context import WordOverlapOptions
from tests.training import synthetic


@pytest.mark.parametrize("singletons", [False, True])
def test_dev_figures_are_those_of_evaluate(tmp_path: Path, singletons: bool) -> None:
    """Also where the corpus is called like one of the model's schemes, but names none: it was trained by the first."""
    values = synthetic.recipe(tmp_path, epochs=12, mention_loss="all")
    values["model"]["changes"] |= {"schemes": ["other", "toy"], "singletons": True}
    for corpus in values["corpora"]:
        corpus["singletons"] = singletons
    trainer = synthetic.trainer(values)
    assert trainer.run(resume=False)
    figures = trainer.evaluate()["toy"]
    last = load_checkpoint(trainer.folder / "last")
    expected = evaluate(last, [EvaluationCorpus("toy", values["corpora"][-1]["path"], "other", singletons)]).scores
    assert figures == expected.to_dict()
    assert figures["conll_f1"] > 0


def test_two_dev_corpora_of_one_name_are_refused(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    values["corpora"].append(values["corpora"][-1])
    with pytest.raises(StreamcorefError, match="two corpora for dev are called toy"):
        synthetic.trainer(values)


def test_a_scorer_that_reads_text_is_refused(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    values["model"]["changes"]["pair_score"] = {"name": WordOverlapOptions().name}
    with pytest.raises(StreamcorefError, match="cannot be trained"):
        synthetic.trainer(values)
