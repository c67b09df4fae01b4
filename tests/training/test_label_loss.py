"""What is learnt of labels: the loss against a hand computation, learning, and recipes that cannot be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from streamcoref.document import Document, Span
from streamcoref.errors import StreamcorefError
from streamcoref.formats import write_documents
from streamcoref.mention_labels import MentionLabels
from streamcoref.model.base import CorefModel
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.candidates import Candidates
from streamcoref.model.incremental import IncrementalModel
from streamcoref.training.label_loss import LabelTasks, label_loss, place_mentions
from streamcoref.training.steps import Example, IncrementalOptions, baseline_step, incremental_step
from tests.model import toys
from tests.training import synthetic

TYPES = ["person", "place", "time"]
HEADS: dict[str, Any] = {"types": TYPES, "statuses": ["new", "giv:act"], "hidden": 8}
TASKS = LabelTasks({"types": 0.5, "statuses": 2.0}, mentions=0.25, scheme="full")


def setting(kind: str, seed: int = 0) -> tuple[CorefModel, Example]:
    changes: dict[str, Any] = dict(synthetic.BASELINE) if kind == "baseline" else {}
    changes |= {"schemes": ["few", "full"], "spans": {"scorer": {"name": "light", "size": 8}}, "dropout": 0.0}
    config = toys.config(**changes, segments={"max_pieces": 20}, labels=HEADS)
    document = toys.document(seed, 40, longest_sentence=8)
    spans = [(start, start + width) for start in range(0, 36, 2) for width in (1, 2)]
    labels = {
        span: MentionLabels(
            ((), ("person",), ("place", "time"), ("abstract",))[sum(span) % 4], status=("new", None)[sum(span) % 2]
        )
        for span in spans
    }
    document = replace(document, labels=labels, clusters=(tuple(spans[::3]),))
    return toys.model(config, seed), Example(document, toys.cut(document, 20), "few", 0.0, TASKS)


@torch.no_grad()
def by_hand(model: CorefModel, example: Example) -> float:
    """One mention after another, one candidate after another."""
    total = 0.0
    labels = example.document.labels
    for segment in example.segments:
        pieces = model.encoder([segment])[0]
        words = segment.word_of_piece.tolist()
        for span, label in labels.items():
            if span[0] in words and span[1] - 1 in words:
                start, end = words.index(span[0]), len(words) - 1 - words[::-1].index(span[1] - 1)
                if end - start >= model.spans.max_width:
                    continue
                vector = model.spans.vectors(pieces, Candidates(np.array([start]), np.array([end])))
                shares = torch.softmax(model.labels("types", vector)[0], 0)
                right = [share for share, name in zip(shares, TYPES, strict=True) if name in label.types]
                total -= 0.5 * float(torch.log(torch.stack(right).sum())) if right else 0.0
                if label.status is not None:
                    total -= 2.0 * float(torch.log_softmax(model.labels("statuses", vector)[0], 0)[0])
        spans = model.spans(pieces, segment, 1)  # by the scheme "full", the second one
        for candidate, score in zip(spans.candidate_mentions, spans.candidate_scores, strict=True):
            wanted = torch.tensor(1.0 if candidate in labels else 0.0)
            total += 0.25 * float(F.binary_cross_entropy_with_logits(score, wanted))
    return total


def step(model: CorefModel, example: Example) -> float:
    model.zero_grad(set_to_none=True)
    random = np.random.default_rng(0)
    if isinstance(model, BaselineModel):
        return baseline_step(model, example, None, model.encoder, random)
    assert isinstance(model, IncrementalModel)
    return incremental_step(model, example, IncrementalOptions(), model.encoder, random, lambda: 0.0)


@pytest.mark.parametrize("kind", ["baseline", "incremental"])
def test_it_is_added_to_the_loss_of_either_kind_of_model(kind: str) -> None:
    model, example = setting(kind)
    without = step(model, replace(example, tasks=None))
    assert all(p.grad is None for p in model.labels.parameters())
    loss = step(model, example)
    assert loss - without == pytest.approx(by_hand(model, example), rel=1e-4)
    assert loss - without > 1
    for name, parameter in model.named_parameters():
        if name.startswith(("labels.", "spans.vectors.", "encoder.model.encoder.layer.0.")):
            assert parameter.grad is not None, name
    grad = model.spans.scorer.scheme.weight.grad  # type: ignore[union-attr]
    assert grad is not None  # of both schemes
    assert bool((grad.abs().sum(1) > 0).all())  # type: ignore[union-attr]


def test_a_type_that_a_corpus_does_not_tell_apart_may_be_either() -> None:
    model, example = setting("baseline")
    segment = example.segments[0]
    pieces = model.encoder([segment])[0]
    spans = model.spans(pieces, segment, 0)
    mention = (segment.first_word, segment.first_word + 1)

    def loss(*types: str) -> float:
        labels: dict[Span, MentionLabels] = {mention: MentionLabels(types)}
        return label_loss(model, pieces, spans, labels, LabelTasks({"types": 1.0})).item()

    shares = [np.exp(-loss(name)) for name in TYPES]
    assert sum(shares) == pytest.approx(1)
    assert np.exp(-loss("place", "time")) == pytest.approx(shares[1] + shares[2])
    assert loss("abstract") == 0  # which the model does not know
    assert loss() == 0


def test_mentions_are_placed_on_their_pieces() -> None:
    document = Document.from_sentences("toy", [["the", "unbelievable", "lighthouse", "."]])
    (segment,) = toys.cut(document, 20)
    # [CLS] the un ##believ ##able light ##house . [SEP]
    mentions, places = place_mentions(segment, [(0, 1), (0, 3), (1, 2), (2, 3)], max_width=5)
    assert mentions == [(0, 1), (1, 2), (2, 3)]
    assert (places.starts.tolist(), places.ends.tolist()) == ([1, 2, 5], [1, 4, 6])
    assert len(place_mentions(segment, [], 5)[1]) == 0


def typed(document: Document) -> Document:
    """Anna, Berta and Carl are people, the others are ships; each has an odd status at its even places."""
    labels = {}
    for number, word in enumerate(document.words):
        if word in synthetic.NAMES:
            kind = "person" if synthetic.NAMES.index(word) < 3 else "vehicle"
            labels[number, number + 1] = MentionLabels((kind,), "PROP")
    return replace(document, labels=labels)


def recipe(folder: Path, **training: Any) -> dict[str, Any]:
    values = synthetic.recipe(folder, **training)
    path = folder / "labels.jsonl"
    write_documents([typed(synthetic.document(seed)) for seed in range(6)], path, "jsonlines", force=True)
    values["model"]["changes"] |= {"labels": {"types": ["person", "vehicle"]}, "schemes": ["toy", "names"]}
    for corpus in values["corpora"]:
        corpus["labels"] = {"path": str(path), "scheme": "names"}
    return values


@pytest.mark.parametrize("kind", ["baseline", "incremental"])
def test_types_are_learnt_from_labels_beside_the_corpus(tmp_path: Path, kind: str) -> None:
    values = recipe(tmp_path, epochs=8, label_weights={"types": 1.0})
    if kind == "baseline":
        values["model"]["changes"] |= synthetic.BASELINE
    run = synthetic.new_run(values)
    assert run.train()
    model = run.model.eval()
    right = total = 0
    for example in run.start.train[0].examples:
        for segment in example.segments:
            mentions = sorted(example.document.labels)
            inside = [m for m in mentions if segment.first_word <= m[0] < segment.first_word + len(segment.words)]
            _, places = place_mentions(segment, inside, model.spans.max_width)
            scores = model.labels("types", model.spans.vectors(model.encoder([segment])[0], places))
            wanted = [("person", "vehicle").index(example.document.labels[m].types[0]) for m in inside]
            right += int((scores.argmax(1) == torch.tensor(wanted)).sum())
            total += len(inside)
    assert total > 60
    assert right / total > 0.95


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"training": {"label_weights": {"kinds": 1}}}, "the model has no kinds; name them in its labels.kinds"),
        ({"labels": {"types": ["time", "event"]}}, "no training corpus has labels of its types"),
        ({"scheme": None, "training": {"label_weights": {"mentions": 1}}}, "whose mentions it has"),
        ({"scheme": "other"}, "the model has no scheme 'other'; it has toy, names"),
    ],
)
def test_recipes_that_cannot_be(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    values = recipe(tmp_path, **({"label_weights": {"types": 1.0}} | changes.get("training", {})))
    values["model"]["changes"]["labels"] |= changes.get("labels", {})
    for corpus in values["corpora"]:
        corpus["labels"] |= {"scheme": changes["scheme"]} if "scheme" in changes else {}
    with pytest.raises(StreamcorefError, match=message):
        synthetic.new_run(values)
