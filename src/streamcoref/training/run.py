"""The training loop: one step a document, everything resumable."""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import nn

from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.training.data import epoch_order
from streamcoref.training.dev import DevScores, dev_scores, mean_f1
from streamcoref.training.distributed import Workers
from streamcoref.training.kinds import step_of
from streamcoref.training.optimizing import learning, make_optimizer, take_step
from streamcoref.training.planning import steps_per_epoch
from streamcoref.training.recipe import Recipe
from streamcoref.training.saving import RunFolder, Standing
from streamcoref.training.start import prepare
from streamcoref.training.steps import Example

# Seeds of steps and of workers lie so far apart that none meet; changed, no run could be gone on with.
_MORE_THAN_STEPS, _MORE_THAN_WORKERS = 1_000_003, 1_009
LogListener = Callable[[dict[str, Any]], None]  # gets every line of the log when it has been written


def _ignore(_: dict[str, Any]) -> None: ...


class TrainingRun:
    """A recipe, run in its folder. What a recipe cannot have is said when the run is made, before anything is written.

    Several processes that were started together each make the same run; the first of them writes. `workers` that are
    given are theirs for longer than this run, and are left together at its end.
    """

    def __init__(self, recipe: Recipe, workers: Workers | None = None) -> None:
        self.recipe = recipe
        self.start = prepare(recipe)
        self.model = self.start.checkpoint.model
        self.workers, self._leaves = workers or Workers(), workers is None
        self.workers.join(self.start.device)
        self.steps_per_epoch = steps_per_epoch(self.start.train, self.workers.count)
        self.total_steps = self.steps_per_epoch * recipe.training.epochs
        self.optimizer = make_optimizer(self.model, recipe.training)
        self.folder = RunFolder(recipe.run.folder)
        self.standing = Standing()
        self._go_through = step_of(self.start.checkpoint, recipe.training)
        self._interrupted = False
        self._listener: LogListener = _ignore

    def train(self, resume: bool = False, listener: LogListener = _ignore) -> bool:
        """Train to the end, from the beginning or from where a run in the folder was stopped.

        False if it was interrupted by SIGINT (Ctrl-C): then it has been saved and can be resumed.
        """
        self._listener, self._interrupted = listener, False
        self._open(resume)
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            while not self.standing.finished and self.standing.epochs < self.recipe.training.epochs:
                self._epoch()
                if self._interrupted:
                    self._save()
                    return False
            return True
        finally:
            signal.signal(signal.SIGINT, before)
            if self._leaves:
                self.workers.close()

    # The loop

    def _epoch(self) -> None:
        epoch = self.standing.epochs
        options = self.recipe.training
        order = epoch_order(self.start.train, options.seed, epoch, self.workers.count, options.crop)
        saved = time.monotonic()
        while self.standing.step < (epoch + 1) * self.steps_per_epoch:
            first = (self.standing.step - epoch * self.steps_per_epoch) * self.workers.count
            self._step(order[first : first + self.workers.count], epoch)
            if self.workers.share(self._interrupted):
                self._interrupted = True
                return
            if time.monotonic() - saved >= 60 * self.recipe.run.checkpoint_minutes:
                self._save()
                saved = time.monotonic()
        self._end_of_epoch(epoch)

    def _step(self, examples: list[Example], epoch: int) -> None:
        """One optimizer step: each worker goes through its own document, and their gradients are averaged."""
        options, standing, rank = self.recipe.training, self.standing, self.workers.rank
        started = time.monotonic()
        # Seeded anew at each step, so that a resumed run draws what an unbroken one would have drawn.
        seed = (options.seed * _MORE_THAN_STEPS + standing.step) * _MORE_THAN_WORKERS + rank
        torch.manual_seed(seed)
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        trainable = self._choose_learning(epoch)
        precision, loss = self.start.precision, 0.0
        if rank < len(examples):
            random = np.random.default_rng(seed)
            example = self.start.augment(examples[rank].taught(), random)
            loss = self._go_through(example, self.start.encode, random, precision)
        self.workers.average_gradients(trainable, len(examples))
        norm = take_step(self.optimizer, precision, options, standing.step, self.total_steps)
        standing.step += 1
        total = self.workers.sum(loss)
        self._log(
            {
                "event": "step",
                "step": standing.step,
                "epoch": epoch + 1,
                "loss": round(total, 7) if math.isfinite(total) else None,
                "gradient_norm": round(norm, 4) if math.isfinite(norm) else None,  # None: the step was skipped
                "document": examples[0].document.key,
                "seconds": round(time.monotonic() - started, 3),
            }
        )

    def _choose_learning(self, epoch: int) -> list[nn.Parameter]:
        """The parameters that learn in this epoch; the others get no gradients."""
        options = self.recipe.training
        everyone = [p for group in self.optimizer.param_groups for p in group["params"]]
        for parameter in everyone:
            parameter.requires_grad_(True)
        if options.only_epochs is not None and epoch >= options.only_epochs:
            return everyone
        chosen = learning(self.model, options.only)
        for parameter in everyone:
            parameter.requires_grad_(False)
        for parameter in chosen:
            parameter.requires_grad_(True)
        return chosen

    def _end_of_epoch(self, epoch: int) -> None:
        standing = self.standing
        scores = self.workers.share(self._dev_scores() if self.workers.is_first else None)
        f1 = mean_f1(scores)
        options = self.recipe.training
        if standing.is_better(f1, options.patience, options.patience_from == "best"):
            self._save_model("best")
        self._log(
            {
                "event": "epoch",
                "epoch": epoch + 1,
                "step": standing.step,
                "dev_f1": f1,
                "best": standing.best,
                "dev": scores,
            }
        )
        self._save_model("last")
        standing.epochs = epoch + 1
        self._save()

    def _dev_scores(self) -> DevScores:
        return dev_scores(self.start.checkpoint, self.start.dev, self.recipe.training.dev_evict)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self._interrupted = True

    # Files: the first worker's

    def _open(self, resume: bool) -> None:
        folder, first = self.folder, self.workers.is_first
        folder.make()
        # One worker looks, for all: while the others do, it may have begun the log.
        saved, begun = self.workers.share((folder.state.exists(), folder.log.exists()))
        if resume and saved:
            self._load()
        elif begun:
            if not resume:
                raise StreamcorefError(f"{folder.path} has a run already", Remedy.RESUME)
            if first:
                folder.log.unlink()  # it was stopped before its first checkpoint: nothing to go on from
        if self.standing.step == 0 and self.start.conversion:
            given = str(self.recipe.model.start_from)
            self._log({"event": "start", "step": 0, "from": given, **self.start.conversion})
        if first:
            folder.write_recipe(self.recipe)

    def _save(self) -> None:
        """All that is needed to go on."""
        if self.workers.is_first:
            self.folder.save_state(
                {
                    "model": self.model.state_dict(),
                    "optimizer": self.optimizer.state_dict(),
                    "scaler": self.start.precision.scaler.state_dict(),  # empty but in float16
                    **self.standing.to_state(),
                    "recipe": self._identity(),
                }
            )

    def _load(self) -> None:
        state = self.folder.load_state(self.start.device)
        if state["recipe"] != self._identity():
            made = f"{self.folder.state} was made by another recipe"
            raise StreamcorefError(f"{made}; resume with the same one, or choose another run.folder")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        if state.get("scaler"):  # not in states of earlier versions
            self.start.precision.scaler.load_state_dict(state["scaler"])
        self.standing = Standing.from_state(state)
        if self.workers.is_first:
            self.folder.keep_lines(self.standing)

    def _identity(self) -> str:
        """The recipe without what may change between a run and its resumption."""
        return self.recipe.model_dump_json(exclude={"run"})

    def _save_model(self, name: str) -> None:
        if self.workers.is_first:
            self.folder.save_model(name, self.start.checkpoint, self.standing.step)

    def _log(self, line: dict[str, Any]) -> None:
        if self.workers.is_first:
            self.folder.add_line(line)
            self._listener(line)
