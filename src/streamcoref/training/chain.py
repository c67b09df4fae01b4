"""Recipes one after the other, each from the model of the one before: all that it takes to make a model again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from streamcoref.checked import Options, describe_mistakes
from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.model.checkpoint import find_checkpoint
from streamcoref.training.bundling import BundleOptions, bundle
from streamcoref.training.distributed import Workers
from streamcoref.training.planning import plan
from streamcoref.training.recipe import Recipe, overlay, read_recipe, read_table
from streamcoref.training.run import TrainingRun
from streamcoref.training.saving import LOG

Train = Callable[[TrainingRun, bool], bool]  # a run, to its end or until it is interrupted; whether it goes on


class ChainOptions(Options):
    legs: tuple[Path, ...] = Field(min_length=1)  # recipes, in order; paths are relative to the chain's own folder
    bundle: BundleOptions | None = None  # what is made of the last model


@dataclass(frozen=True)
class Chain:
    """A recipe alone is a chain of one leg."""

    legs: tuple[Recipe, ...]
    bundle: BundleOptions | None = None

    def check(self, resume: bool) -> None:
        """Raise if a leg could not begin, or the bundle be made, before hours have been spent on those before it."""
        made: list[Path] = []
        for leg in self.legs:
            for model in (leg.model.start_from, *(one for corpus in leg.corpora for one in corpus.teachers)):
                if model is not None and model.parent not in made:
                    find_checkpoint(model)
            if not resume and (leg.run.folder / LOG).exists():
                raise StreamcorefError(f"{leg.run.folder} has a run already", Remedy.RESUME)
            if leg.run.folder in made:
                raise StreamcorefError(f"two legs have the run.folder {leg.run.folder}; give each its own")
            made.append(leg.run.folder)
        earlier = None if self.bundle is None else self.bundle.earlier
        if earlier is not None and earlier.model.parent not in made:
            find_checkpoint(earlier.model)

    def train(self, resume: bool = False, train: Train = TrainingRun.train) -> bool:
        """Every leg to its end, those that are finished already being left as they are, and then the bundle.

        False if it was interrupted: then it has been saved and can be resumed.
        """
        self.check(resume)
        workers = Workers()
        try:
            for leg in self.legs:
                if not train(TrainingRun(leg, workers), resume):
                    return False
                workers.share(None)  # nobody begins with a model that the first worker is still saving
            if self.bundle is not None and workers.is_first:
                bundle(self.bundle)
            return True
        finally:
            workers.close()

    def plan(self, timed: bool = False) -> dict[str, Any]:
        """What each leg will do, the hours of all together, and the files of the bundle at the leg that it is made of.

        Models that are not there yet are taken as made.
        """
        self.check(resume=True)
        plans = [plan(self._as_begun(number), timed, self._made_of(number)) for number in range(len(self.legs))]
        if len(plans) == 1 and self.bundle is None:
            return plans[0]
        named = [{"folder": str(leg.run.folder), **found} for leg, found in zip(self.legs, plans, strict=True)]
        result: dict[str, Any] = {"legs": named}
        if timed:
            result["hours"] = round(sum(found["hours"] for found in plans), 2)
        result["disk_gb"] = round(sum(found["disk_gb"] for found in plans), 2)
        return result

    def _made_of(self, number: int) -> BundleOptions | None:
        """The bundle, at the leg whose model it is made of."""
        found = self.bundle is not None and self.bundle.source.parent == self.legs[number].run.folder
        return self.bundle if found else None

    def _as_begun(self, number: int) -> Recipe:
        """A leg that can be planned before those before it have been trained: with the encoder that they begin with.

        One that goes on with the config of the model before has that of the leg that makes it.
        """
        leg = _without_absent_teachers(self.legs[number])
        given = leg.model
        begin = leg.model.start_from
        while begin is not None and not begin.exists():
            before = [n for n in range(number) if self.legs[n].run.folder == begin.parent]
            if not before:
                break  # it is found by its name
            number = before[0]
            made = self.legs[number].model
            if given.preset is None and given.config is None:
                changes = overlay(made.changes, given.changes)
                given = given.model_copy(update={"preset": made.preset, "config": made.config, "changes": changes})
            begin = made.start_from
        if begin == leg.model.start_from:
            return leg
        encoder = self.legs[number].model_config_of().encoder
        whole = {"name": encoder.name, "keep_layers": encoder.keep_layers}
        changes = overlay(given.changes, {"encoder": {key: value for key, value in whole.items() if value}})
        return leg.model_copy(update={"model": given.model_copy(update={"start_from": begin, "changes": changes})})


def _without_absent_teachers(leg: Recipe) -> Recipe:
    """What they will find does not change the number of documents and pieces."""
    corpora = (
        corpus.model_copy(update={"teachers": tuple(one for one in corpus.teachers if one.exists())})
        for corpus in leg.corpora
    )
    return leg.model_copy(update={"corpora": tuple(corpora)})


def read_chain(path: str | Path, settings: Sequence[str] = ()) -> Chain:
    """A file with `legs`, or a recipe. What is set from outside is set in every leg."""
    path = Path(path)
    values = read_table(path)
    if "legs" not in values:
        return Chain((read_recipe(path, settings),))
    try:
        options = ChainOptions.model_validate(values)
    except ValidationError as error:
        raise StreamcorefError(f"{path}: {describe_mistakes(error)}") from error
    return Chain(tuple(read_recipe(path.parent / leg, settings) for leg in options.legs), options.bundle)
