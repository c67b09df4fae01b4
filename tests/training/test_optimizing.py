"""Learning rates, schedules, clipping, what moves and what does not."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.errors import StreamcorefError
from streamcoref.training import TrainingRun
from streamcoref.training.optimizing import make_optimizer, rate_factor
from tests.training import synthetic


def moved(run: TrainingRun) -> dict[str, float]:
    """How far each parameter moves in a run."""
    before = {name: p.detach().clone() for name, p in run.model.named_parameters()}
    assert run.train()
    return {name: (p.detach() - before[name]).abs().max().item() for name, p in run.model.named_parameters()}


def steps(folder: Path, count: int, **training: Any) -> dict[str, Any]:
    """A recipe of so many steps, with nothing to evaluate."""
    values = synthetic.recipe(folder, documents=count, epochs=1, **training)
    return {**values, "corpora": values["corpora"][:1]}


@given(st.integers(1, 200), st.floats(0, 1), st.sampled_from(["constant", "linear"]))
def test_rates_rise_over_the_warm_up_and_then_stay_or_fall(total: int, warm_up: float, schedule: str) -> None:
    factors = [rate_factor(step, total, schedule, warm_up) for step in range(total)]
    assert all(0 < factor <= 1 for factor in factors)
    warm = math.ceil(warm_up * total)
    assert factors[:warm] == sorted(factors[:warm])
    assert factors[warm:] == sorted(factors[warm:], reverse=True)
    if schedule == "constant":
        assert set(factors[warm:]) <= {1.0}


def test_a_linear_schedule_step_by_step() -> None:
    assert [rate_factor(step, 10, "linear", 0.4) for step in range(10)] == pytest.approx(
        [1 / 5, 2 / 5, 3 / 5, 4 / 5, 1, 5 / 6, 4 / 6, 3 / 6, 2 / 6, 1 / 6]
    )
    assert rate_factor(10, 10, "linear", 0.4) == 0


def test_encoder_and_heads_have_rates_of_their_own(tmp_path: Path) -> None:
    # The first step of Adam moves every parameter that has a gradient by its learning rate.
    values = steps(tmp_path, 1, warm_up=0, clip=1e9, encoder_decay=0, encoder_rate=1e-4, head_rate=1e-2)
    distances = moved(synthetic.new_run(values))
    assert distances["encoder.model.encoder.layer.1.output.dense.weight"] == pytest.approx(1e-4, rel=0.01)
    assert distances["spans.scorer.span.hidden.weight"] == pytest.approx(1e-2, rel=0.01)
    assert distances["new_entity_score"] == 0


def test_some_heads_have_other_rates_than_the_rest(tmp_path: Path) -> None:
    rates = {"spans.scorer": 1e-3, "spans.scorer.span": 5e-2}
    values = steps(tmp_path, 1, warm_up=0, clip=1e9, encoder_decay=0, head_rate=1e-2, rates=rates)
    distances = moved(synthetic.new_run(values))
    assert distances["spans.scorer.span.hidden.weight"] == pytest.approx(5e-2, rel=0.01)  # the last that fits
    assert distances["spans.scorer.width_prior.weight"] == pytest.approx(1e-3, rel=0.01)
    assert distances["pair_score.net.hidden.weight"] == pytest.approx(1e-2, rel=0.01)
    for nobodys in ("spans.scorers", "encoder.model"):
        with pytest.raises(StreamcorefError, match=f"training.rates: no head .* begins with {nobodys}"):
            synthetic.new_run(steps(tmp_path, 1, rates={nobodys: 1.0}))


def test_weight_decay_is_the_encoders(tmp_path: Path) -> None:
    run = synthetic.new_run(synthetic.recipe(tmp_path, encoder_decay=0.25))
    groups = make_optimizer(run.model, run.recipe.training).param_groups
    assert [group["weight_decay"] for group in groups] == [0.0, 0.25]
    assert [group["base_rate"] for group in groups] == [3e-3, 1e-3]


def test_layers_farther_down_learn_more_slowly(tmp_path: Path) -> None:
    values = steps(tmp_path, 1, warm_up=0, clip=1e9, encoder_decay=0, encoder_rate=1e-3, layer_decay=0.5)
    values["model"]["changes"]["encoder"] |= {"layers": 3, "mix": True}
    distances = moved(synthetic.new_run(values))
    for name, rate in (
        ("encoder.model.encoder.layer.1.output.dense.weight", 1e-3),
        ("encoder.model.encoder.layer.0.output.dense.weight", 5e-4),
        ("encoder.model.embeddings.word_embeddings.weight", 2.5e-4),
        ("encoder.mix", 3e-3),  # as a head
    ):
        assert distances[name] == pytest.approx(rate, rel=0.02), name


@pytest.mark.parametrize("decay_of", ["all", "matrices"])
def test_every_parameter_is_in_one_group_whatever_its_layer(tmp_path: Path, decay_of: str) -> None:
    run = synthetic.new_run(synthetic.recipe(tmp_path, layer_decay=0.5, encoder_decay=0.25, decay_of=decay_of))
    groups = make_optimizer(run.model, run.recipe.training).param_groups
    every = [id(p) for group in groups for p in group["params"]]
    assert sorted(every) == sorted(id(p) for p in run.model.parameters() if p.requires_grad)
    assert [group["base_rate"] for group in groups[1:] if group["weight_decay"]] == [1e-3, 5e-4, 2.5e-4]


def test_a_schedule_reaches_the_optimizer(tmp_path: Path) -> None:
    run = synthetic.new_run(synthetic.recipe(tmp_path, epochs=1, schedule="linear", warm_up=0.5))
    rates: list[float] = []
    run.train(listener=lambda _: rates.append(run.optimizer.param_groups[0]["lr"]))
    assert rates[:6] == pytest.approx([3e-3 * rate_factor(step, 6, "linear", 0.5) for step in range(6)])


@pytest.mark.parametrize(("layer", "moving"), [(0, {"layer.0", "layer.1"}), (1, {"layer.1"}), (2, set())])
def test_frozen_parameters_do_not_move(tmp_path: Path, layer: int, moving: set[str]) -> None:
    values = steps(tmp_path, 3)
    values["model"]["changes"]["encoder"]["trainable_from"] = layer
    distances = moved(synthetic.new_run(values))
    encoder = {name for name, distance in distances.items() if name.startswith("encoder.") and distance > 0}
    assert {part for part in ("layer.0", "layer.1", "embeddings") if any(f".{part}." in n for n in encoder)} == moving
    assert distances["spans.scorer.span.hidden.weight"] > 0


def test_gradients_are_clipped_to_the_norm_given_and_the_log_tells_what_they_were(tmp_path: Path) -> None:
    run = synthetic.new_run(steps(tmp_path, 1, clip=0.25))
    assert run.train()
    clipped = torch.cat([p.grad.flatten() for p in run.model.parameters() if p.grad is not None])
    assert clipped.norm().item() == pytest.approx(0.25, rel=1e-3)
    assert synthetic.log(run.folder.path)[0]["gradient_norm"] > 1


def test_steps_whose_gradients_are_not_finite_are_skipped_and_logged(tmp_path: Path) -> None:
    # The first step moves the weights so far that nothing finite comes of them any more.
    run = synthetic.new_run(steps(tmp_path, 3, warm_up=0, head_rate=1e30))
    after: list[dict[str, torch.Tensor]] = []
    assert run.train(listener=lambda _: after.append({n: t.clone() for n, t in run.model.state_dict().items()}))
    lines = [line for line in synthetic.log(run.folder.path) if line["event"] == "step"]
    assert [line["gradient_norm"] is None for line in lines] == [False, True, True]
    assert all(torch.equal(tensor, after[2][name]) for name, tensor in after[0].items())


def test_an_encoder_rate_of_zero_freezes_the_encoder(tmp_path: Path) -> None:
    run = synthetic.new_run(steps(tmp_path, 3, clip=0.25, encoder_rate=0), cache=str(tmp_path / "cache"))
    distances = moved(run)
    assert all(distance == 0 for name, distance in distances.items() if name.startswith("encoder."))
    assert all(p.grad is None for p in run.model.encoder.parameters())  # nor do they count when clipping
    assert any((tmp_path / "cache").iterdir())
