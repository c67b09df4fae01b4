"""Mixed precision: the same learning in shorter floats, forward only; scaled gradients in float16."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from streamcoref.training.optimizing import take_step
from streamcoref.training.precision import FIRST_SCALE, Precision
from streamcoref.training.recipe import TrainingOptions
from streamcoref.training.steps import IncrementalOptions, baseline_step, incremental_step
from tests.training import synthetic, test_baseline_loss, test_incremental_loss
from tests.training.test_resume import outcome

CPU = torch.device("cpu")
INCREMENTAL = {
    "feed-forward": {"spans": {"scorer": {"name": "feed_forward", "hidden": 16}}},
    "light": {"spans": {"scorer": {"name": "light"}, "projected_size": 16}, "update": {"name": "mean"}},
    "coarse to fine": {"pair_score": synthetic.BASELINE["pair_score"] | {"features": ["distance", "size"]}},
}


@pytest.mark.parametrize("changes", [*INCREMENTAL.values(), synthetic.BASELINE], ids=[*INCREMENTAL, "baseline"])
def test_mixed_precision_trains(tmp_path: Path, short_float: str, changes: dict[str, Any]) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=1, teacher_forcing=1.0, mention_loss="all")
    values["model"]["changes"] |= changes
    losses, weights = [], []
    for name in ("float32", short_float):
        folder = tmp_path / name
        assert synthetic.new_run(values, folder=str(folder), precision=name, device="cpu").train()
        lines = synthetic.log(folder)
        losses.append(lines[0]["loss"])
        assert lines[1]["gradient_norm"] is not None  # not skipped
        weights.append((folder / "last/model.safetensors").read_bytes())
    assert losses[1] == pytest.approx(losses[0], rel=0.02)
    assert weights[1] != weights[0]


def test_encodings_are_kept_in_full_whatever_the_precision(tmp_path: Path, short_float: str) -> None:
    values = synthetic.recipe(tmp_path, documents=1, epochs=1, encoder_rate=0)
    for name in ("float32", short_float):
        assert synthetic.new_run(
            values, folder=str(tmp_path / name), precision=name, device="cpu", cache=str(tmp_path / f"{name} cache")
        ).train()
    for path in (tmp_path / "float32 cache").iterdir():
        assert (tmp_path / f"{short_float} cache" / path.name).read_bytes() == path.read_bytes()


def flat(gradients: dict[str, Tensor]) -> Tensor:
    return torch.cat([gradients[name].flatten() for name in sorted(gradients)])


def test_every_weight_learns_as_in_full_precision(short_float: Any) -> None:
    """Also those that decisions have been made by before, without gradients."""
    model, _, example = test_incremental_loss.setting(update={"name": "mean"})
    found = []
    for precision in (Precision("float32", CPU), Precision(short_float, CPU)):
        options = IncrementalOptions(teacher_forcing=1.0)
        incremental_step(model, example, options, model.encoder, np.random.default_rng(0), lambda: 0.0, precision)
        found.append(test_incremental_loss.gradients(model))
    assert found[0].keys() == found[1].keys()
    assert torch.cosine_similarity(flat(found[0]), flat(found[1]), dim=0) > 0.95


class Watch(torch.autograd.Function):
    """Notes whether autocast is on, forward and backward."""

    seen: list[tuple[str, bool]]

    @staticmethod
    def forward(_: Any, x: Tensor) -> Tensor:
        Watch.seen.append(("forward", torch.is_autocast_enabled("cpu")))
        return x.clone()

    @staticmethod
    def backward(_: Any, gradient: Tensor) -> Tensor:  # type: ignore[override]
        Watch.seen.append(("backward", torch.is_autocast_enabled("cpu")))
        return gradient


@pytest.mark.parametrize("kind", ["incremental", "baseline"])
def test_only_the_forward_pass_is_in_mixed_precision(short_float: Any, kind: str) -> None:
    Watch.seen = []
    precision, random = Precision(short_float, CPU), np.random.default_rng(0)
    if kind == "baseline":
        model, example = test_baseline_loss.setting()
        encode = lambda segments: [Watch.apply(pieces) for pieces in model.encoder(segments)]  # noqa: E731
        baseline_step(model, example, None, encode, random, precision)
    else:
        model, _, example = test_incremental_loss.setting()
        encode = lambda segments: [Watch.apply(pieces) for pieces in model.encoder(segments)]  # noqa: E731
        incremental_step(model, example, IncrementalOptions(), encode, random, lambda: 0.0, precision)
    assert set(Watch.seen) == {("forward", True), ("backward", False)}


def layer_and_optimizer() -> tuple[torch.nn.Linear, torch.optim.Optimizer]:
    layer = torch.nn.Linear(3, 1)
    torch.nn.init.ones_(layer.weight)
    group = {"params": list(layer.parameters()), "part": "heads", "base_rate": 0.5}
    return layer, torch.optim.SGD([group], lr=0.0)


def clipping(norm: float) -> TrainingOptions:
    return TrainingOptions(epochs=1, encoder_rate=0, head_rate=1, warm_up=0, clip=norm)


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_gradients_are_clipped_as_they_are_without_the_scale(name: Any) -> None:
    """The loss needs no forward pass in float16 for that: it is the scaler that float16 brings."""
    precision = Precision(name, CPU)
    layer, optimizer = layer_and_optimizer()
    before = layer.weight.detach().clone()
    precision.backward(layer(torch.tensor([2.0, 3.0, 6.0])).sum())
    assert layer.weight.grad is not None
    assert layer.weight.grad[0, 0] == 2.0 * (FIRST_SCALE if name == "float16" else 1.0)
    norm = take_step(optimizer, precision, clipping(0.1), step=1, total=2)  # at half the rate
    assert norm == pytest.approx((2**2 + 3**2 + 6**2 + 1) ** 0.5)
    moved = before - layer.weight.detach()
    torch.testing.assert_close(moved, 0.5 * 0.5 * 0.1 / norm * torch.tensor([[2.0, 3.0, 6.0]]))


@pytest.mark.parametrize("name", ["float32", "float16"])
def test_gradients_that_are_not_finite_move_nothing_and_lower_the_scale(name: Any) -> None:
    precision = Precision(name, CPU)
    layer, optimizer = layer_and_optimizer()
    precision.backward(layer(torch.tensor([1.0, torch.inf, 1.0])).sum())
    assert not np.isfinite(take_step(optimizer, precision, clipping(1.0), 0, 1))
    assert (layer.weight == 1).all()
    assert precision.scaler.get_scale() == (FIRST_SCALE / 2 if name == "float16" else 1.0)
    optimizer.zero_grad()
    precision.backward(layer(torch.ones(3)).sum())
    assert take_step(optimizer, precision, clipping(1.0), 0, 1) == pytest.approx(2.0)
    assert (layer.weight < 1).all()


def test_a_first_step_without_a_loss_is_a_step() -> None:
    """As that of a worker that has no document."""
    layer, optimizer = layer_and_optimizer()
    for parameter in layer.parameters():
        parameter.grad = torch.zeros_like(parameter)
    assert take_step(optimizer, Precision("float16", CPU), clipping(1.0), 0, 1) == 0.0


def test_a_resumed_run_goes_on_with_the_scale(tmp_path: Path, short_float: str) -> None:
    # Losses so large that the first scale of float16 is too.
    values = synthetic.recipe(tmp_path, documents=4, epochs=3, mention_loss="all", mention_weight=30.0)
    values["run"] |= {"precision": short_float, "device": "cpu", "checkpoint_minutes": 60}
    assert synthetic.new_run(values, folder=str(tmp_path / "whole")).train()
    expected = outcome(tmp_path / "whole")
    skipped = {line["step"] for line in expected[2] if line["event"] == "step" and line["gradient_norm"] is None}
    assert ({1, 2} <= skipped) == (short_float == "float16")
    assert not {7, 8, 9} & skipped  # the scale fits now

    def interrupt(line: dict[str, Any]) -> None:
        if (line["event"], line["step"]) == ("step", 7):
            signal.raise_signal(signal.SIGINT)

    assert not synthetic.new_run(values, folder=str(tmp_path / "interrupted")).train(listener=interrupt)
    assert synthetic.new_run(values, folder=str(tmp_path / "interrupted")).train(resume=True)
    assert outcome(tmp_path / "interrupted") == expected


def test_a_run_may_go_on_in_another_precision(tmp_path: Path, short_float: str) -> None:
    values = synthetic.recipe(tmp_path, documents=1, epochs=1)
    values["training"]["epochs"] = 2
    order = ["float32", short_float, "float32"]
    for number, name in enumerate(order):

        def interrupt(line: dict[str, Any], last: bool = number == 2) -> None:
            if line["event"] == "step" and not last:
                signal.raise_signal(signal.SIGINT)

        run = synthetic.new_run(values, precision=name, device="cpu")
        run.train(resume=number > 0, listener=interrupt)
    assert [line["step"] for line in synthetic.log(tmp_path / "run") if line["event"] == "step"] == [1, 2]
