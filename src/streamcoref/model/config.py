"""The configuration of a model, read from TOML or JSON, and the model built from it."""

from __future__ import annotations

import json
import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import torch
from pydantic import Field, NonNegativeInt, PositiveInt, ValidationError
from torch import nn

from streamcoref.checked import Options, describe_mistakes
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.language.versions import lexicon
from streamcoref.model.base import CorefModel
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.encoder import Encoder, EncoderOptions, pretrained_encoder, random_encoder
from streamcoref.model.evict import AnyEviction, TwoDistancesOptions
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.pair_score import AnyPairScorer
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from streamcoref.model.parts import Surroundings
from streamcoref.model.segments import SegmentOptions
from streamcoref.model.span_labels import LabelOptions, SpanLabels
from streamcoref.model.span_vector import SpanVector
from streamcoref.model.spans import SpanOptions, Spans
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.update import AlphaOptions, AnyUpdate


class LanguageOptions(Options):
    """Which word lists the pair features know: whatever a trained model computes is part of it."""

    name: Literal["english"] = "english"
    version: PositiveInt = 1


class HigherOrderOptions(Options):
    """What only the whole-document baseline has."""

    depth: PositiveInt = 2
    max_spans: PositiveInt = 3900


class ModelConfig(Options):
    """Everything that makes a model besides its weights."""

    kind: Literal["incremental", "baseline"]
    language: LanguageOptions = LanguageOptions()
    encoder: EncoderOptions
    segments: SegmentOptions = SegmentOptions()
    spans: SpanOptions
    pair_score: AnyPairScorer
    update: AnyUpdate = AlphaOptions()
    evict: AnyEviction = TwoDistancesOptions()
    merge: NonNegativeInt = 0  # see ResolveOptions; only models with the feature `identity` can
    revive: NonNegativeInt = 0  # the same
    higher_order: HigherOrderOptions = HigherOrderOptions()
    labels: LabelOptions = LabelOptions()
    genres: tuple[str, ...] = Field(("unknown",), min_length=1)
    schemes: tuple[str, ...] = Field(("unknown",), min_length=1)
    singletons: bool = False  # whether its mention scores can tell a singleton, so that it may answer with some
    genre_by_key: bool = False  # a text of no genre that it knows has the first two letters of its key, as theirs
    dropout: float = Field(default=0.3, ge=0, lt=1)
    embedding_dropout: bool = True  # also of width and feature embeddings: the baseline's; the paper's model has none
    # The size of new weights: 0.02; by a layer's inputs; as TensorFlow's code has it, embeddings by its own default.
    initial: Literal["baseline", "scaled", "tensorflow"] = "baseline"

    def genre_of(self, document: Document) -> str | None:
        """The genre that a document is read as; none is as good as one that the model does not know."""
        if self.genre_by_key and document.genre not in self.genres:
            return document.key[:2]
        return document.genre


def parse_config(values: dict[str, Any], origin: str) -> ModelConfig:
    """A checked config; every mistake is named with its place."""
    try:
        return ModelConfig.model_validate(values)
    except ValidationError as error:
        raise StreamcorefError(f"{origin}: {describe_mistakes(error)}") from error


def read_config(path: str | Path) -> ModelConfig:
    """From a .toml or .json file."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        values = tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)
    except OSError as error:
        raise StreamcorefError(f"cannot read {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
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


def build_model(config: ModelConfig, pretrained: bool = False, tokenizer: PieceTokenizer | None = None) -> CorefModel:
    """The model of a config, with random weights; with `pretrained`, its encoder's come from `encoder.name`.

    `tokenizer` is for parts that read text with an encoder; without it such a part can be built, but not read.
    """
    chosen = config.encoder
    encoder = Encoder(build_encoder(config, pretrained), chosen.trainable_from, chosen.layers, chosen.mix)
    if encoder.max_pieces is not None and config.segments.max_pieces > encoder.max_pieces:
        raise StreamcorefError(
            f"segments.max_pieces is {config.segments.max_pieces}, "
            f"but this encoder has positions for {encoder.max_pieces} pieces only"
        )
    options = config.spans
    embedding_dropout = config.dropout if config.embedding_dropout else 0.0
    vectors = SpanVector(
        encoder.hidden_size,
        options.max_width,
        options.width_size,
        options.projected_size,
        config.dropout,
        embedding_dropout,
    )
    around = Surroundings(
        hidden_size=encoder.hidden_size,
        span_size=vectors.size,
        max_width=options.max_width,
        genres=len(config.genres),
        schemes=len(config.schemes),
        dropout=config.dropout,
        embedding_dropout=embedding_dropout,
        lexicon=lexicon(config.language.version),
        encoder=encoder,
        tokenizer=tokenizer,
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
    labels = SpanLabels(vectors.size, config.labels.hidden, config.labels.heads, config.dropout)
    model: CorefModel
    if config.kind == "incremental":
        update = config.update.build(around)
        model = IncrementalModel(
            encoder, spans, pair_score, update, config.genres, config.schemes, labels, around.lexicon
        )
    else:
        if not isinstance(pair_score, CoarseToFineScorer) or pair_score.uses_text:
            raise StreamcorefError("a baseline chooses its antecedents by pair_score.name = 'coarse_to_fine'")
        model = BaselineModel(
            encoder,
            spans,
            pair_score,
            config.higher_order.depth,
            config.higher_order.max_spans,
            config.genres,
            config.schemes,
            labels,
        )
    for name, module in model.named_children():
        if name != "encoder":
            _initialise(module, config.initial)
    return model


def build_encoder(config: ModelConfig, pretrained: bool) -> Any:
    options = config.encoder
    if not pretrained:
        if options.architecture is None:
            raise StreamcorefError("encoder.architecture is missing, and no pretrained encoder was asked for")
        return random_encoder(options.architecture, options.attention_dropout, options.keep_layers)
    if options.name is None:
        raise StreamcorefError("encoder.name is missing: give a hub name or the folder of a pretrained encoder")
    return pretrained_encoder(options.name, options.attention_dropout, options.keep_layers)


def _initialise(module: nn.Module, initial: str) -> None:
    """A truncated normal of 0.02, as the baseline has for its 3,000 inputs, or one scaled to a layer's inputs.

    The baseline's code names no initial values for embeddings, so that they are TensorFlow's default, Glorot's uniform
    ones. A module that says so, `keeps_initial`, stays as it made itself.
    """
    if getattr(module, "keeps_initial", False):
        return
    if isinstance(module, nn.Embedding) and initial == "tensorflow":
        torch.nn.init.xavier_uniform_(module.weight)
    elif isinstance(module, nn.Linear | nn.Embedding):
        scaled = initial == "scaled" and isinstance(module, nn.Linear)
        deviation = module.weight.shape[1] ** -0.5 if scaled else 0.02
        torch.nn.init.trunc_normal_(module.weight, std=deviation, a=-2 * deviation, b=2 * deviation)
    if isinstance(module, nn.Linear) and module.bias is not None:
        torch.nn.init.zeros_(module.bias)
    for child in module.children():
        _initialise(child, initial)
