"""Scorers that read text learn: their texts come back in the replay, and what should be frozen is."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.arrays import FloatArray
from streamcoref.model.checkpoint import load_checkpoint
from streamcoref.model.incremental import IncrementalModel, greedy
from streamcoref.model.memory import EntityMemory
from streamcoref.model.rows import entity_rows
from streamcoref.model.span_readings import read_spans
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.text_context import Question, TextContext
from streamcoref.model.text_reader import EncoderReader
from streamcoref.training import TrainingRun, plan
from streamcoref.training.replay import make_versions, score_versions, snapshot
from streamcoref.training.steps import Example, IncrementalOptions, incremental_step
from tests.model import toys
from tests.model.test_query import COARSE, QUERY, model_of, reader_of
from tests.model.test_text_context import WordOverlapOptions
from tests.training import synthetic
from tests.training.test_incremental_loss import with_clusters

SMALL = QUERY | {"layers": 1}


def setting(**changes: Any) -> tuple[IncrementalModel, Example]:
    config = toys.config(pair_score=QUERY | changes, segments={"max_pieces": 16})
    document = with_clusters(toys.document(15, 40, longest_sentence=8))
    return model_of(config, 15, says=1.0), Example(document, toys.cut(document, 16), None, 0.0)


@pytest.mark.parametrize("changes", [{"encoder": "own"}, {"encoder": "model"}, {"margin": 1.0}])
def test_replay_gives_the_scores_that_decisions_were_made_by(changes: dict[str, Any]) -> None:
    """With the texts that each entity had when a span was compared with it."""
    model, example = setting(**changes)
    state = model.new_state()
    memory = state.memory
    compared = changed = 0
    with torch.no_grad():
        reading = model.reading()
        for segment in example.segments:
            vectors = model.layout.vectors(memory.rows[: len(memory)])
            before = snapshot(memory, entity_rows(vectors, model.pair_score, model.update))
            seen: list[tuple[dict[int, float], dict[int, tuple[TextContext, ...]]]] = []

            def note(
                _spans: SegmentSpans, _m: int, scores: FloatArray, memory: EntityMemory = memory, seen: Any = seen
            ) -> int:
                ids = memory.ids.tolist()
                finite = {entity: score for entity, score in zip(ids, scores.tolist(), strict=True) if score > -1e9}
                seen.append((finite, dict(zip(ids, memory.texts, strict=True))))
                return greedy(scores, 0.0)

            result = model.step(state, model.spans(model.encoder([segment])[0], segment, reading.scheme), reading, note)
            (spans,) = result.spans
            readings = read_spans(spans, model.pair_score, model.update)
            versions = make_versions(model, readings, before, result.links)
            nothing = np.zeros_like(versions.visible)
            replayed = score_versions(
                model, readings, spans.link_scores, versions, reading.index, reading.tables, nothing
            )
            for row, visible, (scores, texts) in zip(replayed, versions.visible, seen, strict=True):
                now = {int(versions.entities[v]): versions.texts[v] for v in np.flatnonzero(visible)}
                assert now == texts
                entities = versions.entities[visible].tolist()
                found = dict(zip(entities, row[visible].tolist(), strict=True))
                finite = {entity: score for entity, score in found.items() if score > -1e9}
                assert finite == pytest.approx(scores, rel=1e-4, abs=1e-4)
                compared += len(scores)
            changed += sum(not link.is_new for link in result.links)
    assert compared > 30
    assert changed > 5


def test_a_step_reaches_all_that_should_learn() -> None:
    model, example = setting(layers=1)
    loss = incremental_step(model, example, IncrementalOptions(), model.encoder, np.random.default_rng(0), lambda: 0.0)
    assert np.isfinite(loss)
    moved = {name for name, p in model.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0}
    assert any(name.startswith("pair_score.reader.own.model.encoder.layer.0") for name in moved)
    assert {"pair_score.reader.net.hidden.weight", "pair_score.bilinear.weight", "update.net.hidden.weight"} <= moved


def noted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each time that a reader is asked, whether to learn from what it says."""
    asked: list[bool] = []
    read = EncoderReader.forward

    def noting(reader: EncoderReader, questions: Sequence[Question]) -> torch.Tensor:
        asked.append(torch.is_grad_enabled())
        return read(reader, questions)

    monkeypatch.setattr(EncoderReader, "forward", noting)
    return asked


def test_decisions_by_vectors_ask_the_reader_only_to_learn(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = noted(monkeypatch)
    losses = []
    for asks in (True, False):
        model, example = setting(layers=1)
        with torch.no_grad():
            reader_of(model).net.output.weight.mul_(30.0)  # whatever it says, it decides
        asked.clear()
        options = IncrementalOptions(asks=asks)
        losses.append(incremental_step(model, example, options, model.encoder, np.random.default_rng(0), lambda: 0.0))
        assert asked.count(True) == len(example.segments)
        assert (asked.count(False) > 0) == asks
        assert model.pair_score.asks
        assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in reader_of(model).parameters())
    assert losses[0] != pytest.approx(losses[1], rel=1e-3)  # entities were made by other decisions


def test_a_recipe_says_how_decisions_are_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = noted(monkeypatch)
    told: list[bool] = []  # for each step whether the reader was asked without learning from it

    def note(line: dict[str, Any]) -> None:
        if line["event"] == "step":
            told.append(False in asked)
        asked.clear()

    for decide_by in ("all", "vectors"):
        values = recipe(tmp_path, epochs=1, decide_by=decide_by)
        assert synthetic.new_run(values, folder=str(tmp_path / decide_by)).train(listener=note)
    assert told == [True, True, False, False]


def test_gradients_are_those_of_a_step_that_keeps_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several passes are computed again on the way back; that changes nothing but the memory."""
    results = []
    for kept in (False, True):
        model, example = setting(layers=1)
        monkeypatch.setattr("streamcoref.model.text_reader.BATCH", 10_000 if kept else 5)
        incremental_step(model, example, IncrementalOptions(), model.encoder, np.random.default_rng(0), lambda: 0.0)
        results.append({name: p.grad for name, p in model.named_parameters() if p.grad is not None})
    assert results[0].keys() == results[1].keys()
    for name, gradient in results[0].items():
        torch.testing.assert_close(gradient, results[1][name], rtol=1e-4, atol=1e-5)


def recipe(folder: Path, pair_score: dict[str, Any] | None = None, **training: Any) -> dict[str, Any]:
    values = synthetic.recipe(folder, documents=2, **training)
    values["model"]["changes"]["pair_score"] = pair_score or SMALL
    return values


def weights(run: TrainingRun) -> dict[str, torch.Tensor]:
    return {name: tensor.clone() for name, tensor in run.model.state_dict().items()}


def test_the_rest_is_frozen_first_and_then_all_learn(tmp_path: Path) -> None:
    values = recipe(tmp_path, epochs=2, only=["pair_score.reader"], only_epochs=1)
    run = synthetic.new_run(values)
    after = [weights(run)]
    assert run.train(listener=lambda line: after.append(weights(run)) if line["event"] == "epoch" else None)

    def moved(first: int) -> set[str]:
        old, new = after[first], after[first + 1]
        return {name.split(".")[0] + "." + name.split(".")[1] for name in old if not torch.equal(old[name], new[name])}

    assert moved(0) == {"pair_score.reader"}
    assert moved(1) >= {"pair_score.reader", "pair_score.bilinear", "spans.scorer", "encoder.model"}


@pytest.mark.parametrize(("only_epochs", "alone"), [(None, True), (2, True), (1, False)])
def test_a_plan_counts_what_learns(tmp_path: Path, only_epochs: int | None, alone: bool) -> None:
    values = recipe(tmp_path, epochs=2, only=["pair_score.reader"], only_epochs=only_epochs)
    run = synthetic.new_run(values)
    names = {name: p.numel() for name, p in run.model.named_parameters() if p.requires_grad}
    expected = sum(n for name, n in names.items() if not alone or name.startswith("pair_score.reader."))
    assert plan(run.recipe, timed=True)["trained_parameters"] == expected


def test_an_unknown_name_is_said(tmp_path: Path) -> None:
    with pytest.raises(
        StreamcorefError, match=r"no parameter that learns has a name that begins with pair_score\.eyes"
    ):
        synthetic.new_run(recipe(tmp_path, only=["pair_score.eyes"]))


def test_encoders_have_the_encoders_rate(tmp_path: Path) -> None:
    run = synthetic.new_run(recipe(tmp_path, encoder_rate=1e-3, head_rate=1e-2))
    own = {id(p) for name, p in run.model.named_parameters() if name.startswith("pair_score.reader.own.")}
    rates = {group["base_rate"] for group in run.optimizer.param_groups for p in group["params"] if id(p) in own}
    assert rates == {1e-3}


def test_it_starts_from_a_model_without_it_and_is_evaluated(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=1)
    values["model"]["changes"]["pair_score"] = COARSE
    assert synthetic.new_run(values).train()
    values = recipe(tmp_path, epochs=1)
    values["model"]["start_from"] = str(tmp_path / "run/best")
    run = synthetic.new_run(values, folder=str(tmp_path / "second"))
    given = load_checkpoint(tmp_path / "run/best").model.state_dict()
    mine = run.model.state_dict()
    assert torch.equal(mine["pair_score.net.hidden.weight"], given["pair_score.net.hidden.weight"])
    name = "model.encoder.layer.0.output.dense.weight"
    assert torch.equal(mine[f"pair_score.reader.own.{name}"], given[f"encoder.{name}"])
    assert run.train()
    assert synthetic.log(tmp_path / "second")[-1]["dev_f1"] is not None
    # and a third goes on with what the second has learnt
    values["model"]["start_from"] = str(tmp_path / "second/best")
    third = synthetic.new_run(values, folder=str(tmp_path / "third")).model.state_dict()
    learnt = load_checkpoint(tmp_path / "second/best").model.state_dict()
    assert all(torch.equal(tensor, learnt[n]) for n, tensor in third.items())


def test_a_resumed_run_ends_with_the_same_weights(tmp_path: Path) -> None:
    values = recipe(tmp_path, epochs=2, only=["pair_score.reader"], only_epochs=1)
    assert synthetic.new_run(values, folder=str(tmp_path / "whole")).train()
    stopped = synthetic.new_run(values, folder=str(tmp_path / "parts"), checkpoint_minutes=0)

    def stop(line: dict[str, Any]) -> None:
        if line["step"] == 3:
            signal.raise_signal(signal.SIGINT)

    assert not stopped.train(listener=stop)
    assert synthetic.new_run(values, folder=str(tmp_path / "parts")).train(resume=True)
    whole, parts = (load_checkpoint(tmp_path / name / "last").model.state_dict() for name in ("whole", "parts"))
    assert all(torch.equal(tensor, parts[name]) for name, tensor in whole.items())


@pytest.mark.slow
def test_it_learns_what_no_vector_tells(tmp_path: Path) -> None:
    """With everything else frozen as it began, the reader alone learns which names are the same."""
    values = recipe(tmp_path, SMALL | {"contexts": 1}, epochs=25, only=["pair_score.reader"])
    values["corpora"][0]["path"] = values["corpora"][1]["path"] = str(synthetic.corpus(tmp_path / "toy.jsonl", 4))
    run = synthetic.new_run(values)
    losses: list[float] = []
    assert run.train(listener=lambda line: losses.append(line["loss"]) if line["event"] == "step" else None)
    assert sum(losses[-4:]) < 0.6 * sum(losses[:4])


def test_a_scorer_of_ones_own_that_reads_text_is_trained_too(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=1)
    values["model"]["changes"]["pair_score"] = {"name": WordOverlapOptions().name}
    assert synthetic.new_run(values).train()
