"""Learning rates, schedules, clipping, what moves and what does not, and what a corpus brings."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.errors import StreamcorefError
from streamcoref.training.data import epoch_order
from streamcoref.training.trainer import Trainer, rate_factor
from tests.training import synthetic


def after(trainer: Trainer, steps: int = 1) -> dict[str, torch.Tensor]:
    """How far each parameter has moved after some steps."""
    before = {name: p.detach().clone() for name, p in trainer.model.named_parameters()}
    trainer.folder.mkdir(parents=True, exist_ok=True)
    for number in range(steps):
        trainer._step(trainer.corpora[0].examples[number : number + 1], 0)
    return {name: (p.detach() - before[name]).abs().max() for name, p in trainer.model.named_parameters()}


def log(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()]


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
    values = synthetic.recipe(tmp_path, warm_up=0, clip=1e9, encoder_decay=0)
    values["training"] |= {"encoder_rate": 1e-4, "head_rate": 1e-2}
    moved = after(synthetic.trainer(values))
    assert moved["encoder.model.encoder.layer.1.output.dense.weight"] == pytest.approx(1e-4, rel=0.01)
    assert moved["spans.scorer.span.hidden.weight"] == pytest.approx(1e-2, rel=0.01)
    assert moved["new_entity_score"] == 0


def test_weight_decay_is_the_encoders(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, encoder_decay=0.25)
    groups = synthetic.trainer(values).optimizer.param_groups
    assert [group["weight_decay"] for group in groups] == [0.0, 0.25]
    assert [group["base_rate"] for group in groups] == [3e-3, 1e-3]


def test_a_schedule_reaches_the_optimizer(tmp_path: Path) -> None:
    trainer = synthetic.trainer(synthetic.recipe(tmp_path, epochs=1, schedule="linear", warm_up=0.5))
    rates = []
    trainer.report = lambda _: rates.append(trainer.optimizer.param_groups[0]["lr"])
    trainer.run(resume=False)
    assert rates[:6] == pytest.approx([3e-3 * rate_factor(step, 6, "linear", 0.5) for step in range(6)])


@pytest.mark.parametrize(("layer", "moving"), [(0, {"layer.0", "layer.1"}), (1, {"layer.1"}), (2, set())])
def test_frozen_parameters_do_not_move(tmp_path: Path, layer: int, moving: set[str]) -> None:
    values = synthetic.recipe(tmp_path)
    values["model"]["changes"]["encoder"]["trainable_from"] = layer
    moved = after(synthetic.trainer(values), 3)
    encoder = {name for name, distance in moved.items() if name.startswith("encoder.") and distance > 0}
    assert {part for part in ("layer.0", "layer.1", "embeddings") if any(f".{part}." in n for n in encoder)} == moving
    assert moved["spans.scorer.span.hidden.weight"] > 0


def test_gradients_are_clipped_to_the_norm_given_and_the_log_tells_what_they_were(tmp_path: Path) -> None:
    trainer = synthetic.trainer(synthetic.recipe(tmp_path, clip=0.25))
    after(trainer)
    clipped = torch.cat([p.grad.flatten() for p in trainer.model.parameters() if p.grad is not None])
    assert clipped.norm().item() == pytest.approx(0.25, rel=1e-3)
    assert log(trainer.folder)[0]["gradient_norm"] > 1


def test_a_step_whose_gradients_are_not_finite_is_skipped(tmp_path: Path) -> None:
    trainer = synthetic.trainer(synthetic.recipe(tmp_path))
    trainer.encode = lambda segments: [piece * torch.inf for piece in trainer.model.encoder(segments)]
    assert max(after(trainer).values()) == 0
    assert log(trainer.folder)[0]["gradient_norm"] is None


def test_patience_ends_a_run_that_gets_no_better(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=1, patience=2)
    values["training"]["head_rate"] = values["training"]["encoder_rate"] = 1e-12
    trainer = synthetic.trainer(values)
    trainer.run(resume=False)
    assert [line["epoch"] for line in log(trainer.folder) if line["event"] == "epoch"] == [1, 2, 3]


@pytest.mark.parametrize(("weight", "times"), [(0.0, 0), (0.5, 3), (1.0, 6), (2.5, 15)])
def test_a_corpus_comes_as_often_as_its_weight_says(tmp_path: Path, weight: float, times: int) -> None:
    values = synthetic.recipe(tmp_path)
    other = synthetic.corpus(tmp_path / "other.jsonl", documents=2)
    values["corpora"][0]["weight"] = weight
    values["corpora"].append({"name": "other", "path": str(other), "use": "train"})
    corpora = synthetic.trainer(values).corpora
    order = epoch_order(corpora, 1, 0)
    assert sum(any(example is e for e in corpora[0].examples) for example in order) == times
    assert len(order) == times + 2
    assert order == epoch_order(corpora, 1, 0)
    assert weight == 0 or order != epoch_order(corpora, 1, 1) or order != epoch_order(corpora, 1, 2)


@pytest.mark.parametrize(("mention_loss", "weights"), [("off", [0, 0]), ("singletons", [0.5, 0]), ("all", [0.5, 0.5])])
def test_the_mention_loss_is_for_the_corpora_that_it_is_meant_for(
    tmp_path: Path, mention_loss: str, weights: list[float]
) -> None:
    values = synthetic.recipe(tmp_path, mention_loss=mention_loss, mention_weight=0.5)
    values["corpora"] = [{**values["corpora"][0], "name": str(flag), "singletons": flag} for flag in (True, False)]
    corpora = synthetic.trainer(values).corpora
    assert [corpus.examples[0].mention_weight for corpus in corpora] == weights


def test_genre_and_scheme_of_a_corpus_reach_its_documents(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    values["model"]["changes"]["schemes"] = ["unknown", "ours"]
    values["corpora"][0] |= {"genre": "wb", "scheme": "ours"}
    example = synthetic.trainer(values).corpora[0].examples[0]
    assert (example.document.genre, example.scheme) == ("wb", "ours")
    values["corpora"][0]["scheme"] = "theirs"
    with pytest.raises(StreamcorefError, match="corpus toy: the model has no scheme 'theirs'; it has unknown, ours"):
        synthetic.trainer(values)


def test_an_encoder_rate_of_zero_freezes_the_encoder(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, clip=0.25)
    values["training"]["encoder_rate"] = 0
    trainer = synthetic.trainer(values, cache=str(tmp_path / "cache"))
    moved = after(trainer, 3)
    assert all(distance == 0 for name, distance in moved.items() if name.startswith("encoder."))
    assert all(p.grad is None for p in trainer.model.encoder.parameters())  # nor do they count when clipping
    assert any((tmp_path / "cache").iterdir())


@pytest.mark.parametrize("precision", ["bfloat16", "float16"])
@pytest.mark.parametrize("update", ["alpha", "mean"])
def test_mixed_precision_trains(tmp_path: Path, precision: str, update: str) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=1, teacher_forcing=1.0, mention_loss="all")
    values["model"]["changes"] |= {
        "update": {"name": update},
        "spans": {"scorer": {"name": "light"}, "projected_size": 16},
    }
    losses, weights = [], []
    for name in ("float32", precision):
        trainer = synthetic.trainer(values, folder=str(tmp_path / name), precision=name)
        assert trainer.run(resume=False)
        losses.append(log(trainer.folder)[0]["loss"])
        weights.append((trainer.folder / "last/model.safetensors").read_bytes())
    assert losses[1] == pytest.approx(losses[0], rel=0.02)
    assert weights[1] != weights[0]


def test_weights_that_leave_no_document_are_refused(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    values["corpora"][0]["weight"] = 0.0
    with pytest.raises(StreamcorefError, match="the weights of the training corpora leave no document"):
        synthetic.trainer(values)
