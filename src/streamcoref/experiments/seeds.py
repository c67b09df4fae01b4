"""Models that an experiment trains itself, with several seeds: the best is taken, the others tell the spread."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import mean, stdev

from streamcoref.evaluation.report import Table
from streamcoref.experiments.base import NONE, Cell, Found, Progress, Values, key
from streamcoref.experiments.options import CorpusChoice, ModelChoice
from streamcoref.experiments.training_runs import (
    base_recipe,
    best_epoch,
    changed_recipe,
    tidy_run,
    train_run,
)
from streamcoref.training.recipe import Recipe

CHOSEN = "chosen"


@dataclass(frozen=True)
class SeedRun:
    """One training; models of the same recipe share it, whatever else they change."""

    seed: int
    name: str
    recipe: Recipe

    @property
    def folder(self) -> Path:
        return self.recipe.run.folder


def seed_runs(model: ModelChoice, folder: Path) -> list[SeedRun]:
    assert model.recipe is not None
    base = base_recipe(model.recipe, model.settings)
    words = [model.recipe.stem, *(re.sub(r"[^\w.=-]+", "-", setting) for setting in model.settings)]
    runs = []
    for seed in model.seeds:
        name = f"{'-'.join(words)[:80]}-seed-{seed}"
        recipe = changed_recipe(base, {"training": {"seed": seed}}, folder / "runs" / name)
        runs.append(SeedRun(seed, name, recipe))
    return runs


def training_cells(model: ModelChoice, folder: Path) -> list[Cell]:
    """A cell a seed, and one that takes the best by dev F1, as the paper does, to `models/` in the folder."""
    runs = seed_runs(model, folder)
    trained = [
        Cell(key("training", run.name), partial(train_run, run.recipe), partial(tidy_run, run.folder, True))
        for run in runs
    ]
    return [*trained, Cell(key(model.name, CHOSEN), partial(_choose, model, runs, folder))]


def _choose(model: ModelChoice, runs: Sequence[SeedRun], folder: Path, _: Progress) -> Values:
    best = max(runs, key=lambda run: best_epoch(run.folder)["dev_f1"])
    target = folder / "models" / model.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(best.folder / "best", target)
    return {"seed": best.seed, "dev_f1": best_epoch(best.folder)["dev_f1"]}


def seed_key(model: ModelChoice, seed: int, corpus: CorpusChoice) -> str:
    """The cell that evaluated the model of one seed."""
    return key(model.name, f"seed {seed}", corpus.name)


def seeds_table(models: Sequence[ModelChoice], corpora: Sequence[CorpusChoice], found: Found) -> Table:
    """Average F1 of all seeds: on the recipe's dev corpora, by which the best is chosen, and on each corpus here."""
    columns = ["model", "corpus", "seeds", "chosen", "mean", "standard deviation", "lowest", "highest"]
    sections = []
    for model in models:
        chosen = model.seeds.index(found[key(model.name, CHOSEN)]["seed"])
        runs = seed_runs(model, Path())
        rows = [_row(model, "dev of the recipe", [found[key("training", r.name)]["dev_f1"] for r in runs], chosen)]
        for corpus in corpora:
            figures = [found[seed_key(model, seed, corpus)]["scores"]["conll_f1"] for seed in model.seeds]
            rows.append(_row(model, corpus.name, figures, chosen))
        sections.append(rows)
    return Table("Seeds: average F1 of the run that was chosen by dev F1, and of all", columns, sections)


def _row(model: ModelChoice, corpus: str, figures: Sequence[float], chosen: int) -> list[str]:
    percent = [100.0 * float(figure) for figure in figures]
    spread = f"{stdev(percent):.2f}" if len(percent) > 1 else NONE
    shown = [f"{percent[chosen]:.2f}", f"{mean(percent):.2f}", spread, f"{min(percent):.2f}", f"{max(percent):.2f}"]
    return [model.name, corpus, str(len(percent)), *shown]
