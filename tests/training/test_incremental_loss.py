"""A step of the incremental model against the literal computation: same loss, same gradients, same decisions."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

from streamcoref.document import Document, Span
from streamcoref.model.arrays import FloatArray
from streamcoref.model.evict import NoEviction
from streamcoref.model.incremental import IncrementalModel, deciding, greedy
from streamcoref.model.memory import EntityMemory
from streamcoref.model.rows import entity_rows
from streamcoref.model.span_readings import read_spans
from streamcoref.model.spans import SegmentSpans
from streamcoref.training.replay import make_versions, score_versions, snapshot
from streamcoref.training.steps import Example, IncrementalOptions, incremental_step
from tests.model import toys
from tests.training.literal_loss import LiteralLoss, LiteralRun

# The literal version compares scores that carry gradients.
pytestmark = pytest.mark.filterwarnings("ignore:Converting a tensor with requires_grad")

FEATURES = ["distance", "size", "exact_match", "last_word_match", "agreement"]
SCORERS: dict[str, dict[str, Any]] = {
    "feed_forward": {"name": "feed_forward", "hidden": 24, "features": FEATURES, "feature_size": 4},
    "coarse_to_fine": {
        "name": "coarse_to_fine",
        "hidden": 24,
        "shortlist": 4,
        "features": FEATURES,
        "feature_size": 4,
        "prior_features": ["distance"],
    },
}
EVICT = {"name": "two_distances", "singleton": 12, "cluster": 24}
SEGMENTS = {"max_pieces": 16}
SEED = 15  # of a model that joins, starts and evicts entities in every case below


def with_clusters(document: Document) -> Document:
    """Five gold clusters of spans scattered over the text, so that half of what a random model proposes has a label."""
    clusters: dict[int, list[Span]] = {}
    for start in range(len(document.words)):
        for end in range(start + 1, min(start + 8, len(document.words)) + 1):
            clusters.setdefault((7 * start + end) % 10, []).append((start, end))
    return Document.from_sentences(document.key, document.sentences, [clusters[number] for number in range(5)])


def setting(**changes: Any) -> tuple[IncrementalModel, Any, Example]:
    config = toys.config(segments=SEGMENTS, evict=EVICT, **changes)
    model = toys.model(config, SEED)
    assert isinstance(model, IncrementalModel)
    document = with_clusters(toys.document(SEED, 40, longest_sentence=8))
    segments = toys.cut(document, config.segments.max_pieces)
    assert len(segments) > 3
    return model, config, Example(document, segments, None, 0.0)


def gradients(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    found = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    model.zero_grad(set_to_none=True)
    return found


def literal(model: IncrementalModel, config: Any, example: Example, options: IncrementalOptions) -> LiteralRun:
    return LiteralLoss(model, config).run(
        example.segments,
        example.document.clusters,
        options.objective,
        options.teacher_forcing == 1.0,
        not isinstance(options.evict, NoEviction),
        lambda number: options.backward_gb is None or (options.backward_gb == 2.0 and number % 2 == 1),
    )


def fast(model: IncrementalModel, example: Example, options: IncrementalOptions) -> float:
    # With a mark of 1 GB memory never passes it, with one of 2 GB after every second segment.
    calls = iter(range(len(example.segments)))

    def in_use() -> float:
        number = next(calls)
        return 3.0 if options.backward_gb == 2.0 and number % 2 == 1 else 0.5

    return incremental_step(model, example, options, model.encoder, np.random.default_rng(0), in_use)


def assert_same_gradients(found: dict[str, torch.Tensor], expected: dict[str, torch.Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name, gradient in expected.items():
        scale = float(gradient.abs().max())
        torch.testing.assert_close(
            found[name], gradient, rtol=1e-3, atol=1e-4 * scale + 1e-5, msg=lambda m, n=name: f"{n}: {m}"
        )


BACKWARD = {"each segment": None, "at the end": 1.0, "every second": 2.0}
ALL_CASES = list(product(SCORERS, ["alpha", "mean"], ["most_recent", "all"], [0.0, 1.0], [False, True], BACKWARD))
# Every fifth of the 96 cases is in the quick tier: 5 divides none of the factors, so every pair of choices is there.
CASES = [pytest.param(*case, marks=[] if i % 5 == 0 else pytest.mark.slow) for i, case in enumerate(ALL_CASES)]


@pytest.mark.parametrize(("scorer", "update", "objective", "teacher_forcing", "evict", "backward"), CASES)
def test_loss_and_gradients_equal_the_literal_ones(
    scorer: str, update: str, objective: Any, teacher_forcing: float, evict: bool, backward: str
) -> None:
    model, config, example = setting(pair_score=SCORERS[scorer], update={"name": update})
    policy = config.evict.build() if evict else NoEviction()
    options = IncrementalOptions(objective, teacher_forcing, 1.0, policy, BACKWARD[backward])
    expected = literal(model, config, example, options)
    expected.losses.sum().backward()
    wanted = gradients(model)
    loss = fast(model, example, options)
    assert 3 < sum(expected.labelled) < len(expected.decisions) - 5
    assert bool(expected.evicted) == evict
    assert loss == pytest.approx(expected.losses.sum().item(), rel=1e-4)
    assert_same_gradients(gradients(model), wanted)


@pytest.mark.parametrize("scorer", SCORERS)
@pytest.mark.parametrize("update", ["alpha", "mean", "first", "last"])
def test_replay_gives_the_scores_that_decisions_were_made_by(scorer: str, update: str) -> None:
    model, _, example = setting(pair_score=SCORERS[scorer], update={"name": update})
    state = model.new_state()
    memory = state.memory
    compared = 0
    with torch.no_grad():
        reading = model.reading()
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
            readings = read_spans(spans, model.pair_score, model.update)
            versions = make_versions(model, readings, before, result.links)
            nothing = np.zeros_like(versions.visible)
            replayed = score_versions(
                model, readings, spans.link_scores, versions, reading.index, reading.tables, nothing
            )
            for row, visible, expected in zip(replayed, versions.visible, seen, strict=True):
                found = dict(zip(versions.entities[visible].tolist(), row[visible].tolist(), strict=True))
                assert found == pytest.approx(expected, rel=1e-4, abs=1e-4)
                assert not torch.isfinite(row[~visible]).any()
                compared += len(expected)
            rows = versions.rows[[versions.last[int(entity)] for entity in memory.ids]]
            torch.testing.assert_close(rows, memory.rows[: len(memory)])
    assert compared > 50


def test_right_entities_are_on_the_shortlist_in_any_case() -> None:
    scorer = {**SCORERS["coarse_to_fine"], "shortlist": 1}
    model, config, example = setting(pair_score=scorer)
    options = IncrementalOptions("all", teacher_forcing=1.0)
    loss = fast(model, example, options)
    assert loss == pytest.approx(literal(model, config, example, options).losses.sum().item(), rel=1e-4)
    assert np.isfinite(loss)


def test_decisions_are_made_without_dropout() -> None:
    """So that what the model learns from is what it will do; the scores that it learns by do have dropout."""
    model, _, example = setting(dropout=0.5)
    model.train()
    torch.manual_seed(0)
    first = fast(model, example, IncrementalOptions())
    torch.manual_seed(1)
    assert fast(model, example, IncrementalOptions()) != pytest.approx(first)
    assert model.training
    segment = example.segments[0]
    pieces = model.encoder.eval()([segment])[0].detach()

    def decisions() -> list[float]:
        model.train()
        model.spans.eval()  # only what decides is asked
        result = model.step(model.new_state(), model.spans(pieces, segment, reading.scheme), reading)
        assert model.pair_score.training
        return [link.score for link in result.links]

    reading = model.eval().reading()
    assert decisions() == decisions()


def test_a_negative_rate_of_zero_counts_only_spans_with_an_antecedent() -> None:
    model, config, example = setting()
    alone = Example(replace(example.document, clusters=()), example.segments, None, 0.0)
    options = IncrementalOptions(teacher_forcing=1.0, negative_rate=0.0)
    assert fast(model, alone, options) == 0.0
    every = fast(model, example, replace(options, negative_rate=1.0))
    some = fast(model, example, replace(options, negative_rate=0.5))
    none = fast(model, example, options)
    assert 0 < none < some < every
    spans = literal(model, config, example, options)
    labelled = torch.tensor(spans.labelled)
    assert none == pytest.approx(spans.losses[labelled].sum().item(), rel=1e-4)
    assert every == pytest.approx(spans.losses.sum().item(), rel=1e-4)


@pytest.mark.parametrize("weight", [0.0, 0.5])
def test_the_mention_loss_is_added_by_its_weight(weight: float) -> None:
    model, _, example = setting(spans={"scorer": {"name": "light", "size": 16, "two_outputs": True}})
    options = IncrementalOptions()
    links = fast(model, example, options)
    gold = {span for cluster in example.document.clusters for span in cluster}
    mentions = 0.0
    for segment in example.segments:
        spans = model.spans(model.encoder([segment])[0], segment, 0)
        for mention, score in zip(spans.candidate_mentions, spans.candidate_scores, strict=True):
            share = torch.sigmoid(score.detach().double())
            mentions -= math.log(share if mention in gold else 1 - share)
    gradients(model)
    assert fast(model, replace(example, mention_weight=weight), options) == pytest.approx(links + weight * mentions)
    # Its first output prunes, and is learnt by the mention loss alone.
    learnt = gradients(model)["spans.scorer.product"][0].abs().sum() > 0
    assert bool(learnt) == (weight > 0)


@pytest.mark.parametrize("ratio", [0.07, 0.01])
def test_segments_without_spans_are_nothing_to_learn_from(ratio: float) -> None:
    model, _, example = setting(spans={"ratio": ratio})  # one span in the longer segments at most, or none at all
    loss = fast(model, example, IncrementalOptions())
    assert np.isfinite(loss)
    assert fast(model, replace(example, mention_weight=1.0), IncrementalOptions()) > loss


def test_decisions_are_made_without_dropout_and_every_part_is_as_before_afterwards() -> None:
    model, _, _ = setting()
    model.train()
    model.spans.eval()  # a part that does not learn stays so
    before = {name: part.training for name, part in model.named_modules()}
    with deciding(model):
        assert not any(part.training for part in model.modules())
        assert not torch.is_grad_enabled()
    assert {name: part.training for name, part in model.named_modules()} == before
