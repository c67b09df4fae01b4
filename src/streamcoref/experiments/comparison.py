"""Models side by side on corpora: what `main` and `length` compute, each to show it in its own way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Self

import torch
from pydantic import model_validator

from streamcoref.evaluation import Evaluation
from streamcoref.evaluation.report import markdown
from streamcoref.experiments.base import Cell, Found, Progress, Values, key
from streamcoref.experiments.evaluating import evaluate_cell, evaluation_of, joined
from streamcoref.experiments.options import CorpusChoice, ExperimentOptions, ModelChoice, Models, corpora_inputs
from streamcoref.experiments.options import identity as options_identity
from streamcoref.experiments.paper import PaperModel
from streamcoref.experiments.seeds import CHOSEN, seed_key, seed_runs, seeds_table, training_cells
from streamcoref.experiments.training_runs import base_recipe, recipe_identity, recipe_inputs
from streamcoref.training.recipe import Recipe

ALL = "all corpora"
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


def identity(options: ComparisonOptions) -> Values:
    recipes = {model.name: recipe_identity(recipe) for model, recipe in _recipes(options)}
    return options_identity(options) | ({"recipes": recipes} if recipes else {})


def inputs(options: ComparisonOptions) -> list[Path]:
    files = [file for model in options.models for file in model.files()]
    files += [file for _, recipe in _recipes(options) for file in recipe_inputs(recipe)]
    return list(dict.fromkeys([*files, *corpora_inputs(options)]))


def _recipes(options: ComparisonOptions) -> list[tuple[ModelChoice, Recipe]]:
    return [(m, base_recipe(m.recipe, m.settings)) for m in options.models if m.recipe is not None]


def cells(options: ComparisonOptions, folder: Path) -> list[Cell]:
    return evaluation_cells(options, folder, memory=False)


def evaluation_cells(options: ComparisonOptions, folder: Path, memory: bool) -> list[Cell]:
    """What has to be trained first, each training once; then every model on every corpus."""
    result: dict[str, Cell] = {}
    for model in options.models:
        if model.recipe is not None:
            result |= {cell.key: cell for cell in training_cells(model, folder) if cell.key not in result}
    for model in options.models:
        for corpus in options.corpora:
            if model.recipe is None:
                name = key(model.name, corpus.name)
                result[name] = Cell(name, _work(options, model, corpus, memory))
                continue
            for run in seed_runs(model, folder):
                trained = model.model_copy(update={"path": str(run.folder / "best"), "recipe": None})
                name = seed_key(model, run.seed, corpus)
                result[name] = Cell(name, _work(options, trained, corpus, memory))
    return list(result.values())


def evaluated(model: ModelChoice, corpus: CorpusChoice, found: Found) -> Values:
    """What was found for a model on a corpus: of several seeds, for the one that was chosen."""
    if model.recipe is None:
        return found[key(model.name, corpus.name)]
    return found[seed_key(model, found[key(model.name, CHOSEN)]["seed"], corpus)]


def seeds_section(options: ComparisonOptions, found: Found) -> str:
    """The spread over seeds; nothing where nothing was trained."""
    trained = [model for model in options.models if model.recipe is not None]
    return markdown(seeds_table(trained, options.corpora, found)) + "\n" if trained else ""


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
        corpus.name: {model.name: evaluation_of(evaluated(model, corpus, found)) for model in options.models}
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
            (how,) = evaluation_of(evaluated(model, corpus, found)).corpora
            kept = "kept" if how.singletons else "dropped"
            silent = ", of which this model answers none" if how.singletons and not how.answers_singletons else ""
            lines.append(f"- {model.name} on {corpus.name}: scheme {how.scheme}, singletons {kept}{silent}")
    return "\n".join(lines) + "\n"
