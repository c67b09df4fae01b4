"""Training recipes: TOML files, every value checked, unknown keys refused."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, ValidationError

from streamcoref._precisions import FLOAT32, PrecisionName
from streamcoref.checked import Options, describe_mistakes
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import find_checkpoint
from streamcoref.model.config import ModelConfig, parse_config, preset, read_config
from streamcoref.model.evict import AnyEviction
from streamcoref.training.adam import Adam
from streamcoref.training.augmenting import AugmentOptions
from streamcoref.training.labels import Objective
from streamcoref.training.precision import TrainingPrecision

Schedule = Literal["constant", "linear", "linear_from_start"]
DecideBy = Literal["all", "vectors"]  # vectors: decisions are made without the reader of a scorer that asks text


class ModelOptions(Options):
    """Where the model comes from: a preset, a config file or another model, some of its values changed."""

    preset: str | None = None
    config: Path | None = None
    changes: dict[str, Any] = Field(default_factory=dict)  # laid over the config, table by table
    start_from: Path | None = None  # a checkpoint whose weights are taken where name and shape agree


class LabelSource(Options):
    """Labels of a corpus' mentions that lie beside it: types, kinds, information status, as far as they are there."""

    path: Path  # a folder of files called after the documents, or a file
    scheme: str | None = None  # of which all labelled spans are the mentions, whatever the corpus' clusters are


class CorpusOptions(Options):
    name: str
    path: Path  # a file, a folder, or a list of document names (*.ids)
    use: Literal["train", "dev"]
    format: str | None = None  # recognised if not given
    without: frozenset[str] = frozenset()  # keys of documents that are not learnt from
    weight: NonNegativeFloat = 1.0  # how often each document is seen in an epoch; 0.5: every second one
    scheme: str | None = None  # the annotation scheme, one of the model's
    genre: str | None = None  # for all its documents, instead of their own
    singletons: bool = False  # whether mentions without a partner are annotated
    labels: LabelSource | None = None  # None: those that its documents carry
    quotations: Path | None = None  # a folder of LitBank's quotations: paragraphs begin where the speaker changes
    teachers: tuple[Path, ...] = ()  # models whose entities, in this scheme, are added where nothing is annotated


class LabelWeights(Options):
    """Of the losses of labels against the link loss: of each head of the model, and of the mentions of their scheme."""

    types: NonNegativeFloat = 0.0
    kinds: NonNegativeFloat = 0.0
    statuses: NonNegativeFloat = 0.0
    mentions: NonNegativeFloat = 0.0

    @property
    def heads(self) -> dict[str, float]:
        """Those that are not 0, by the names of the heads."""
        return {head: weight for head, weight in self.model_dump(exclude={"mentions"}).items() if weight}


class TrainingOptions(Options):
    epochs: PositiveInt
    seed: NonNegativeInt = 1
    crop: PositiveInt | None = None  # a random stretch of this many segments of a longer document
    encoder_rate: NonNegativeFloat  # learning rates
    head_rate: PositiveFloat
    rates: dict[str, PositiveFloat] = Field(default_factory=dict)  # of heads by the beginnings of their names
    layer_decay: float = Field(default=1.0, gt=0, le=1)  # an encoder layer's rate, as a share of the one's above it
    encoder_decay: NonNegativeFloat = 0.01  # weight decay
    decay_of: Literal["all", "matrices"] = "all"  # matrices: not of biases and the scales of LayerNorm
    adam: Adam = "torch"
    encoder_eps: PositiveFloat = 1e-8  # of Adam, for the encoder
    schedule: Schedule = "linear"
    warm_up: float = Field(default=0.1, ge=0, le=1)  # share of all steps
    warm_up_of: Literal["all", "encoder"] = "all"  # which rates rise
    clip: PositiveFloat = 1.0
    clip_groups: Literal["together", "apart"] = "together"  # apart: the encoder's gradients and all others
    clip_after: Literal["document", "segment"] = "document"  # segment: of the incremental model only
    only: tuple[str, ...] = ()  # beginnings of the names of the parameters that learn, if not all of them do
    only_epochs: NonNegativeInt | None = None  # for how many epochs that holds; None: for all
    hidden_pieces: float = Field(default=0.0, ge=0, lt=1)  # share that the encoder reads as masked while it learns
    augment: AugmentOptions = AugmentOptions()  # documents as they might also have been written
    patience: PositiveInt | None = None  # stop after this many epochs without a better dev F1
    patience_from: Literal["next", "best"] = "next"  # best: the best epoch itself is counted
    dev_evict: bool = True  # whether entities are evicted on the dev corpora
    mention_loss: Literal["all", "singletons", "off"] = "off"  # on which corpora
    mention_weight: PositiveFloat = 1.0
    label_weights: LabelWeights = LabelWeights()
    # The incremental model only:
    objective: Objective = "most_recent"
    teacher_forcing: float = Field(default=0.0, ge=0, le=1)
    negative_rate: float = Field(default=1.0, ge=0, le=1)
    evict: bool | AnyEviction = False  # and merging and coming back, as the model does; or by this policy
    backward_gb: PositiveFloat | None = None
    decide_by: DecideBy = "all"

    @property
    def only_ever(self) -> tuple[str, ...]:
        """`only`, if it holds to the end."""
        return self.only if self.only_epochs is None or self.only_epochs >= self.epochs else ()


class RunOptions(Options):
    folder: Path
    checkpoint_minutes: NonNegativeFloat = 5.0  # 0: after every step
    device: str = "auto"
    precision: TrainingPrecision = "float32"
    threads: PositiveInt | None = None
    cache: Path | None = None  # a folder for encodings, where the encoder is frozen, and for what teachers say
    teacher_precision: PrecisionName = FLOAT32  # the numbers that teachers compute in


class Recipe(Options):
    model: ModelOptions
    corpora: tuple[CorpusOptions, ...] = Field(min_length=1)
    training: TrainingOptions
    run: RunOptions

    def model_config_of(self) -> ModelConfig:
        source = self.model
        if source.preset is not None and source.config is not None:
            raise StreamcorefError("model: give either a preset or a config file")
        if source.preset is not None:
            config = preset(source.preset)
        elif source.config is not None:
            config = read_config(source.config)
        elif source.start_from is not None:
            config = read_config(find_checkpoint(source.start_from) / "config.json")
        else:
            raise StreamcorefError("model: give a preset, a config file, or in start_from a model to go on with")
        return parse_config(overlay(config.model_dump(mode="json"), source.changes), "model.changes")


def read_recipe(path: str | Path, settings: Sequence[str] = ()) -> Recipe:
    """A recipe with some values set from outside, as `training.epochs=3`."""
    values = read_table(Path(path))
    for setting in settings:
        values = overlay(values, parse_setting(setting))
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        raise StreamcorefError(f"{path}: {describe_mistakes(error)}") from error


def read_table(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StreamcorefError(f"cannot read the recipe {path}: {error.strerror}") from error
    except ValueError as error:
        raise StreamcorefError(f"{path}: {error}") from error


def parse_setting(setting: str) -> dict[str, Any]:
    """`a.b=value` as a nested table; the value is TOML, or, if it is not, a plain string."""
    key, separator, text = setting.partition("=")
    if not separator or not key.strip():
        raise StreamcorefError(f"{setting}: write it as key=value, for example training.epochs=3")
    try:
        value = tomllib.loads(f"value = {text}")["value"]
    except ValueError:
        value = text
    for step in reversed(key.strip().split(".")):
        value = {step: value}
    return dict(value)


PARTS = ("scorer", "pair_score", "update", "evict")  # tables whose `name` says what else they may hold


def overlay(values: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Changes laid over values; tables are merged, but a part of another name replaces the old one whole."""
    result = dict(values)
    for key, change in changes.items():
        old = result.get(key)
        if isinstance(old, dict) and isinstance(change, dict):
            other_part = key in PARTS and change.get("name", old.get("name")) != old.get("name")
            result[key] = change if other_part else overlay(old, change)
        elif isinstance(old, list) and isinstance(change, dict):
            result[key] = _overlay_list(key, old, change)
        else:
            result[key] = change
    return result


def _overlay_list(key: str, values: list[Any], changes: dict[str, Any]) -> list[Any]:
    """Changes to some tables of a list, by their numbers: `corpora.0.path=...` is the path of the first corpus."""
    result = list(values)
    for number, change in changes.items():
        if not number.isdigit() or int(number) >= len(result):
            raise StreamcorefError(f"{key}.{number}: there are {len(result)} of {key}, numbered from 0")
        result[int(number)] = overlay(result[int(number)], change) if isinstance(change, dict) else change
    return result
