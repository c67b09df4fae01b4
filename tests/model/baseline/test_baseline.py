"""The fast whole-document model against the literal one: same spans, same antecedents, same scores."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch

from streamcoref.document import Document
from streamcoref.model.baseline import Antecedents, BaselineModel, DocumentSpans
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.config import ModelConfig, build_model
from streamcoref.model.segments import Segment
from tests.model import toys
from tests.model.baseline.literal_baseline import LiteralBaseline, literal_clusters
from tests.model.toy_answers import answer

ALL_FEATURES = ["speaker", "genre", "distance", "segment", "scheme", "size", "exact_match", "last_word_match"]
PAPER = {
    "name": "coarse_to_fine",
    "hidden": 24,
    "shortlist": 5,
    "features": ["speaker", "genre", "distance", "segment"],
    "feature_size": 4,
    "prior_features": ["distance"],
}
LIGHT = {"name": "light", "size": 16, "two_outputs": True}

CASES: dict[str, dict[str, Any]] = {
    "paper": {},
    "depth 1": {"higher_order": {"depth": 1}},
    "depth 3": {"higher_order": {"depth": 3}},
    "every piece": {"spans": {"word_boundaries": False}},
    "all antecedents": {"pair_score": {**PAPER, "shortlist": 500}},
    "one antecedent": {"pair_score": {**PAPER, "shortlist": 1}},
    "few spans": {"higher_order": {"depth": 2, "max_spans": 12}},
    "all features": {
        "pair_score": {**PAPER, "features": ALL_FEATURES, "prior_features": ["distance", "speaker", "exact_match"]}
    },
    "agreement": {"pair_score": {**PAPER, "features": ["agreement", "size"], "prior_features": ["agreement"]}},
    "light": {"spans": {"scorer": LIGHT, "projected_size": 20, "ratio_of": "words", "min_score": -0.5}},
}


def config_of(case: str) -> ModelConfig:
    changes = {"pair_score": PAPER, "genres": ["one", "two"], "segments": {"max_pieces": 18}, **CASES[case]}
    return toys.config(kind="baseline", **changes)


def make(config: ModelConfig, seed: int) -> BaselineModel:
    model = toys.model(config, seed, spread=4.0)
    assert isinstance(model, BaselineModel)
    with torch.no_grad():  # so that some spans start a cluster and some join one
        model.pair_score.prior.bias.sub_(1.5)
    return model


def document_of(seed: int, speakers: bool, words: int = 60, vocabulary: Sequence[str] = toys.WORDS) -> Document:
    document = toys.document(seed, words, 30, vocabulary)
    if not speakers:
        return document
    choose = random.Random(seed)
    names = [choose.choice(["Anna", "Carl", ""]) for _ in document.sentences]
    return replace(document, speakers=tuple(names[i] for i in document.sentence_of_word), genre="two")


def segments_of(document: Document, config: ModelConfig) -> list[Segment]:
    return toys.cut(document, config.segments.max_pieces)


def run(
    model: BaselineModel, segments: Sequence[Segment], genre: str | None = None
) -> tuple[DocumentSpans, Antecedents]:
    return model.resolve([model.encoder([segment])[0] for segment in segments], segments, model.reading(genre))


def answer_of(model: BaselineModel, config: ModelConfig, document: Document, singletons: bool = False) -> Document:
    return answer(Checkpoint(model, config, toys.tokenizer()), document, singletons)


@pytest.mark.parametrize("speakers", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_fast_equals_literal(case: str, speakers: bool) -> None:
    seed = list(CASES).index(case) + 1
    config = config_of(case)
    model = make(config, seed)
    document = document_of(seed, speakers, vocabulary=toys.TALK if case == "agreement" else toys.WORDS)
    segments = segments_of(document, config)
    assert len(segments) > 3
    with torch.inference_mode():
        spans, antecedents = run(model, segments, document.genre)
    expected, expected_scores = LiteralBaseline(model, config, genre=int(speakers))(segments, document.speakers)

    assert len(expected) >= 10
    assert spans.words == [span.words for span in expected]
    assert spans.link_scores.tolist() == pytest.approx([span.link for span in expected], abs=1e-4)
    assert spans.prune_scores.tolist() == pytest.approx([span.prune for span in expected], abs=1e-4)
    for rows, scores, wanted in zip(
        antecedents.rows.tolist(), antecedents.scores.tolist(), expected_scores, strict=True
    ):
        found = {row: score for row, score in zip(rows, scores, strict=True) if score != -torch.inf}
        assert found.keys() == wanted.keys()
        assert found == {row: pytest.approx(score, abs=1e-4) for row, score in wanted.items()}

    answered = answer_of(model, config, document)
    clusters = literal_clusters(expected, expected_scores)
    assert answered.predicted_clusters == replace(document, clusters=clusters).clusters


def test_the_cases_exercise_the_model() -> None:
    """Over all cases spans join and start clusters, and each choice of the model changes the scores."""
    joined = kept = 0
    for seed, case in enumerate(CASES, 1):
        config = config_of(case)
        model, document = make(config, seed), document_of(seed, True)
        answered = answer_of(model, config, document)
        joined += sum(len(cluster) for cluster in answered.predicted_clusters or ())
        with torch.inference_mode():
            kept += len(run(model, segments_of(document, config))[0].words)
    assert 100 < joined < kept - 40


def scores_of(model: BaselineModel, config: ModelConfig, document: Document, genre: str | None = None) -> torch.Tensor:
    with torch.inference_mode():
        scores = run(model, segments_of(document, config), genre)[1].scores
    return scores.nan_to_num(neginf=0)


def test_speaker_genre_and_depth_matter() -> None:
    config = config_of("all antecedents")
    model = make(config, 0)
    document = document_of(0, True)
    scores = scores_of(model, config, document)
    silent = scores_of(model, config, replace(document, speakers=()))
    assert not torch.allclose(scores, silent)
    # the names themselves do not matter, only who is the same
    other = {"Anna": "Emma", "Carl": "Anna", "": "Carl"}
    renamed = replace(document, speakers=tuple(other[name] for name in document.speakers))
    torch.testing.assert_close(scores_of(model, config, renamed), scores, atol=0, rtol=0)
    assert not torch.allclose(scores, scores_of(model, config, document, "two"))
    torch.testing.assert_close(scores_of(model, config, document, "unheard of"), scores, atol=0, rtol=0)
    model.depth = 1
    assert not torch.allclose(scores, scores_of(model, config, document))


def test_no_two_spans_cross_and_no_more_than_asked() -> None:
    config = toys.config(kind="baseline", pair_score=PAPER, spans={"ratio": 5.0}, higher_order={"max_spans": 37})
    document = document_of(1, False, 120)
    with torch.inference_mode():
        spans, _ = run(make(config, 1), segments_of(document, config))
    assert len(spans.words) == 37
    assert spans.words == sorted(spans.words)
    assert not any(a < c < b < d for a, b in spans.words for c, d in spans.words)


def test_encoder_batches_change_nothing() -> None:
    config = config_of("paper")
    model = make(config, 2)
    segments = segments_of(document_of(2, False), config)
    service = model.service(threads=1, batch=4)
    with torch.inference_mode():
        one = run(model, segments)[1]
        many = model.resolve([pieces for _, pieces in service.in_order(segments)], segments, model.reading())[1]
    assert torch.equal(one.rows[one.scores > -torch.inf], many.rows[many.scores > -torch.inf])
    torch.testing.assert_close(one.scores, many.scores, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("words", [0, 1, 2])
def test_very_short_documents(words: int) -> None:
    config = config_of("paper")
    document = document_of(0, False, words)
    answered = answer_of(make(config, 0), config, document)
    assert answered.predicted_clusters is not None
    assert sum(len(cluster) for cluster in answered.predicted_clusters) <= 3


def test_probabilities_and_singletons() -> None:
    config = config_of("paper")
    model, document = make(config, 8), document_of(3, True)
    without = answer_of(model, config, document)
    with_them = answer_of(model, config, document, singletons=True)
    assert without.predicted_clusters
    assert with_them.predicted_clusters
    assert all(len(cluster) > 1 for cluster in without.predicted_clusters)
    assert set(without.predicted_clusters) < set(with_them.predicted_clusters)
    assert set(with_them.scores) == {span for cluster in with_them.predicted_clusters for span in cluster}
    assert all(0 < p <= 1 for p in with_them.scores.values())


def test_every_parameter_learns() -> None:
    """Gradients reach all of the model but the speaker table's unused rows and the like."""
    config = config_of("paper")
    model = build_model(config).train()
    assert isinstance(model, BaselineModel)
    document = document_of(0, True)
    spans, antecedents = run(model, segments_of(document, config), document.genre)
    finite = antecedents.scores[antecedents.scores > -torch.inf]
    (finite.sum() + sum(part.candidate_scores.sum() for part in spans.parts)).backward()
    assert [name for name, p in model.named_parameters() if p.grad is None] == []
    assert all(torch.isfinite(p.grad).all() for p in model.parameters() if p.grad is not None)
