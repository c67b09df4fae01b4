"""The training loop: one step a document, everything resumable."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch

from streamcoref.errors import StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.model.baseline import BaselineModel
from streamcoref.model.checkpoint import Checkpoint, load_checkpoint, load_tokenizer, save_checkpoint
from streamcoref.model.config import Model, build_model
from streamcoref.model.features import PairFeatures
from streamcoref.model.segments import PieceTokenizer
from streamcoref.training.data import epoch_length, epoch_order, load_corpora
from streamcoref.training.distributed import Workers
from streamcoref.training.encodings import EncodingCache
from streamcoref.training.hidden_pieces import HiddenPieces
from streamcoref.training.recipe import Recipe
from streamcoref.training.steps import Example, IncrementalOptions, baseline_step, incremental_step

Report = Callable[[dict[str, Any]], None]  # gets every line of the log as it is written

STATE = "state.pt"
LOG = "log.jsonl"


class Trainer:
    """A run of a recipe in a folder: `log.jsonl`, `state.pt` to resume from, and the models `best/` and `last/`."""

    def __init__(self, recipe: Recipe, report: Report = lambda _: None) -> None:
        self.recipe, self.report = recipe, report
        self.folder = recipe.run.folder
        self.config = recipe.model_config_of()
        self.device = choose_device(recipe.run.device)
        if recipe.run.threads is not None:
            torch.set_num_threads(recipe.run.threads)
        torch.manual_seed(recipe.training.seed)
        model, self.tokenizer, self.conversion = start_model(recipe)
        if recipe.training.encoder_rate == 0:
            model.encoder.requires_grad_(False)
            model.encoder.frozen = True
        if model.pair_score.uses_text:
            raise StreamcorefError("a pair scorer that reads text cannot be trained yet; train it in code of your own")
        self.model = model.to(self.device)
        self.workers = Workers(self.device)
        self.corpora = load_corpora(recipe, self.config, self.tokenizer, "train")
        self.dev = load_corpora(recipe, self.config, self.tokenizer, "dev")
        if not self.corpora:
            raise StreamcorefError('the recipe has no corpus to train on: give one with use = "train"')
        if epoch_length(self.corpora) == 0:
            raise StreamcorefError("the weights of the training corpora leave no document; give one of them more")
        self.steps_per_epoch = math.ceil(epoch_length(self.corpora) / self.workers.count)
        self.total_steps = self.steps_per_epoch * recipe.training.epochs
        self.optimizer = make_optimizer(self.model, recipe)
        self.encode: Any = self.model.encoder
        if recipe.run.cache is not None and self.model.encoder.frozen:
            self.encode = EncodingCache(self.model.encoder, recipe.run.cache)
        if recipe.training.hidden_pieces:
            self.encode = HiddenPieces(self.model.encoder, self.tokenizer, recipe.training.hidden_pieces)
        self.step = 0  # optimizer steps done
        self.epochs = 0  # done, their evaluation and checkpoints too
        self.best = -1.0
        self.epochs_without_better = 0
        self.finished = False
        self.interrupted = False

    # The loop

    def run(self, resume: bool) -> bool:
        """Train to the end; False if it was interrupted, saved, and can be resumed."""
        self._open(resume)
        before = signal.signal(signal.SIGINT, self._interrupt)
        try:
            while not self.finished and self.epochs < self.recipe.training.epochs:
                self._epoch()
                if self.interrupted:
                    self.save()
                    return False
            return True
        finally:
            signal.signal(signal.SIGINT, before)
            self.workers.close()

    def _epoch(self) -> None:
        epoch = self.epochs
        order = epoch_order(self.corpora, self.recipe.training.seed, epoch)
        saved = time.monotonic()
        while self.step < (epoch + 1) * self.steps_per_epoch:
            first = (self.step - epoch * self.steps_per_epoch) * self.workers.count
            self._step(order[first : first + self.workers.count], epoch)
            if self.workers.share(self.interrupted):
                self.interrupted = True
                return
            if time.monotonic() - saved >= 60 * self.recipe.run.checkpoint_minutes:
                self.save()
                saved = time.monotonic()
        self._end_of_epoch(epoch)

    def _step(self, examples: list[Example], epoch: int) -> None:
        """One optimizer step: each worker goes through its own document, and their gradients are averaged."""
        options = self.recipe.training
        started = time.monotonic()
        # Seeded anew at each step, so that a resumed run draws what an unbroken one would have drawn.
        seed = (options.seed * 1_000_003 + self.step) * 1_009 + self.workers.rank
        torch.manual_seed(seed)
        random = np.random.default_rng(seed)
        self.model.train()
        self.optimizer.zero_grad(set_to_none=True)
        loss = self._forward_backward(examples[self.workers.rank], random) if self.workers.rank < len(examples) else 0.0
        trainable = [p for p in self.model.parameters() if p.requires_grad]
        self.workers.average_gradients(trainable, len(examples))
        norm = torch.nn.utils.clip_grad_norm_(trainable, options.clip)
        if torch.isfinite(norm):
            factor = rate_factor(self.step, self.total_steps, options.schedule, options.warm_up)
            for group in self.optimizer.param_groups:
                group["lr"] = group["base_rate"] * factor
            self.optimizer.step()
        self.step += 1
        total = self.workers.sum(loss)
        self._log(
            {
                "event": "step",
                "step": self.step,
                "epoch": epoch + 1,
                "loss": round(total, 4) if math.isfinite(total) else None,
                "gradient_norm": round(float(norm), 4) if torch.isfinite(norm) else None,  # None: the step was skipped
                "document": examples[0].document.key,
                "seconds": round(time.monotonic() - started, 3),
            }
        )

    def _forward_backward(self, example: Example, random: np.random.Generator) -> float:
        options = self.recipe.training
        with self._precision():
            if isinstance(self.model, BaselineModel):
                return baseline_step(self.model, example, options.crop, self.encode, random)
            incremental = IncrementalOptions(
                options.objective, options.teacher_forcing, options.negative_rate, options.evict, options.backward_gb
            )
            return incremental_step(
                self.model, example, incremental, self.encode, random, lambda: memory_in_use(self.device)
            )

    def _precision(self) -> AbstractContextManager[Any]:
        name = self.recipe.run.precision
        if name == "float32":
            return nullcontext()
        return torch.autocast(self.device.type, getattr(torch, name))

    def _end_of_epoch(self, epoch: int) -> None:
        options = self.recipe.training
        scores = self.workers.share(self.evaluate() if self.workers.is_first else None)
        f1 = sum(s["conll_f1"] for s in scores.values()) / len(scores) if scores else None
        if f1 is None or f1 > self.best:
            self.best = -1.0 if f1 is None else f1
            self.epochs_without_better = 0
            self._save_model("best")
        else:
            self.epochs_without_better += 1
        if options.patience is not None and self.epochs_without_better >= options.patience:
            self.finished = True
        self._log(
            {"event": "epoch", "epoch": epoch + 1, "step": self.step, "dev_f1": f1, "best": self.best, "dev": scores}
        )
        self._save_model("last")
        self.epochs = epoch + 1
        self.save()

    def evaluate(self) -> dict[str, dict[str, Any]]:
        """Scores on each dev corpus, as `streamcoref evaluate` computes them."""
        checkpoint = Checkpoint(self.model, self.config, self.tokenizer)
        results = {}
        for corpus in self.dev:
            options = corpus.options
            documents = [example.document for example in corpus.examples]
            scheme = options.scheme or self.config.schemes[0]  # as it was trained, whatever the corpus is called
            dev = EvaluationCorpus(options.name, documents, scheme, options.singletons)
            results[options.name] = evaluate(checkpoint, [dev]).scores.to_dict()
        return results

    # Files

    def _open(self, resume: bool) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StreamcorefError(f"cannot make the folder of the run, {self.folder}: {error.strerror}") from error
        state = self.folder / STATE
        # One worker looks, for all: while the others do, it may have begun the log.
        saved, begun = self.workers.share((state.exists(), (self.folder / LOG).exists()))
        if resume and saved:
            self.load(state)
        elif begun:
            if not resume:
                raise StreamcorefError(
                    f"{self.folder} has a run already: go on with --resume, or choose another run.folder"
                )
            if self.workers.is_first:
                (self.folder / LOG).unlink()  # it was stopped before its first checkpoint: nothing to go on from
        if self.step == 0 and self.conversion:
            self._log({"event": "start", "step": 0, "from": str(self.recipe.model.start_from), **self.conversion})
        if self.workers.is_first:
            (self.folder / "recipe.json").write_text(self.recipe.model_dump_json(indent=2) + "\n", encoding="utf-8")

    def save(self) -> None:
        """All that is needed to go on, in one file that is replaced as a whole."""
        if not self.workers.is_first:
            return
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "epochs": self.epochs,
            "best": self.best,
            "epochs_without_better": self.epochs_without_better,
            "finished": self.finished,
            "recipe": self._identity(),
        }
        part = self.folder / f"{STATE}.part"
        torch.save(state, part)
        part.replace(self.folder / STATE)

    def load(self, path: Path) -> None:
        state = torch.load(path, map_location=self.device, weights_only=True)
        if state["recipe"] != self._identity():
            raise StreamcorefError(
                f"{path} was made by another recipe; resume with the same one, or choose another run.folder"
            )
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step, self.epochs, self.best = state["step"], state["epochs"], state["best"]
        self.epochs_without_better, self.finished = state["epochs_without_better"], state["finished"]
        if self.workers.is_first:
            keep_lines(self.folder / LOG, self.step, self.epochs)

    def _identity(self) -> str:
        """The recipe without what may change between a run and its resumption."""
        return self.recipe.model_dump_json(exclude={"run"})

    def _save_model(self, name: str) -> None:
        if self.workers.is_first:
            card = f"# {self.folder.name} ({name})\n\nA streamcoref model after {self.step} steps of training.\n"
            save_checkpoint(self.folder / name, Checkpoint(self.model, self.config, self.tokenizer), card)

    def _log(self, line: dict[str, Any]) -> None:
        if self.workers.is_first:
            with (self.folder / LOG).open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")
            self.report(line)

    def _interrupt(self, number: int, frame: FrameType | None) -> None:
        self.interrupted = True


def start_model(recipe: Recipe) -> tuple[Model, PieceTokenizer, dict[str, list[str]]]:
    """The model before its first step: random heads on a pretrained encoder, or the weights of another model.

    In the second case, also the names of the tensors that stay new and of those that were not taken.
    """
    config = recipe.model_config_of()
    if recipe.model.start_from is not None:
        given = load_checkpoint(recipe.model.start_from)
        encoder = config.encoder.model_copy(update={"architecture": given.config.encoder.architecture})
        model = build_model(config.model_copy(update={"encoder": encoder}))
        new, left = take_weights(model, given.model)
        return model, given.tokenizer, {"new": new, "not_taken": left}
    model = build_model(config, pretrained=True)
    assert config.encoder.name is not None  # or build_model would have said so
    return model, load_tokenizer(config.encoder.name), {}


def take_weights(model: Model, source: Model) -> tuple[list[str], list[str]]:
    """Copy what agrees in name and shape. Returns the names that stay new and those that were not taken.

    So a baseline becomes an incremental model: encoder, Spans and PairScore are reused, the update rule is new. A
    model with more pair features than the source, after the source's own, begins as if it had not got them: its layers
    take the source's columns and have zeros for the others.
    """
    mine, given = model.state_dict(), source.state_dict()
    taken = {name for name, tensor in given.items() if name in mine and mine[name].shape == tensor.shape}
    model.load_state_dict({name: given[name] for name in taken}, strict=False)
    for features, layer in (("features", "net.hidden.weight"), ("prior_features", "prior.weight")):
        name = f"pair_score.{layer}"
        if name in given.keys() & mine.keys() - taken and _has_more(model, source, features):
            columns = given[name].shape[1]
            mine[name][:, :columns] = given[name]
            mine[name][:, columns:] = 0
            taken.add(name)
    return sorted(mine.keys() - taken), sorted(given.keys() - taken)


def _has_more(model: Model, source: Model, features: str) -> bool:
    """Whether a model has the pair features of the source, and others after them, and else the same scorer."""
    more: PairFeatures | None = getattr(model.pair_score, features, None)
    fewer: PairFeatures | None = getattr(source.pair_score, features, None)
    if more is None or fewer is None or more.names[: len(fewer.names)] != fewer.names:
        return False
    sizes = {name: tensor.shape for name, tensor in more.state_dict().items()}
    return all(sizes[name] == tensor.shape for name, tensor in fewer.state_dict().items()) and (
        model.pair_score.reading_size == source.pair_score.reading_size
        and model.spans.vectors.size == source.spans.vectors.size
    )


def make_optimizer(model: Model, recipe: Recipe) -> torch.optim.Optimizer:
    options = recipe.training
    encoder = [p for p in model.encoder.parameters() if p.requires_grad]
    inside = {id(p) for p in encoder}
    heads = [p for p in model.parameters() if p.requires_grad and id(p) not in inside]
    groups = [{"params": heads, "base_rate": options.head_rate, "weight_decay": 0.0}]
    if encoder:
        groups.append({"params": encoder, "base_rate": options.encoder_rate, "weight_decay": options.encoder_decay})
    return torch.optim.AdamW(groups, lr=options.head_rate)


def rate_factor(step: int, total: int, schedule: str, warm_up: float) -> float:
    """The learning rate's share: up over the warm-up, then constant or down to zero."""
    warm = warm_up * total
    if step < warm:
        return (step + 1) / (warm + 1)
    return 1.0 if schedule == "constant" else max(0.0, (total - step) / max(1.0, total - warm))


def choose_device(name: str) -> torch.device:
    """Each of several processes on a machine takes a GPU of its own."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and "LOCAL_RANK" in os.environ:
        name = f"cuda:{os.environ['LOCAL_RANK']}"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)  # an AssertionError, if torch was built without it
        if device.type == "cuda":
            torch.cuda.set_device(device)
        return device
    except (RuntimeError, AssertionError) as error:
        raise StreamcorefError(f"run.device: {str(error).splitlines()[0]}") from error


def memory_in_use(device: torch.device) -> float:
    """GB: allocated on a GPU, resident for the process on a CPU."""
    if device.type == "cuda":
        return torch.cuda.memory_allocated(device) / 1e9
    statm = Path("/proc/self/statm")
    if not statm.exists():  # not on Linux: the peak so far is the nearest there is
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9
    return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e9


def keep_lines(log: Path, step: int, epochs: int) -> None:
    """Drop the lines that a killed run wrote after its last checkpoint; the resumed one will write them again."""
    if not log.exists():
        return
    part = log.with_suffix(".part")
    with log.open(encoding="utf-8") as old, part.open("w", encoding="utf-8") as new:
        for line in old:
            try:
                entry = json.loads(line)
            except ValueError:
                continue  # the line that was being written when the run was killed
            kept = entry["epoch"] <= epochs if entry["event"] == "epoch" else entry["step"] <= step
            if kept:
                new.write(line)
    part.replace(log)
