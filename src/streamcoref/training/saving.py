"""The files of a run: its log, what is needed to go on, and its models. Each is replaced as a whole or added to."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import torch

from streamcoref._replacing import replacing
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import Checkpoint, save_checkpoint
from streamcoref.training.recipe import Recipe

STATE = "state.pt"
LOG = "log.jsonl"

Saved = dict[str, Any]  # what torch saves and loads without unpickling: tensors, numbers and texts


@dataclass
class Standing:
    """How far a run has come."""

    step: int = 0  # optimizer steps done
    epochs: int = 0  # done, their evaluation and models too
    best: float = -1.0  # dev F1
    epochs_without_better: int = 0
    finished: bool = False  # before the last epoch, because nothing got better

    def to_state(self) -> Saved:
        return asdict(self)

    @classmethod
    def from_state(cls, state: Saved) -> Self:
        return cls(**{field.name: state[field.name] for field in fields(cls)})

    def is_better(self, f1: float | None, patience: int | None, from_best: bool = False) -> bool:
        """Note the dev F1 of an epoch; whether its model is the best. Without a dev corpus every model is.

        With `from_best` an epoch is not begun if the best one lies `patience` epochs before it, as in the authors'
        program: there the best epoch is the first of those that are counted.
        """
        better = f1 is None or f1 > self.best
        if better:
            self.best = -1.0 if f1 is None else f1
        self.epochs_without_better = 0 if better else self.epochs_without_better + 1
        self.finished = self.finished or (patience is not None and self.epochs_without_better + from_best >= patience)
        return better


@dataclass(frozen=True)
class RunFolder:
    """`log.jsonl`, `state.pt` to resume from, `recipe.json`, and the models `best/` and `last/`."""

    path: Path

    @property
    def state(self) -> Path:
        return self.path / STATE

    @property
    def log(self) -> Path:
        return self.path / LOG

    def make(self) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StreamcorefError(f"cannot make the folder of the run, {self.path}: {error.strerror}") from error

    def write_recipe(self, recipe: Recipe) -> None:
        (self.path / "recipe.json").write_text(recipe.model_dump_json(indent=2) + "\n", encoding="utf-8")

    def add_line(self, line: dict[str, Any]) -> None:
        with self.log.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def keep_lines(self, standing: Standing) -> None:
        """Drop the lines that a killed run wrote after its last state; the resumed one will write them again."""
        if not self.log.exists():
            return
        with (
            replacing(self.log) as part,
            self.log.open(encoding="utf-8") as old,
            part.open("w", encoding="utf-8") as new,
        ):
            for line in old:
                try:
                    entry = json.loads(line)
                except ValueError:
                    continue  # the line that was being written when the run was killed
                is_epoch = entry["event"] == "epoch"
                if entry["epoch"] <= standing.epochs if is_epoch else entry["step"] <= standing.step:
                    new.write(line)

    def save_state(self, state: Saved) -> None:
        with replacing(self.state) as part:
            torch.save(state, part)

    def load_state(self, device: torch.device) -> Saved:
        state: Saved = torch.load(self.state, map_location=device, weights_only=True)
        return state

    def save_model(self, name: str, checkpoint: Checkpoint, step: int) -> None:
        card = f"# {self.path.name} ({name})\n\nA streamcoref model after {step} steps of training.\n"
        save_checkpoint(self.path / name, checkpoint, card)
