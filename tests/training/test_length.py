"""Training where texts are long: stretches of a document, entities that leave early and come back, or become one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch

from streamcoref.document import Document
from streamcoref.model.arrays import FloatArray
from streamcoref.model.evict import TwoDistances
from streamcoref.model.incremental import IncrementalModel, greedy
from streamcoref.model.memory import EntityMemory
from streamcoref.model.rows import entity_rows
from streamcoref.model.span_readings import read_spans
from streamcoref.model.spans import SegmentSpans
from streamcoref.training.labels import Labeller
from streamcoref.training.replay import make_versions, score_versions, snapshot, with_revived
from streamcoref.training.steps import Example, IncrementalOptions, crop_segments, incremental_step
from tests.model import toys

NAMES = "Anna Berta Carl Doyle Emma Frank said saw met left and . ,".split()
SHORT = TwoDistances(10, 20, "middle")  # pieces, of segments of 16
SCORER = {
    "name": "coarse_to_fine",
    "hidden": 24,
    "shortlist": 4,
    "features": ["distance", "size", "identity"],
    "feature_size": 4,
    "prior_features": ["distance", "identity"],
}


def setting(words: int = 160) -> tuple[IncrementalModel, Example]:
    """A text of names, each of which is one person, read by a random model."""
    config = toys.config(segments={"max_pieces": 16}, pair_score=SCORER, update={"name": "mean"})
    model = toys.model(config, seed=3)
    assert isinstance(model, IncrementalModel)
    plain = toys.document(3, words, longest_sentence=8, vocabulary=NAMES)
    said = {name: [(n, n + 1) for n, word in enumerate(plain.words) if word == name] for name in NAMES[:6]}
    document = Document.from_sentences(plain.key, plain.sentences, list(said.values()))
    trackers = toys.Segmenter(toys.tokenizer(), config.segments, model.trackers)
    return model, Example(document, trackers.cut(document), None, 0.0)


def loss_of(model: IncrementalModel, example: Example, options: IncrementalOptions, seed: int = 0) -> float:
    return incremental_step(model, example, options, model.encoder, np.random.default_rng(seed), lambda: 0.0)


def test_a_crop_is_learnt_from_as_a_text_of_its_own() -> None:
    model, example = setting()
    stretch = crop_segments(example.segments, 3, np.random.default_rng(5))
    assert len(stretch) == 3 < len(example.segments)
    assert stretch[0].number > 0
    options = IncrementalOptions("all")
    alone = loss_of(model, replace(example, segments=stretch), options)
    assert loss_of(model, example, replace(options, crop=3), seed=5) == pytest.approx(alone)
    assert loss_of(model, example, options) > alone
    assert loss_of(model, example, replace(options, crop=1000)) == loss_of(model, example, options)


def test_replay_knows_who_came_back() -> None:
    """The scores that decisions were made by, also against entities from the register, which left in training."""
    model, example = setting()
    state = model.new_state()
    memory = state.memory
    back = 0
    with torch.no_grad():
        reading = replace(model.reading(evict=SHORT), revive=8)
        for segment in example.segments:
            vectors = model.layout.vectors(memory.rows[: len(memory)])
            before = snapshot(memory, entity_rows(vectors, model.pair_score, model.update))
            seen: list[dict[int, float]] = []  # for each span, the score of each entity then alive

            def note(
                _spans: SegmentSpans, _m: int, scores: FloatArray, memory: EntityMemory = memory, seen: Any = seen
            ) -> int:
                seen.append(dict(zip(memory.ids.tolist(), scores.tolist(), strict=True)))
                return greedy(scores, 0.0)

            result = model.step(state, model.spans(model.encoder([segment])[0], segment, reading.scheme), reading, note)
            (spans,) = result.spans
            before = with_revived(before, result.came_back, model)
            back += len(result.came_back)
            readings = read_spans(spans, model.pair_score, model.update, result.notes)
            versions = make_versions(model, readings, before, result.links)
            nothing = np.zeros_like(versions.visible)
            scores = score_versions(
                model, readings, spans.link_scores, versions, reading.index, reading.tables, nothing
            )
            for row, visible, expected in zip(scores, versions.visible, seen, strict=True):
                found = dict(zip(versions.entities[visible].tolist(), row[visible].tolist(), strict=True))
                assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)
    assert back > 3


def test_entities_that_left_may_be_right_again() -> None:
    """With a register the loss counts joining them; without one nothing is right for who comes back."""
    model, example = setting()
    gone = IncrementalOptions("all", teacher_forcing=1.0, evict=SHORT)
    stays, leaves, returns = (
        loss_of(model, example, options)
        for options in (replace(gone, evict=TwoDistances(10**6, 10**6, "middle")), gone, replace(gone, revive=8))
    )
    assert len({round(loss, 3) for loss in (stays, leaves, returns)}) == 3
    model.zero_grad(set_to_none=True)


def test_merged_entities_go_on_as_one() -> None:
    model, example = setting()
    options = IncrementalOptions("all", evict=SHORT, revive=8, backward_gb=1.0)
    apart, merged = loss_of(model, example, options), loss_of(model, example, replace(options, merge=1))
    assert np.isfinite([apart, merged]).all()
    assert apart != pytest.approx(merged)


def test_the_labels_follow_a_merge() -> None:
    labeller = Labeller((((0, 1), (4, 5), (8, 9)),), "all")
    labeller.place((0, 1), 3)
    labeller.place((4, 5), 7)
    labeller.renamed(3, 7)
    assert labeller.targets((8, 9), {3}) == {3}
    assert labeller.targets((8, 9), {7}) == set()
