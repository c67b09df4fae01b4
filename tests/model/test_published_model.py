"""What the paper's models have of their own while they learn: initial weights, dropout, genres by keys."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from streamcoref.document import Document
from streamcoref.model.config import ModelConfig, build_model, preset
from streamcoref.model.feed_forward import FeedForward
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.pair_score import Pairs
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from tests.model import toys
from tests.training import synthetic

PAPER = ("paper-spanbert-large", "paper-spanbert-base")
BASELINE = ("baseline-spanbert-large", "baseline-spanbert-base")


def fresh(**changes: Any) -> Any:
    return toys.model(toys.config(**changes), 0, spread=1.0)


def test_their_presets_say_so() -> None:
    for name in PAPER:
        config = preset(name)
        assert (config.embedding_dropout, config.genre_by_key, config.update.initial) == (False, True, "torch")
    for name in BASELINE:
        config = preset(name)
        assert (config.embedding_dropout, config.genre_by_key, config.initial) == (True, True, "tensorflow")
        assert config.pair_score.target_dropout


def test_alpha_begins_with_torchs_default_or_as_the_others() -> None:
    inputs = 2 * fresh().spans.vectors.size
    torch.manual_seed(0)
    default = float(torch.nn.Linear(inputs, 64).weight.detach().std())  # uniform within 1 / sqrt(inputs)
    assert default == pytest.approx((3 * inputs) ** -0.5, rel=0.05)

    def deviation(initial: str) -> float:
        weights = {"name": "alpha", "hidden": 64, "initial": initial}
        torch.manual_seed(0)
        model = build_model(toys.config(update=weights))
        assert isinstance(model, IncrementalModel)
        assert bool(model.update.net.hidden.bias.any()) == (initial == "torch")
        return float(model.update.net.hidden.weight.detach().std())

    assert deviation("torch") == pytest.approx(default, rel=0.05)
    assert deviation("model") == pytest.approx(0.0176, rel=0.05)  # a normal of 0.02 cut at two deviations


def test_embeddings_of_the_baseline_begin_as_tensorflow_has_them() -> None:
    torch.manual_seed(0)
    model = build_model(toys.config(initial="tensorflow"))
    width = model.spans.scorer.width_prior.weight.detach()
    limit = (6 / sum(width.shape)) ** 0.5
    assert 0.8 * limit < float(width.abs().max()) <= limit
    assert float(model.pair_score.net.hidden.weight.detach().abs().max()) <= 0.04


@pytest.mark.parametrize("embedding_dropout", [True, False])
def test_dropout_of_embeddings_is_an_option(embedding_dropout: bool) -> None:
    """With that of the hidden layers off, two passes differ by that of width and feature embeddings alone."""
    model = fresh(dropout=0.5, embedding_dropout=embedding_dropout).train()
    for module in model.modules():
        if isinstance(module, FeedForward):
            module.eval()
    model.encoder.eval()
    (segment,) = toys.cut(toys.document(0, 20), 64)
    pieces = model.encoder([segment])[0]

    def passes() -> list[torch.Tensor]:
        spans = model.spans(pieces, segment)
        return [spans.candidate_scores, spans.vectors, *model.pair_score.fold_features({}).score.tables]

    same = [torch.equal(a, b) for a, b in zip(passes(), passes(), strict=True) if a.shape == b.shape]
    assert same == [not embedding_dropout] * 3


@pytest.mark.parametrize("target_dropout", [True, False])
def test_dropout_on_the_target_side_of_the_coarse_score(target_dropout: bool) -> None:
    pair_score = synthetic.BASELINE["pair_score"] | {"target_dropout": target_dropout}
    scorer = fresh(kind="baseline", pair_score=pair_score, dropout=0.5).pair_score.train()
    assert isinstance(scorer, CoarseToFineScorer)
    vectors = torch.eye(scorer.bilinear.in_features)
    tables = scorer.fold_features({})
    queries = torch.ones_like(vectors)
    readings = torch.cat([queries, queries], dim=-1)
    nothing = torch.zeros(len(vectors), len(vectors), dtype=torch.long)
    pairs = Pairs(vectors[:, None], readings[:, None], vectors[None], vectors[None], nothing)
    score = (scorer.score(pairs, tables) - tables.score[0]).round(decimals=4)  # the sum of each entity's numbers
    assert (score == score[0]).all()  # an entity has one mask for all spans
    assert set(score[0].tolist()) == ({0.0, 2.0} if target_dropout else {1.0})
    scorer.eval()
    assert torch.allclose(scorer.score(pairs, tables) - tables.score[0], torch.ones(()))


def config_with_genres(by_key: bool) -> ModelConfig:
    return toys.config(genres=list(preset("paper-spanbert-large").genres), genre_by_key=by_key)


@pytest.mark.parametrize(
    ("key", "theirs", "ours"),
    [
        ("nw/wsj/00/wsj_0020_0", "nw", "nw"),
        ("nw_0020", "nw", None),
        ("tc", "tc", None),
        ("ptolemy/1", "pt", "ptolemy"),
        ("a", "a", None),
        ("news/1", "ne", "news"),
    ],
)
def test_genres_by_key_are_its_first_two_letters(key: str, theirs: str, ours: str | None) -> None:
    genre = key.partition("/")[0] if "/" in key else None  # as the formats read it
    document = Document.from_sentences(key, [["a"]], genre=genre)
    assert config_with_genres(by_key=True).genre_of(document) == theirs == key[:2]
    assert config_with_genres(by_key=False).genre_of(document) == ours


def test_a_genre_that_is_said_is_taken() -> None:
    document = Document.from_sentences("nw/1", [["a"]], genre="bc")
    assert config_with_genres(by_key=True).genre_of(document) == "bc"
