"""`ablation`, the paper's appendix: a grid over the keys of a recipe, each setting trained with several seeds."""

from __future__ import annotations

import json
import re
from functools import partial
from itertools import product
from pathlib import Path
from statistics import mean, stdev
from typing import Any, Literal, NamedTuple, Self

from pydantic import Field, NonNegativeInt, model_validator

from streamcoref.checked import Options
from streamcoref.evaluation.report import Table, markdown
from streamcoref.experiments.base import NONE, Cell, Experiment, Found, Values, key
from streamcoref.experiments.options import identity
from streamcoref.experiments.paper import ABLATION as PAPER
from streamcoref.experiments.plot import Plot, Series
from streamcoref.experiments.training_runs import (
    base_recipe,
    changed_recipe,
    recipe_identity,
    recipe_inputs,
    tidy_run,
    train_run,
)
from streamcoref.training.recipe import overlay

AS_IT_IS = "the recipe as it is"


class Factor(Options):
    """A key of the recipe, as `training.epochs`, and the values to try."""

    key: str = Field(pattern=r"^\w+(\.\w+)+$")
    values: tuple[bool | int | float | str, ...] = Field(min_length=1)


class AblationOptions(Options):
    """`each` changes one key at a time, beside the recipe as it is; `product` tries all combinations."""

    recipe: Path
    settings: tuple[str, ...] = ()  # changes to the recipe, such as `training.epochs=3`
    combine: Literal["each", "product"] = "each"
    factors: tuple[Factor, ...] = Field(min_length=1)
    seeds: tuple[NonNegativeInt, ...] = Field((1,), min_length=1)

    @model_validator(mode="after")
    def _nothing_twice(self) -> Self:
        keys = [factor.key for factor in self.factors]
        if len(set(keys)) < len(keys) or len(set(self.seeds)) < len(self.seeds):
            raise ValueError("give every key of factors and every seed only once")
        if "training.seed" in keys:
            raise ValueError("training.seed is not a factor; give seeds")
        return self


class Setting(NamedTuple):
    name: str
    changes: dict[str, Any]


def settings_of(options: AblationOptions) -> list[Setting]:
    if options.combine == "each":
        tried = [[(factor.key, value)] for factor in options.factors for value in factor.values]
        return [Setting(AS_IT_IS, {}), *map(_setting, tried)]
    lists = [[(factor.key, value) for value in factor.values] for factor in options.factors]
    return [_setting(list(choice)) for choice in product(*lists)]


def _setting(choice: list[tuple[str, Any]]) -> Setting:
    changes: dict[str, Any] = {}
    for place, value in choice:
        for step in reversed(place.split(".")):
            value = {step: value}
        changes = overlay(changes, value)
    return Setting(", ".join(f"{place}={_text(value)}" for place, value in choice), changes)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def experiment_identity(options: AblationOptions) -> Values:
    return identity(options) | {"recipe": recipe_identity(base_recipe(options.recipe, options.settings))}


def inputs(options: AblationOptions) -> list[Path]:
    return list(dict.fromkeys(recipe_inputs(base_recipe(options.recipe, options.settings))))


def cells(options: AblationOptions, folder: Path) -> list[Cell]:
    base = base_recipe(options.recipe, options.settings)
    result = []
    for number, setting in enumerate(settings_of(options)):
        for seed in options.seeds:
            name = re.sub(r"[^\w.=-]+", "-", setting.name)[:80]
            run = folder / "runs" / f"{number}-{name}-seed-{seed}"
            recipe = changed_recipe(base, overlay(setting.changes, {"training": {"seed": seed}}), run)
            # Weights of dozens of runs would fill a disk; a recipe and its seed make them again.
            work, tidy = partial(train_run, recipe), partial(tidy_run, run, False)
            result.append(Cell(_cell(setting, seed), work, tidy))
    return result


def _cell(setting: Setting, seed: int) -> str:
    return key(setting.name, f"seed {seed}")


def _figures(options: AblationOptions, found: Found, setting: Setting) -> list[float]:
    return [100.0 * float(found[_cell(setting, seed)]["dev_f1"]) for seed in options.seeds]


def page(options: AblationOptions, found: Found) -> str:
    settings = settings_of(options)
    first = mean(_figures(options, found, settings[0]))
    rows = []
    for setting in settings:
        figures = _figures(options, found, setting)
        epochs = mean(found[_cell(setting, seed)]["epoch"] for seed in options.seeds)
        rows.append(
            [
                setting.name,
                str(len(figures)),
                f"{mean(figures):.2f}",
                f"{stdev(figures):.2f}" if len(figures) > 1 else NONE,
                f"{min(figures):.2f}",
                f"{max(figures):.2f}",
                f"{mean(figures) - first:+.2f}",
                f"{epochs:.1f}",
            ]
        )
    columns = ["setting", "seeds", "mean F1", "standard deviation", "lowest", "highest", "to the first", "best epoch"]
    theirs = Table("The paper's appendix: OntoNotes 5.0", ["what", "tried", "best", "effect"], [list(map(list, PAPER))])
    return (
        "# Ablation (the paper's appendix)\n\n"
        f"Best dev F1 in percent, the mean over the recipe's dev corpora, by {options.recipe} with "
        f"{', '.join(options.settings) or 'no changes'}.\n\n"
        + markdown(Table("Settings", columns, [rows]))
        + "\n"
        + markdown(theirs)
    )


def plots(options: AblationOptions, found: Found) -> list[Plot]:
    settings = settings_of(options)
    figures = [_figures(options, found, setting) for setting in settings]
    names = [setting.name for setting in settings]
    hover = [f"{name}: {', '.join(f'{v:.2f}' for v in values)}" for name, values in zip(names, figures, strict=True)]
    spread = [stdev(values) if len(values) > 1 else 0.0 for values in figures]
    series = Series("mean and standard deviation", names, list(map(mean, figures)), hover=hover, errors=spread)
    return [Plot("ablation", "Best dev F1 by setting", "setting", "average F1, %", [series])]


ABLATION = Experiment("ablation", AblationOptions, experiment_identity, inputs, cells, page, plots)
