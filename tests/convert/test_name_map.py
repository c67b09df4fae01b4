"""The name maps: complete, reversible, and true to the published shapes."""

from __future__ import annotations

import math

import pytest
import torch

from streamcoref.convert.name_map import NameMap, Rule, encoder_map, read_map
from streamcoref.model.config import build_model, preset

SOURCES = ("baseline_tf", "incremental_torch", "scorer_vars")


def shapes_of(name: str) -> dict[str, tuple[int, ...]]:
    with torch.device("meta"):
        model = build_model(preset(name))
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()}


@pytest.fixture(scope="module")
def baseline() -> dict[str, tuple[int, ...]]:
    return shapes_of("baseline-spanbert-large")


@pytest.fixture(scope="module")
def incremental() -> dict[str, tuple[int, ...]]:
    return shapes_of("paper-spanbert-large")


@pytest.mark.parametrize("source", SOURCES)
def test_every_rule_works_in_both_directions(source: str) -> None:
    names = read_map(source)
    for rule in names.rules:
        theirs, ours = (name.format(n=11, rest="x.y") for name in (rule.theirs, rule.ours))
        assert names.to_ours(theirs) == (ours, rule)
        assert names.to_theirs(ours) == (theirs, rule)
        assert names.why_dropped(theirs) is None


def check_complete(names: NameMap, ours: dict[str, tuple[int, ...]]) -> None:
    for name in ours:
        assert names.to_theirs(name) is not None or names.may_be_new(name), name


def test_all_of_our_tensors_are_known(
    baseline: dict[str, tuple[int, ...]], incremental: dict[str, tuple[int, ...]]
) -> None:
    check_complete(read_map("baseline_tf"), baseline)
    check_complete(read_map("baseline_tf"), incremental)
    check_complete(read_map("incremental_torch"), incremental)
    heads = {name: shape for name, shape in incremental.items() if not name.startswith("encoder.")}
    check_complete(read_map("scorer_vars"), heads)


@pytest.mark.parametrize(
    ("theirs", "shape"),
    [
        ("genre_embeddings", (7, 20)),
        ("span_width_embeddings", (30, 20)),
        ("span_width_prior_embeddings", (30, 20)),
        ("mention_word_attn/output_weights", (1024, 1)),
        ("mention_word_attn/output_bias", (1,)),
        ("mention_scores/hidden_weights_0", (3092, 3000)),
        ("mention_scores/hidden_bias_0", (3000,)),
        ("mention_scores/output_weights", (3000, 1)),
        ("mention_scores/output_bias", (1,)),
        ("width_scores/hidden_weights_0", (20, 3000)),
        ("coref_layer/same_speaker_emb", (2, 20)),
        ("coref_layer/antecedent_distance_emb", (10, 20)),
        ("coref_layer/segment_distance/segment_distance_embeddings", (3, 20)),
        ("coref_layer/slow_antecedent_scores/hidden_weights_0", (9356, 3000)),
        ("src_projection/output_weights", (3092, 3092)),
        ("antecedent_distance_emb", (10, 20)),
        ("output_weights", (20, 1)),
        ("output_bias", (1,)),
        ("coref_layer/f/output_weights", (6184, 3092)),
        ("bert/embeddings/word_embeddings", (28996, 1024)),
        ("bert/encoder/layer_23/intermediate/dense/kernel", (1024, 4096)),
    ],
)
def test_published_shapes_of_the_baseline(
    baseline: dict[str, tuple[int, ...]], theirs: str, shape: tuple[int, ...]
) -> None:
    known = read_map("baseline_tf").to_ours(theirs)
    assert known is not None
    ours, rule = known
    assert rule.fits(shape, baseline[ours], "baseline")
    assert rule.their_shape(baseline[ours]) == shape


@pytest.mark.parametrize(
    ("theirs", "shape"),
    [
        ("threshold", (1,)),
        ("span_scorer.attnProjection.output_layer.weight", (1, 1024)),
        ("span_scorer.spanFFNN.layers.0.weight", (3000, 3092)),
        ("span_scorer.spanFFNN.projection.weight", (3000,)),
        ("span_scorer.spanFFNN.projection.bias", ()),
        ("pair_scorer.slow_antecedent_scores.layers.0.weight", (3000, 9356)),
        ("pair_scorer.slow_antecedent_scores.projection.weight", (3000,)),
        ("mlp.layers.0.weight", (300, 6184)),
        ("mlp.projection.weight", (1, 300)),
        ("encoder.model.encoder.layer.23.output.LayerNorm.weight", (1024,)),
    ],
)
def test_published_shapes_of_the_incremental_model(
    incremental: dict[str, tuple[int, ...]], theirs: str, shape: tuple[int, ...]
) -> None:
    known = read_map("incremental_torch").to_ours(theirs)
    assert known is not None
    assert known[1].fits(shape, incremental[known[0]], "incremental")


def test_the_published_number_of_parameters(incremental: dict[str, tuple[int, ...]]) -> None:
    assert sum(math.prod(s) for name, s in incremental.items() if not name.startswith("encoder.")) == 39_280_470


def test_what_fits() -> None:
    plain, turned, squeezed = Rule("a", "b"), Rule("a", "b", transposed=True), Rule("a", "b", squeezed=True)
    assert plain.fits((2, 3), (2, 3), "baseline")
    assert not plain.fits((3, 2), (2, 3), "baseline")
    assert turned.fits((3, 2), (2, 3), "baseline")
    assert not turned.fits((2, 3), (2, 3), "baseline")
    assert squeezed.fits((3,), (1, 3), "baseline")
    assert squeezed.fits((), (1,), "baseline")
    assert not squeezed.fits((4,), (1, 3), "baseline")
    assert not plain.fits((3,), (1, 3), "baseline")
    rows = Rule("a", "b", more_rows=True)
    assert rows.fits((11, 20), (3, 20), "incremental")
    assert not rows.fits((2, 20), (3, 20), "incremental")
    assert not rows.fits((11, 19), (3, 20), "incremental")
    assert not rows.fits((11, 20), (3, 20), "baseline")


def test_an_encoder_is_found_behind_its_prefix() -> None:
    ours = ["embeddings.word_embeddings.weight", "embeddings.LayerNorm.weight", "embeddings.LayerNorm.bias"]
    theirs = {
        "decoder.bert.embeddings.word_embeddings.weight",
        "decoder.bert.embeddings.LayerNorm.gamma",
        "decoder.bert.embeddings.LayerNorm.beta",
        "decoder.cls.predictions.bias",
        "decoder.bert.pooler.dense.weight",
        "decoder.bert.stray",
    }
    names = encoder_map(theirs, ours)
    for name in ours:
        there = names.to_theirs(f"encoder.model.{name}")
        assert there is not None
        assert there[0] in theirs
        assert names.to_ours(there[0]) == (f"encoder.model.{name}", there[1])
    assert names.why_dropped("decoder.cls.predictions.bias") == "pretraining heads"
    assert names.why_dropped("decoder.bert.pooler.dense.weight") == "sentence vectors, unused"
    assert names.to_ours("decoder.bert.stray") is None
    assert names.why_dropped("decoder.bert.stray") is None
