"""Configurations: presets, parts by name, mistakes named with their place."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.model.base import CorefModel
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.config import (
    ModelConfig,
    build_encoder,
    build_model,
    parse_config,
    preset,
    preset_names,
    read_config,
)
from streamcoref.model.evict import EvictionOptions, EvictionPolicy
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.memory import EntityMemory
from streamcoref.model.pair_score import FeatureTables, Pairs, PairScorer, PairScorerOptions
from streamcoref.model.parts import Surroundings
from streamcoref.model.update import Mean, UpdateOptions, UpdateRule
from tests.model import toys

PRESETS = [
    "baseline-spanbert-base",
    "baseline-spanbert-large",
    "paper-spanbert-base",
    "paper-spanbert-large",
    "small",
    "tiny",
]


def build_without_memory(config: ModelConfig) -> CorefModel:
    with torch.device("meta"):
        return build_model(config)


def outside_the_encoder(model: CorefModel) -> int:
    return sum(p.numel() for name, p in model.named_parameters() if not name.startswith("encoder."))


def test_the_presets_there_are() -> None:
    assert preset_names() == PRESETS
    with pytest.raises(StreamcorefError, match="unknown preset 'medium'; known: baseline-spanbert-base, "):
        preset("medium")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_builds(name: str) -> None:
    config = preset(name)
    model = build_without_memory(config)
    assert isinstance(model, BaselineModel if name.startswith("baseline") else IncrementalModel)
    assert config.segments.max_pieces <= (model.encoder.max_pieces or 0)
    # the values survive a round trip through JSON, as a checkpoint stores them
    assert parse_config(json.loads(json.dumps(config.model_dump(mode="json"))), name) == config


def test_parameters_of_the_paper() -> None:
    assert outside_the_encoder(build_without_memory(preset("paper-spanbert-large"))) == 39_280_470


def test_parameters_of_the_baseline() -> None:
    """Three nets, two width tables, four feature tables, attention, bilinear, prior, gate."""
    span, hidden = 3092, 3000
    pair = 3 * span + 80
    nets = (span + 1) * hidden + hidden + 1 + (20 + 1) * hidden + hidden + 1 + (pair + 1) * hidden + hidden + 1
    tables = 2 * 30 * 20 + (7 + 2 + 10 + 3) * 20
    prior = 10 * 20 + 20 + 1
    expected = nets + tables + 1024 + 1 + span * span + span + prior + 2 * span * span + span
    assert outside_the_encoder(build_without_memory(preset("baseline-spanbert-large"))) == expected


def test_the_papers_encoder_is_frozen_and_the_baselines_is_not() -> None:
    assert build_without_memory(preset("paper-spanbert-large")).encoder.frozen
    assert not build_without_memory(preset("baseline-spanbert-large")).encoder.frozen


def test_the_initial_weights_are_those_of_the_baseline() -> None:
    """A normal of 0.02 cut off at twice that, biases zero; the encoder keeps its own."""
    torch.manual_seed(0)
    model = build_model(preset("tiny"))
    for name, parameter in model.named_parameters():
        if name.startswith("encoder."):
            continue
        if name.endswith("bias") or name == "new_entity_score":
            assert parameter.abs().max() == 0, name
        else:
            assert 0 < parameter.abs().max() <= 0.04, name


def change(place: str, value: Any) -> dict[str, Any]:
    """The preset `tiny` with one value set (or, with ..., taken out)."""
    values = preset("tiny").model_dump(mode="json")
    *steps, last = place.split(".")
    table = values
    for step in steps:
        table = table[step]
    if value is ...:
        del table[last]
    else:
        table[last] = value
    return values


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        ("colour", 1, "colour: unknown key"),
        ("spans.colour", 1, "spans.colour: unknown key"),
        ("spans.scorer.colour", 1, "spans.scorer.colour: unknown key"),
        ("pair_score.colour", 1, "pair_score.colour: unknown key"),
        ("evict.colour", 1, "evict.colour: unknown key"),
        ("spans.scorer.name", "dark", "spans.scorer: .*unknown name 'dark'; known: feed_forward, light"),
        ("pair_score.name", "nope", "pair_score: .*unknown name 'nope'; known: coarse_to_fine, feed_forward"),
        ("update.name", "median", "update: .*unknown name 'median'; known: alpha, mean, first, last"),
        ("evict.name", "nope", "evict: .*unknown name 'nope'; known: none, two_distances, one_distance, size_times"),
        ("update", "alpha", "update: .*unknown name None"),
        ("pair_score.hidden", 0, "pair_score.hidden: .*greater than 0"),
        ("spans.ratio", "much", "spans.ratio: .*number"),
        ("spans.ratio_of", "letters", "spans.ratio_of: .*'pieces' or 'words'"),
        ("evict.singleton", -5, "evict.singleton: .*greater than 0"),
        ("evict.measure", "end", "evict.measure: .*'middle' or 'start'"),
        ("evict.budget", 0, "evict.budget: .*greater than 0"),
        ("segments.max_pieces", 3, "segments.max_pieces: .*greater than or equal to 8"),
        ("dropout", 1.0, "dropout: .*less than 1"),
        ("kind", "other", "kind: .*'incremental' or 'baseline'"),
        ("spans", ..., "spans: Field required"),
        ("encoder", ..., "encoder: Field required"),
    ],
)
def test_a_mistake_is_named_with_its_place(place: str, value: Any, said: str) -> None:
    with pytest.raises(StreamcorefError, match=rf"^model\.json: {said}") as caught:
        parse_config(change(place, value), "model.json")
    assert "\n" not in str(caught.value)


def test_several_mistakes_are_all_named() -> None:
    values = change("spans.colour", 1)
    values["pair_score"]["hidden"] = -1
    with pytest.raises(StreamcorefError, match=r"spans\.colour: unknown key; pair_score\.hidden: "):
        parse_config(values, "x")


def test_a_distance_must_be_given_where_there_is_no_default() -> None:
    with pytest.raises(StreamcorefError, match=r"evict\.distance: Field required"):
        toys.config(evict={"name": "one_distance"})


def test_a_baseline_needs_coarse_to_fine() -> None:
    with pytest.raises(StreamcorefError, match=r"pair_score\.name = 'coarse_to_fine'"):
        build_model(toys.config(kind="baseline"))


def test_an_unknown_pair_feature_is_named() -> None:
    with pytest.raises(StreamcorefError, match=r"pair_score\.features\.0: unknown name 'colour'; known: .*distance"):
        toys.config(pair_score={"features": ["colour"]})


def test_features_are_names_or_tables() -> None:
    table = {"name": "exact_match", "forms": 3}
    config = toys.config(pair_score={"features": ["distance", table, "agreement"]})
    agreement = {"name": "agreement", "names": 6, "span_names": 4}
    # What a feature computes is written down in full: a default that changes later changes no model.
    assert config.model_dump(mode="json")["pair_score"]["features"] == [{"name": "distance"}, table, agreement]
    with pytest.raises(StreamcorefError, match=r"features\.0\.forms: .*greater than 0"):
        toys.config(pair_score={"features": [{"name": "exact_match", "forms": 0}]})


def test_the_version_of_the_word_lists_is_part_of_a_config() -> None:
    assert toys.config().model_dump()["language"] == {"name": "english", "version": 1}
    with pytest.raises(StreamcorefError, match="needs version 99 of the English word lists"):
        build_model(toys.config(language={"version": 99}))


def test_an_encoder_must_come_from_somewhere() -> None:
    config = toys.config(encoder={"architecture": None})
    with pytest.raises(StreamcorefError, match=r"encoder\.architecture is missing"):
        build_model(config)
    with pytest.raises(StreamcorefError, match=r"encoder\.name is missing"):
        build_model(config, pretrained=True)


def test_a_pretrained_encoder_comes_from_its_folder(tmp_path: Path) -> None:
    torch.manual_seed(7)
    config = toys.config()
    source = build_encoder(config, pretrained=False)
    source.save_pretrained(tmp_path / "encoder")
    model = build_model(toys.config(encoder={"name": str(tmp_path / "encoder")}), pretrained=True)
    for name, value in source.state_dict().items():
        torch.testing.assert_close(model.encoder.model.state_dict()[name], value, atol=0, rtol=0)


def test_configs_are_read_from_toml_and_json(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(preset("tiny").model_dump(mode="json")))
    (tmp_path / "b.toml").write_text(
        'kind = "incremental"\n[encoder]\nname = "x"\n[spans]\n[spans.scorer]\nname = "light"\n[pair_score]\n'
        'name = "feed_forward"\n[evict]\nname = "one_distance"\ndistance = 77\n'
    )
    assert read_config(tmp_path / "a.json") == preset("tiny")
    assert read_config(tmp_path / "b.toml").evict.model_dump()["distance"] == 77


@pytest.mark.parametrize(("name", "text"), [("a.json", "{"), ("a.toml", "kind = ")])
def test_a_broken_file_is_named(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(StreamcorefError, match=rf"{name}: "):
        read_config(tmp_path / name)
    with pytest.raises(StreamcorefError, match=r"cannot read .*missing\.toml: No such file"):
        read_config(tmp_path / "missing.toml")


# Parts of the user's own


class NearnessScorer(PairScorer):
    """Minus the squared distance of span and entity, plus a constant."""

    reading_size = 0

    def __init__(self, options: NearnessOptions, around: Surroundings) -> None:
        super().__init__()
        self.features = options.pair_features(around, ())
        self.bonus = options.bonus

    def read_spans(self, spans: Tensor) -> Tensor:
        return spans[:, :0]

    def read_entities(self, entities: Tensor) -> Tensor:
        return entities[:, :0]

    def fold_features(self, fixed: Mapping[str, int | None]) -> FeatureTables:
        return FeatureTables(torch.zeros(1))

    def score(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        return self.bonus - (pairs.span - pairs.entity).square().sum(-1)


class NearnessOptions(PairScorerOptions):
    name: Literal["nearness_of_a_test"] = "nearness_of_a_test"
    bonus: float = 1.0

    def build(self, around: Surroundings) -> PairScorer:
        return NearnessScorer(self, around)


class HalfOptions(UpdateOptions):
    name: Literal["half_of_a_test"] = "half_of_a_test"

    def build(self, around: Surroundings) -> UpdateRule:
        return Mean()


class Everyone(EvictionPolicy):
    def __call__(self, memory: EntityMemory, position: int) -> np.ndarray[Any, np.dtype[np.bool_]]:
        return np.ones(len(memory), dtype=bool)


class EveryoneOptions(EvictionOptions):
    name: Literal["everyone_of_a_test"] = "everyone_of_a_test"

    def policy(self) -> EvictionPolicy:
        return Everyone()


def test_parts_of_the_users_own_are_chosen_by_name() -> None:
    config = toys.config(
        pair_score={"name": "nearness_of_a_test", "bonus": 30.0},
        update={"name": "half_of_a_test"},
        evict={"name": "everyone_of_a_test"},
    )
    model = toys.model(config, 0, spread=1.0)
    assert isinstance(model.pair_score, NearnessScorer)
    assert model.pair_score.bonus == 30.0
    results = toys.read(model, config, toys.cut(toys.document(0, 150), config.segments.max_pieces))
    # with everyone evicted after each segment, no entity is in two
    entities = [{link.entity for link in result.links} for result in results]
    assert len(set.union(*entities)) == sum(map(len, entities)) < sum(len(result.links) for result in results)
    assert parse_config(config.model_dump(mode="json"), "again") == config
    with pytest.raises(StreamcorefError, match=r"pair_score\.colour: unknown key"):
        toys.config(pair_score={"name": "nearness_of_a_test", "colour": 1})


def test_new_weights_are_the_baselines_or_scaled_to_their_inputs() -> None:
    for initial in ("baseline", "scaled"):
        values = preset("tiny").model_dump(mode="json") | {"initial": initial}
        torch.manual_seed(0)
        model: Any = build_model(parse_config(values, "test"))
        for layer in (part for part in model.pair_score.modules() if isinstance(part, torch.nn.Linear)):
            expected = 0.02 if initial == "baseline" else layer.in_features**-0.5
            assert layer.weight.abs().max() <= 2 * expected
            if layer.weight.numel() > 500:
                assert layer.weight.std().item() == pytest.approx(0.88 * expected, rel=0.1)  # cut off at two sigma
