"""What a run begins with, and what is refused before it does."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import load_checkpoint
from streamcoref.training import Recipe, plan
from streamcoref.training.start import prepare
from tests.training import synthetic


def test_new_weights_come_from_the_seed(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    first, again = (prepare(Recipe.model_validate(values)).checkpoint.model.state_dict() for _ in range(2))
    assert all(torch.equal(tensor, again[name]) for name, tensor in first.items())
    values["training"]["seed"] = 2
    other = prepare(Recipe.model_validate(values)).checkpoint.model.state_dict()
    assert not torch.equal(other["spans.scorer.span.hidden.weight"], first["spans.scorer.span.hidden.weight"])
    name = "encoder.model.encoder.layer.0.output.dense.weight"
    assert torch.equal(other[name], first[name])  # which is pretrained


def test_a_model_that_starts_from_another_has_its_weights_and_the_log_tells_the_rest(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=1, epochs=1)
    assert synthetic.new_run(values).train()
    values["model"]["start_from"] = str(tmp_path / "run/best")
    values["model"]["changes"]["update"] = {"name": "mean"}
    run = synthetic.new_run(values, folder=str(tmp_path / "second"))
    given = load_checkpoint(tmp_path / "run/best").model.state_dict()
    assert all(torch.equal(tensor, given[name]) for name, tensor in run.model.state_dict().items())
    left = [f"update.net.{layer}.{kind}" for layer in ("hidden", "output") for kind in ("bias", "weight")]
    assert plan(run.recipe)["conversion"] == {"new": [], "not_taken": left}
    assert run.train()
    line = synthetic.log(tmp_path / "second")[0]
    expected = {"event": "start", "step": 0, "from": str(tmp_path / "run/best"), "new": [], "not_taken": left}
    assert line == expected


def test_without_a_preset_the_config_is_that_of_the_model_it_starts_from(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=1, epochs=1)
    values["model"]["changes"]["segments"] = {"max_pieces": 48}
    assert synthetic.new_run(values).train()
    values["model"] = {"start_from": str(tmp_path / "run/best"), "changes": {"update": {"name": "mean"}}}
    run = synthetic.new_run(values, folder=str(tmp_path / "second"))
    given = load_checkpoint(tmp_path / "run/best")
    mean = run.recipe.model_config_of().update
    assert mean.name == "mean"
    assert run.recipe.model_config_of() == given.config.model_copy(update={"update": mean})
    assert run.start.conversion["new"] == []


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ({}, "model: give a preset, a config file, or in start_from a model to go on with"),
        ({"start_from": "no/such/model"}, "there is no model folder no/such/model"),
    ],
)
def test_a_recipe_without_any_model_is_refused(tmp_path: Path, model: dict[str, str], said: str) -> None:
    values = synthetic.recipe(tmp_path)
    values["model"] = model
    with pytest.raises(StreamcorefError, match=said):
        synthetic.new_run(values)


def test_two_dev_corpora_of_one_name_are_refused(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    values["corpora"].append(values["corpora"][-1])
    with pytest.raises(StreamcorefError, match="two corpora for dev are called toy"):
        synthetic.new_run(values)
