"""The paper's recipes train as its authors do: three steps against the same three written out."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref.document import Document
from streamcoref.formats import write_documents
from streamcoref.model.spans import SegmentSpans
from streamcoref.training import Recipe, TrainingRun, read_recipe
from streamcoref.training.data import epoch_order
from streamcoref.training.recipe import overlay
from streamcoref.training.steps import Example
from tests.conftest import ROOT
from tests.model import toys
from tests.training import synthetic
from tests.training.literal_training import LiteralBaselineTrainer, LiteralIncrementalTrainer, LiteralTrainer
from tests.training.test_incremental_loss import with_clusters

# The literal version compares scores that carry gradients.
pytestmark = pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")

# What is small here and large in the paper; everything else is the preset's own.
SMALL: dict[str, Any] = {
    "dropout": 0.0,
    "segments": {"max_pieces": 20},
    "spans": {"max_width": 6, "width_size": 4, "scorer": {"hidden": 16, "width_size": 4}},
    "pair_score": {"hidden": 16, "feature_size": 4},
}
SPREAD = 8.0  # of new weights against those of the paper, whose layers have many more inputs
KEYS = ("nw/wsj/1", "bn_cnn_2", "tc")
LONG = (*toys.WORDS, *["lighthouse", "unbelievable", "captain"] * 14)  # every second word has several pieces


def documents() -> list[Document]:
    """Two with many long words, of which a span of some pieces is no mention, and one with more whole mentions."""
    found = []
    for seed, (key, vocabulary) in enumerate(zip(KEYS, (LONG, LONG, toys.WORDS), strict=True)):
        plain = with_clusters(toys.document(seed, 40, longest_sentence=8, vocabulary=vocabulary))
        speakers = [("Anna", "Carl")[word % 3 == 0] for word in range(40)]
        found.append(Document.from_sentences(key, plain.sentences, plain.clusters, speakers=speakers))
    return found


def small_run(folder: Path, name: str, changes: dict[str, Any], training: dict[str, Any]) -> TrainingRun:
    """A recipe of the paper as it is, but for the sizes of its model and its documents, and what is changed."""
    values = read_recipe(ROOT / "recipes" / f"{name}.toml").model_dump(mode="json")
    write_documents(documents(), folder / "toy.jsonl", "jsonlines")
    synthetic.encoder_folder(folder / "encoder")
    _without_dropout(folder / "encoder" / "config.json")
    encoder = {"name": str(folder / "encoder")}
    values["model"] = {
        "preset": values["model"]["preset"],
        "changes": overlay(overlay(values["model"]["changes"], SMALL), overlay(changes, {"encoder": encoder})),
    }
    values["corpora"] = [{"name": "toy", "path": str(folder / "toy.jsonl"), "use": "train"}]
    values["training"] |= {"epochs": 1, "crop": None, **training}
    values["run"] = {"folder": str(folder / "run"), "threads": 1}
    run = TrainingRun(Recipe.model_validate(values))
    with torch.no_grad():  # scores that differ clearly, so that spans both join and start entities
        for parameter_name, parameter in run.model.named_parameters():
            if not parameter_name.startswith("encoder.") and parameter.dim() > 1:
                parameter.mul_(SPREAD)
    return run


def _without_dropout(path: Path) -> None:
    values = json.loads(path.read_text()) | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    path.write_text(json.dumps(values))


def order_of(run: TrainingRun) -> list[Example]:
    """The documents in the order of the run, cut anew with all that the literal version wants to know of words."""
    order = epoch_order(run.start.train, run.recipe.training.seed, 0)
    return [replace(example, segments=toys.cut(example.document, 20)) for example in order]


@dataclass(frozen=True)
class Steps:
    """Of each step its loss, and the gradients that it moved by."""

    losses: list[float] = field(default_factory=list)
    gradients: list[dict[str, torch.Tensor]] = field(default_factory=list)

    def add(self, loss: float, model: torch.nn.Module) -> None:
        self.losses.append(loss)
        self.gradients.append({n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None})


def steps_of(run: TrainingRun) -> Steps:
    steps = Steps()
    assert run.train(listener=lambda line: steps.add(line["loss"], run.model) if line["event"] == "step" else None)
    return steps


def assert_same(run: TrainingRun, literal: LiteralTrainer, found: Steps, expected: Steps) -> None:
    """Losses, gradients at each step, and the parameters that three steps lead to."""
    assert found.losses == pytest.approx(expected.losses, rel=1e-5)
    for mine, theirs in zip(found.gradients, expected.gradients, strict=True):
        assert theirs.keys() <= mine.keys()
        for name, gradient in theirs.items():
            torch.testing.assert_close(
                mine[name], gradient, rtol=1e-5, atol=1e-5, msg=lambda m, n=name: f"gradient of {n}: {m}"
            )
    parameters = literal.parameters()
    for name, parameter in run.model.named_parameters():
        if name == "spans.vectors.attention.bias":
            continue  # the same for all pieces of a span: its gradient is 0, but for rounding, which Adam makes large
        torch.testing.assert_close(
            parameter.detach(), parameters[name], rtol=0, atol=1e-5, msg=lambda m, n=name: f"{n}: {m}"
        )


def incremental(folder: Path, changes: dict[str, Any], training: dict[str, Any]) -> None:
    run = small_run(folder, "paper-ontonotes-incremental", overlay({"update": {"hidden": 8}}, changes), training)
    config = run.start.checkpoint.config
    literal = LiteralIncrementalTrainer(copy.deepcopy(run.model))
    order = order_of(run)
    assert all(len(example.segments) > 2 for example in order)
    wanted = Steps()
    for example in order:
        wanted.add(literal.step(config, example, rate=2e-4, norm=10.0), literal.model)
    found = steps_of(run)
    assert sum(literal.clipped) > 3
    assert_same(run, literal, found, wanted)


def baseline(folder: Path, changes: dict[str, Any], training: dict[str, Any]) -> None:
    # A rate of the encoder that shows all that is done to it; the recipe's own moves it by less than is compared.
    rates = (1e-2, 3e-4)
    run = small_run(folder, "paper-ontonotes-baseline", changes, {"encoder_rate": rates[0], **training})
    config = run.start.checkpoint.config
    literal = LiteralBaselineTrainer(copy.deepcopy(run.model))
    run.total_steps = 20  # of which two are for the warm-up: the third is the first at the rate of the line down
    wanted = Steps()
    for number, example in enumerate(order_of(run)):
        wanted.add(literal.step(config, example, rates, number, 20), literal.model)
    found = steps_of(run)
    assert all(literal.clipped)  # encoder and heads, at each step
    assert_same(run, literal, found, wanted)


@pytest.mark.parametrize("train", [incremental, baseline])
def test_three_steps_are_those_of_the_authors(tmp_path: Path, train: Callable[..., None]) -> None:
    train(tmp_path, {}, {})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("train", "value"),
    [
        (incremental, {"objective": "most_recent"}),
        (incremental, {"clip_after": "document"}),
        (incremental, {"backward_gb": 1000.0}),
        (baseline, {"clip_groups": "together"}),
        (baseline, {"warm_up_of": "all"}),
        (baseline, {"schedule": "linear"}),
        (baseline, {"decay_of": "all"}),
        (baseline, {"adam": "torch"}),
        (baseline, {"encoder_eps": 1e-4}),
    ],
)
def test_each_of_their_ways_matters(tmp_path: Path, train: Callable[..., None], value: dict[str, Any]) -> None:
    with pytest.raises(AssertionError):
        train(tmp_path, {}, value)


@pytest.mark.slow
@pytest.mark.parametrize("train", [incremental, baseline])
def test_genres_by_keys_matter(tmp_path: Path, train: Callable[..., None]) -> None:
    with pytest.raises(AssertionError):
        train(tmp_path, {"genre_by_key": False}, {})


@pytest.mark.slow
@pytest.mark.parametrize("train", [incremental, baseline])
def test_gold_by_words_would_be_another_training(
    tmp_path: Path, train: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A span of some of a word's pieces is no mention, though its words are one."""
    monkeypatch.setattr(SegmentSpans, "mentions", property(lambda spans: spans.word_spans))
    with pytest.raises(AssertionError):
        train(tmp_path, {}, {})
