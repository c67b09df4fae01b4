"""What the configs of experiments have in common: models, corpora, and how they are read."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Self, TypeVar

import torch
from pydantic import AfterValidator, Field, NonNegativeInt, PositiveInt, ValidationError, model_validator

from streamcoref.checked import Options, describe_mistakes
from streamcoref.corpora import corpus_files
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.evaluation import EvaluationCorpus
from streamcoref.evaluation.changes import with_eviction, with_segment_length
from streamcoref.experiments.base import Values
from streamcoref.experiments.paper import PaperModel
from streamcoref.model.checkpoint import Checkpoint, find_checkpoint, load_checkpoint, load_tokenizer
from streamcoref.model.config import build_model, preset
from streamcoref.model.weight_files import weight_files
from streamcoref.model.weights import CONFIG
from streamcoref.training.recipe import overlay, parse_setting

AnyOptions = TypeVar("AnyOptions", bound=Options)


class CorpusChoice(Options):
    """A corpus with gold clusters, as `evaluation.EvaluationCorpus` has it."""

    name: str
    path: Path  # a file, a folder, or a list of document names (*.ids)
    format: str | None = None
    scheme: str | None = None
    singletons: bool | None = None

    def corpus(self) -> EvaluationCorpus:
        return EvaluationCorpus(self.name, self.path, self.scheme, self.singletons, self.format)


class ModelChoice(Options):
    """A model, some of its settings changed.

    Instead of a `path`, a `recipe` is trained with each of `seeds`, and the model with the best dev F1 is taken; a
    `preset` with a `tokenizer` makes one with random weights, for `memory` alone.
    """

    name: str  # in tables and plots
    path: str | None = None  # a folder or a name on the hub
    recipe: Path | None = None
    settings: tuple[str, ...] = ()  # changes to the recipe, such as `training.epochs=3`
    seeds: tuple[NonNegativeInt, ...] = Field((1,), min_length=1)
    preset: str | None = None
    tokenizer: str | None = None  # of a preset: a folder or a name on the hub
    evict: str | None = None  # a policy, as `two_distances:singleton=600,cluster=1200`; "none" keeps everything
    segment_length: PositiveInt | None = None  # pieces
    paper: PaperModel | None = None  # which of the paper's models it stands for

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        sources = [source for source in (self.path, self.recipe, self.preset) if source is not None]
        if len(sources) != 1 or (self.preset is None) != (self.tokenizer is None):
            raise ValueError(f"model {self.name}: give a path, a recipe, or a preset and a tokenizer")
        if len(set(self.seeds)) < len(self.seeds):
            raise ValueError(f"model {self.name}: give every seed only once")
        return self

    def files(self) -> list[Path]:
        """Those that its answers depend on."""
        return [] if self.path is None else model_files(self.path)

    def load(self) -> Checkpoint:
        checkpoint = self._load()
        if self.evict is not None:
            checkpoint = with_eviction(checkpoint, self.evict)
        if self.segment_length is not None:
            checkpoint = with_segment_length(checkpoint, self.segment_length)
        return checkpoint

    def _load(self) -> Checkpoint:
        if self.path is not None:
            return load_checkpoint(self.path, device())
        config, tokenizer = preset(self.preset or ""), load_tokenizer(self.tokenizer or "")
        # random weights are as good for one vocabulary as for another
        architecture = {**(config.encoder.architecture or {}), "vocab_size": tokenizer.size}
        encoder = config.encoder.model_copy(update={"architecture": architecture})
        config = config.model_copy(update={"encoder": encoder})
        torch.manual_seed(1)
        return Checkpoint(build_model(config).to(device()).eval(), config, tokenizer)


class RunChoice(Options):
    """What may change between a run and its continuation."""

    batch: PositiveInt = 1  # segments that share a pass of the encoder
    threads: PositiveInt | None = None  # of the CPU


def _names_differ(
    choices: tuple[CorpusChoice, ...] | tuple[ModelChoice, ...],
) -> tuple[CorpusChoice, ...] | tuple[ModelChoice, ...]:
    names = [choice.name for choice in choices]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two are called {name}; give one another name")
    return choices


Corpora = Annotated[tuple[CorpusChoice, ...], Field(min_length=1), AfterValidator(_names_differ)]
Models = Annotated[tuple[ModelChoice, ...], Field(min_length=1), AfterValidator(_names_differ)]


class ExperimentOptions(Options):
    """Every experiment has corpora, and a way to run."""

    corpora: Corpora
    run: RunChoice = RunChoice()


def read_options(kind: type[AnyOptions], path: Path, settings: Sequence[str] = ()) -> AnyOptions:
    """A config in TOML, some values set from outside as `corpora.0.path=...`, checked."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"the config cannot be read: {error.strerror}", path) from error
    except ValueError as error:
        raise InputError(str(error), path) from error
    for setting in settings:
        values = overlay(values, parse_setting(setting))
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise InputError(describe_mistakes(error), path) from error


def device() -> str:
    return "cuda" if torch.cuda.is_available() else "cpu"


def identity(options: Options) -> Values:
    return options.model_dump(mode="json", exclude={"run"})


def corpora_inputs(options: ExperimentOptions) -> list[Path]:
    return [file for corpus in options.corpora for file in corpus_files(corpus.path)]


def model_files(path: str | Path) -> list[Path]:
    folder = find_checkpoint(path)
    if not (folder / CONFIG).is_file():
        raise StreamcorefError(f"{folder} is not a model folder: it has no {CONFIG}")
    return [folder / CONFIG, *weight_files(folder)]
