"""The configuration of a model, read from TOML or JSON, and the model built from it."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field, PositiveInt, ValidationError
from torch import nn

from streamcoref.errors import StreamcorefError
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.encoder import Encoder, pretrained_encoder, random_encoder
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.pair_score import CoarseToFineScorer
from streamcoref.model.parts import (
    AlphaOptions,
    AnyEviction,
    AnyPairScorer,
    AnyUpdate,
    EncoderOptions,
    Options,
    SegmentOptions,
    SpanOptions,
    Surroundings,
    TwoDistancesOptions,
)
from streamcoref.model.span_vector import SpanVector
from streamcoref.model.spans import Spans

Model = IncrementalModel | BaselineModel


class HigherOrderOptions(Options):
    """What only the whole-document baseline has."""

    depth: PositiveInt = 2
    max_spans: PositiveInt = 3900


class ModelConfig(Options):
    """Everything that makes a model besides its weights."""

    kind: Literal["incremental", "baseline"]
    encoder: EncoderOptions
    segments: SegmentOptions = SegmentOptions()
    spans: SpanOptions
    pair_score: AnyPairScorer
    update: AnyUpdate = AlphaOptions()
    evict: AnyEviction = TwoDistancesOptions()
    higher_order: HigherOrderOptions = HigherOrderOptions()
    genres: tuple[str, ...] = Field(("unknown",), min_length=1)
    schemes: tuple[str, ...] = Field(("unknown",), min_length=1)
    singletons: bool = False  # whether its mention scores can tell a singleton, so that it may answer with some
    dropout: float = Field(default=0.3, ge=0, lt=1)
    initial: Literal["baseline", "scaled"] = "baseline"  # the size of new weights: 0.02, or by a layer's inputs


def parse_config(values: dict[str, Any], origin: str) -> ModelConfig:
    """A checked config; every mistake is named with its place."""
    try:
        return ModelConfig.model_validate(values)
    except ValidationError as error:
        raise StreamcorefError(f"{origin}: {describe_mistakes(error)}") from error


def describe_mistakes(error: ValidationError) -> str:
    mistakes = []
    for mistake in error.errors():
        place = ".".join(str(step) for step in mistake["loc"])
        said = "unknown key" if mistake["type"] == "extra_forbidden" else mistake["msg"].removeprefix("Value error, ")
        mistakes.append(f"{place}: {said}" if place else said)
    return "; ".join(mistakes)


def read_config(path: str | Path) -> ModelConfig:
    """From a .toml or .json file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise StreamcorefError(f"cannot read {path}: {error.strerror}") from error
    except ValueError as error:
        raise StreamcorefError(f"{path}: {error}") from error
    return parse_config(values, str(path))


def preset_names() -> list[str]:
    return sorted(
        file.name.removesuffix(".toml")
        for file in files("streamcoref.model.presets").iterdir()
        if file.name.endswith(".toml")
    )


def preset(name: str) -> ModelConfig:
    """One of the configs that come with the package."""
    if name not in preset_names():
        raise StreamcorefError(f"unknown preset {name!r}; known: {', '.join(preset_names())}")
    text = (files("streamcoref.model.presets") / f"{name}.toml").read_text(encoding="utf-8")
    return parse_config(tomllib.loads(text), f"preset {name}")


def build_model(config: ModelConfig, pretrained: bool = False) -> Model:
    """The model of a config, with random weights; with `pretrained`, its encoder's come from `encoder.name`."""
    encoder = Encoder(build_encoder(config, pretrained), config.encoder.trainable_from, config.encoder.layers)
    if encoder.max_pieces is not None and config.segments.max_pieces > encoder.max_pieces:
        raise StreamcorefError(
            f"segments.max_pieces is {config.segments.max_pieces}, "
            f"but this encoder has positions for {encoder.max_pieces} pieces only"
        )
    options = config.spans
    vectors = SpanVector(
        encoder.hidden_size, options.max_width, options.width_size, options.projected_size, config.dropout
    )
    around = Surroundings(
        encoder.hidden_size, vectors.size, options.max_width, len(config.genres), len(config.schemes), config.dropout
    )
    spans = Spans(
        vectors,
        options.scorer.build(around, vectors),
        options.max_width,
        options.ratio,
        options.ratio_of,
        options.word_boundaries,
        options.min_score,
    )
    pair_score = config.pair_score.build(around)
    model: Model
    if config.kind == "incremental":
        model = IncrementalModel(
            encoder,
            spans,
            pair_score,
            config.update.build(around),
            config.evict.build(),
            config.genres,
            config.schemes,
        )
    else:
        if not isinstance(pair_score, CoarseToFineScorer):
            raise StreamcorefError("a baseline chooses its antecedents by pair_score.name = 'coarse_to_fine'")
        model = BaselineModel(
            encoder,
            spans,
            pair_score,
            config.higher_order.depth,
            config.higher_order.max_spans,
            config.genres,
            config.schemes,
        )
    for name, module in model.named_children():
        if name != "encoder":
            module.apply(lambda part: _initialise(part, config.initial))
    return model


def build_encoder(config: ModelConfig, pretrained: bool) -> Any:
    if not pretrained:
        if config.encoder.architecture is None:
            raise StreamcorefError("encoder.architecture is missing, and no pretrained encoder was asked for")
        return random_encoder(config.encoder.architecture, config.encoder.attention_dropout)
    if config.encoder.name is None:
        raise StreamcorefError("encoder.name is missing: give a hub name or the folder of a pretrained encoder")
    return pretrained_encoder(config.encoder.name, config.encoder.attention_dropout)


def _initialise(module: nn.Module, initial: str) -> None:
    """A truncated normal of 0.02, as the baseline has for its 3,000 inputs, or one scaled to a layer's inputs."""
    if isinstance(module, nn.Linear | nn.Embedding):
        scaled = initial == "scaled" and isinstance(module, nn.Linear)
        deviation = module.weight.shape[1] ** -0.5 if scaled else 0.02
        torch.nn.init.trunc_normal_(module.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
    if isinstance(module, nn.Linear) and module.bias is not None:
        torch.nn.init.zeros_(module.bias)
