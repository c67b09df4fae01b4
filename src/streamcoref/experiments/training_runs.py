"""Training inside an experiment: a recipe with some values changed, run in a folder of its own, resumable."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from streamcoref.checked import describe_mistakes
from streamcoref.corpora import corpus_files
from streamcoref.errors import StreamcorefError
from streamcoref.experiments.base import Progress, Values
from streamcoref.experiments.options import model_files
from streamcoref.training.recipe import Recipe, overlay, read_recipe
from streamcoref.training.run import TrainingRun
from streamcoref.training.saving import LOG, STATE


def base_recipe(path: Path, settings: Sequence[str]) -> Recipe:
    """The recipe that the experiment changes; it needs a dev corpus, whose F1 chooses the best epoch."""
    recipe = read_recipe(path, settings)
    if not any(corpus.use == "dev" for corpus in recipe.corpora):
        raise StreamcorefError(f"{path}: an experiment compares dev F1, and this recipe has no corpus for dev")
    return recipe


def changed_recipe(recipe: Recipe, changes: dict[str, Any], folder: Path) -> Recipe:
    values = overlay(recipe.model_dump(mode="json"), changes)
    values["run"]["folder"] = str(folder)
    try:
        return Recipe.model_validate(values)
    except ValidationError as error:
        raise StreamcorefError(f"the recipe changed by {json.dumps(changes)}: {describe_mistakes(error)}") from error


def recipe_inputs(recipe: Recipe) -> list[Path]:
    start = [] if recipe.model.start_from is None else model_files(recipe.model.start_from)
    return [*start, *(file for corpus in recipe.corpora for file in corpus_files(corpus.path))]


def recipe_identity(recipe: Recipe) -> Values:
    return recipe.model_dump(mode="json", exclude={"run"})


def train_run(recipe: Recipe, progress: Progress) -> Values:
    """Train, or go on with what was begun; the dev scores of the best epoch, and the best F1 after each epoch."""

    def report(line: dict[str, Any]) -> None:
        if line["event"] == "step":
            progress(line["step"], run.total_steps)

    run = TrainingRun(recipe)
    if not run.train(resume=True, listener=report):
        raise KeyboardInterrupt
    return best_epoch(recipe.run.folder)


def best_epoch(folder: Path) -> Values:
    """Of a run, from its log."""
    lines = (folder / LOG).read_text(encoding="utf-8").splitlines()
    epochs = [line for line in map(json.loads, lines) if line["event"] == "epoch"]
    best = max(epochs, key=lambda line: line["dev_f1"])
    return {
        "dev_f1": best["dev_f1"],
        "epoch": best["epoch"],
        "epochs": len(epochs),
        "dev_f1_by_epoch": [line["dev_f1"] for line in epochs],
        "dev": best["dev"],
    }


def tidy_run(folder: Path, keep_best: bool) -> None:
    """Remove what a finished run no longer needs: it may be gigabytes. The log and the recipe stay."""
    (folder / STATE).unlink(missing_ok=True)
    for name in ("last",) if keep_best else ("last", "best"):
        shutil.rmtree(folder / name, ignore_errors=True)
