"""Models side by side on corpora: what `main` and `length` compute, each to show it in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import torch
from pydantic import model_validator

from streamcoref.evaluation import Evaluation
from streamcoref.experiments.base import Cell, Found, Progress, Values, key
from streamcoref.experiments.evaluating import evaluate_cell, evaluation_of, joined
from streamcoref.experiments.options import CorpusChoice, ExperimentOptions, ModelChoice, Models, corpora_inputs
from streamcoref.experiments.paper import PaperModel

ALL = "all corpora"
NONE = "–"
OUR_NAMES: dict[PaperModel, str] = {
    "JS-L": "paper: JS-L",
    "JS-B": "paper: JS-B",
    "ours": "paper: incremental",
    "ours without eviction": "paper: incremental without eviction",
}


class ComparisonOptions(ExperimentOptions):
    """`baseline` is the name of the model that the others are compared with."""

    models: Models
    baseline: str | None = None

    @model_validator(mode="after")
    def _baseline_is_a_model(self) -> Self:
        names = [model.name for model in self.models]
        if self.baseline is not None and self.baseline not in names:
            raise ValueError(f"baseline: there is no model {self.baseline!r}; the models are {', '.join(names)}")
        return self


def inputs(options: ComparisonOptions) -> list[Path]:
    files = [file for model in options.models for file in model.files()]
    return list(dict.fromkeys([*files, *corpora_inputs(options)]))


def cells(options: ComparisonOptions, _: Path) -> list[Cell]:
    return evaluation_cells(options, memory=False)


def evaluation_cells(options: ComparisonOptions, memory: bool) -> list[Cell]:
    return [
        Cell(key(model.name, corpus.name), _work(options, model, corpus, memory))
        for model in options.models
        for corpus in options.corpora
    ]


def _work(
    options: ComparisonOptions, model: ModelChoice, corpus: CorpusChoice, memory: bool
) -> Callable[[Progress], Values]:
    def work(progress: Progress) -> Values:
        checkpoint = model.load()
        tensors = {t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in _tensors(checkpoint.model)}
        values = evaluate_cell(checkpoint, corpus.corpus(), options.run, progress, memory)
        return values | {"weights_bytes": sum(tensors.values())}

    return work


def _tensors(model: torch.nn.Module) -> Iterator[torch.Tensor]:
    yield from model.parameters()
    yield from model.buffers()


def found_evaluations(options: ComparisonOptions, found: Found) -> dict[str, dict[str, Evaluation]]:
    """By corpus (all together first, if there are several), then by model."""
    parts = {
        corpus.name: {model.name: evaluation_of(found[key(model.name, corpus.name)]) for model in options.models}
        for corpus in options.corpora
    }
    if len(parts) == 1:
        return parts
    whole = {model.name: joined([part[model.name] for part in parts.values()]) for model in options.models}
    return {ALL: whole} | parts


def settings_notes(options: ComparisonOptions, found: Found) -> str:
    """How each corpus was read and scored."""
    lines = []
    for corpus in options.corpora:
        for model in options.models:
            (how,) = evaluation_of(found[key(model.name, corpus.name)]).corpora
            kept = "kept" if how.singletons else "dropped"
            silent = ", of which this model answers none" if how.singletons and not how.answers_singletons else ""
            lines.append(f"- {model.name} on {corpus.name}: scheme {how.scheme}, singletons {kept}{silent}")
    return "\n".join(lines) + "\n"
