"""Learning is tested, not assumed: a handful of documents is learnt completely."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from streamcoref.model.checkpoint import load_checkpoint
from streamcoref.training import TrainingRun
from tests.training import synthetic

REUSED = ("encoder.", "spans.", "pair_score.")


def learn(run: TrainingRun) -> float:
    """The best F1; training ends as soon as there is nothing left to learn."""

    def end(line: dict[str, Any]) -> None:
        run.standing.finished = line.get("dev_f1") == 1.0

    assert run.train(listener=end)
    return run.standing.best


def recipe(folder: Path) -> dict[str, Any]:
    """Each document has several segments."""
    values = synthetic.recipe(folder, crop=3)
    values["model"]["changes"]["segments"] = {"max_pieces": 24}
    return values


def test_the_incremental_model_learns_a_corpus_completely(tmp_path: Path) -> None:
    run = synthetic.new_run(recipe(tmp_path))
    assert min(len(example.segments) for example in run.start.train[0].examples) > 1
    assert learn(run) == 1.0


def test_a_baseline_learns_a_corpus_completely_and_so_does_what_it_is_converted_to(tmp_path: Path) -> None:
    values = recipe(tmp_path)
    values["model"]["changes"].update(synthetic.BASELINE)
    assert learn(synthetic.new_run(values)) == 1.0

    best = Path(values["run"]["folder"]) / "best"
    values["model"]["start_from"] = str(best)
    values["model"]["changes"]["kind"] = "incremental"
    values["model"]["changes"]["encoder"]["trainable_from"] = 2  # frozen, as in the paper
    converted = synthetic.new_run(values, folder=str(tmp_path / "converted"))
    given = load_checkpoint(best).model.state_dict()
    mine = {name: tensor.clone() for name, tensor in converted.model.state_dict().items()}
    reused = [name for name in mine if name.startswith(REUSED)]
    assert [name for name in given if name.startswith(REUSED)] == reused
    assert all(torch.equal(mine[name], given[name]) for name in reused)
    assert {name.split(".")[0] for name in mine.keys() - given.keys()} == {"update", "new_entity_score"}
    assert learn(converted) == 1.0
    after = converted.model.state_dict()
    assert all(torch.equal(after[name], given[name]) for name in reused if name.startswith("encoder."))
    assert not torch.equal(after["update.net.hidden.weight"], mine["update.net.hidden.weight"])
