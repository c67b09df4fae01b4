"""Pieces a second of a training step of the small models, in floats and in bfloat16, and the memory of its tensors.

    python benchmarks/training.py [--rounds 5] [--segments 3] [--threads 1] [--beside FOLDER] [--only NAME ...]

The preset `small` with random weights and without dropout of attention learns from a story that is made up, with the
mentions of its people as clusters. A step is what a run does with a document: forward, backward, gradients clipped,
parameters moved (by next to nothing, so that every round does the same). All times are of the CPU, medians of the
rounds, in which everything takes turns:

- `baseline`: the whole-document model, all layers learning; `baseline_bfloat16` the same step in bfloat16
  (`run.precision`), if the machine has it;
- `incremental`: Algorithm 1, the encoder learning too; `incremental_cached`: the encoder frozen, its encodings on disk;
- `one_by_one_over_padded`: the encoder's forward and backward passes over the segments one after another, over one
  padded batch of them, which the baseline's step has;
- `encoder_share`: of the baseline's step;
- `peak_mb`: the most that the tensors of a step take at once.

`--beside` names a folder with another version of the sources, such as a `git worktree` of an earlier commit (0.1 or
later). Both are in this process and take turns; `over_other` says how many times as fast this one is.
"""

from __future__ import annotations

import argparse
import importlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import torch

from streamcoref.evaluation.tensor_memory import peak_tensor_bytes

PACKAGE = "streamcoref"
PEOPLE = ("Anna", "Carl", "the captain", "Mrs. Lee", "the old keeper", "Tom", "the doctor", "her sister")
DID = ("saw", "met", "wrote to", "waited for", "laughed at", "followed", "paid", "forgot")
MORE = ("at the harbour", "in the morning", "without a word", "because of the letter", "near the mill", "once more")
CPU = torch.device("cpu")
RATE = 1e-12  # of learning
NAMES = ("baseline", "incremental", "incremental_cached", "baseline_bfloat16", "padded", "one_by_one")
Step = Callable[[], object]


class Sources:
    """One version of the package. Several may be in one process; inside `used` the names of its modules are its own."""

    def __init__(self, folder: Path | None = None) -> None:
        """Those in a folder; without one, those that this script runs with."""
        self.folder = folder
        self.modules: dict[str, ModuleType] = _taken_out() if folder is None else {}

    @contextmanager
    def used(self) -> Iterator[None]:
        others = _taken_out()
        sys.modules.update(self.modules)
        path = list(sys.path)
        if self.folder is not None:
            sys.path.insert(0, str(self.folder))
        try:
            yield
        finally:
            sys.path[:] = path
            self.modules = _taken_out()
            sys.modules.update(others)


def _taken_out() -> dict[str, ModuleType]:
    """The package's modules, which nobody finds any more."""
    names = [name for name in sys.modules if name == PACKAGE or name.startswith(f"{PACKAGE}.")]
    return {name: sys.modules.pop(name) for name in names}


def module(name: str) -> Any:
    """A module of the version that is used."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def story(sentences: int, seed: int = 7) -> Any:
    """Some people who meet each other; the mentions of each are a cluster."""
    choose = random.Random(seed)
    written: list[list[str]] = []
    clusters: dict[str, list[tuple[int, int]]] = {}
    begin = 0
    for _ in range(sentences):
        words: list[str] = []
        for part in (choose.choice(PEOPLE), choose.choice(DID), choose.choice(PEOPLE), choose.choice(MORE), "."):
            start = begin + len(words)
            words += part.split()
            if part in PEOPLE:
                clusters.setdefault(part, []).append((start, begin + len(words)))
        written.append(words)
        begin += len(words)
    made = tuple(tuple(spans) for spans in clusters.values())
    return module("document").Document.from_sentences("story", written, clusters=made)


class Learner:
    """A model of one version with random weights and its optimizer, and the story that it learns from."""

    def __init__(self, kind: str, segments: int, frozen: bool = False) -> None:
        config_of, checkpoints = module("model.config"), module("model.checkpoint")
        values = config_of.preset("small").model_dump(mode="json")
        values["kind"] = kind
        values["higher_order"] = {"depth": 1, "max_spans": 3900}
        values["encoder"].update(attention_dropout=0.0, trainable_from=6 if frozen else 0)
        config = config_of.parse_config(values, "benchmark")
        torch.manual_seed(0)
        self.model = config_of.build_model(config).train()
        tokenizer = checkpoints.load_tokenizer(checkpoints.BUNDLED)
        document, cut = story(60 * segments), module("model.segments")
        if hasattr(cut, "segment_document"):  # as in version 0.1
            found = cut.segment_document(document, tokenizer, config.segments.max_pieces)
        else:
            found = checkpoints.Checkpoint(self.model, config, tokenizer).segmenter.cut(document)
        assert len(found) >= segments
        self.example = module("training.steps").Example(document, found[:segments], "litbank", 2.0)
        self.pieces = sum(len(segment) for segment in self.example.segments)
        self.options = module("training.recipe").TrainingOptions(epochs=1, encoder_rate=RATE, head_rate=RATE)
        self.encode: Any = self.model.encoder
        self.float32 = self.precision("float32")
        self._mover()

    def precision(self, name: str) -> Any:
        """None in a version that has no such thing, or on a machine that has not."""
        try:
            precisions = module("training.precision")
        except ModuleNotFoundError:
            return None
        try:
            return precisions.choose_precision(name, CPU)
        except module("errors").StreamcorefError as error:
            print(error)
            return None

    def _mover(self) -> None:
        if self.float32 is None:  # version 0.1
            trainer = module("training.trainer")
            self.optimizer = trainer.make_optimizer(self.model, SimpleNamespace(training=self.options))
        else:
            self.optimizer = module("training.optimizing").make_optimizer(self.model, self.options)

    def move(self) -> None:
        if self.float32 is None:
            learning = [p for p in self.model.parameters() if p.requires_grad]
            torch.nn.utils.clip_grad_norm_(learning, self.options.clip)
            self.optimizer.step()
        else:
            module("training.optimizing").take_step(self.optimizer, self.float32, self.options, 0, 1)

    def baseline(self, precision: Any = None) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        more = () if self.float32 is None else (precision or self.float32,)
        step = module("training.steps").baseline_step
        step(self.model, self.example, None, self.encode, np.random.default_rng(0), *more)
        self.move()

    def incremental(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        steps = module("training.steps")
        options, random_ = steps.IncrementalOptions(objective="all"), np.random.default_rng(0)
        steps.incremental_step(self.model, self.example, options, self.encode, random_, lambda: 0.0)
        self.move()

    def encoder_pass(self, together: bool) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        segments = self.example.segments
        for group in [segments] if together else [[segment] for segment in segments]:
            torch.cat(self.model.encoder(group)).sum().backward()


def steps(segments: int, cache: Path, only: Sequence[str]) -> tuple[int, dict[str, Step]]:
    """The pieces of a step, and what is measured, by its name, of the version that is used."""
    found: dict[str, Step] = {}
    pieces = 0
    if {"incremental_cached"} & set(only):
        frozen = Learner("incremental", segments, frozen=True)
        frozen.encode = module("training.encodings").EncodingCache(frozen.model.encoder, cache)
        frozen.encode(frozen.example.segments)
        found["incremental_cached"], pieces = frozen.incremental, frozen.pieces
    if {"incremental"} & set(only):
        learner = Learner("incremental", segments)
        found["incremental"], pieces = learner.incremental, learner.pieces
    if {"baseline", "baseline_bfloat16", "padded", "one_by_one"} & set(only):
        whole = Learner("baseline", segments)
        found["baseline"], pieces = whole.baseline, whole.pieces
        found["padded"] = lambda: whole.encoder_pass(together=True)
        found["one_by_one"] = lambda: whole.encoder_pass(together=False)
        short = whole.precision("bfloat16")
        if short is not None:
            found["baseline_bfloat16"] = lambda: whole.baseline(short)
    return pieces, {name: found[name] for name in only if name in found}


def cpu_seconds(run: Step) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def peak_mb(run: Step) -> float:
    with peak_tensor_bytes() as peak:
        run()
    return round(peak.bytes / 1e6, 1)


def measure(versions: list[Sources], options: argparse.Namespace, scratch: Path) -> list[dict[str, Any]]:
    """The figures of each version."""
    torch.set_num_threads(options.threads)
    everything, peaks, pieces = [], [], 0
    for number, version in enumerate(versions):
        with version.used():
            pieces, found = steps(options.segments, scratch / str(number), options.only)
            everything.append(found)
            peaks.append({name: peak_mb(run) for name, run in found.items()})  # which warms up, too
    seconds: list[dict[str, list[float]]] = [{name: [] for name in found} for found in everything]
    for _ in range(options.rounds):
        for name in everything[0]:
            for version, found, taken in zip(versions, everything, seconds, strict=True):
                if name in found:
                    with version.used():
                        taken[name].append(cpu_seconds(found[name]))
    return [_figures(pieces, taken, peak) for taken, peak in zip(seconds, peaks, strict=True)]


def _figures(pieces: int, seconds: dict[str, list[float]], peaks: dict[str, float]) -> dict[str, Any]:
    names = [name for name in seconds if name.startswith(("baseline", "incremental"))]
    return {
        "pieces_a_second": {name: round(pieces / median(seconds[name]), 1) for name in names},
        "peak_mb": {name: peaks[name] for name in names},
        "bfloat16_over_float32": ratio(seconds, "baseline_bfloat16", "baseline"),
        "encoder_share": ratio(seconds, "padded", "baseline"),
        "one_by_one_over_padded": ratio(seconds, "one_by_one", "padded"),
        "seconds": {name: [round(one, 4) for one in taken] for name, taken in seconds.items()},
    }


def ratio(seconds: dict[str, list[float]], above: str, below: str) -> float | None:
    if above not in seconds or below not in seconds:
        return None
    return round(median(a / b for a, b in zip(seconds[above], seconds[below], strict=True)), 3)


def over_other(ours: dict[str, Any], theirs: dict[str, Any]) -> dict[str, float]:
    """How many times as fast, by the medians of the rounds' ratios."""
    pairs = {
        name: zip(theirs["seconds"][name], taken, strict=True)
        for name, taken in ours["seconds"].items()
        if name in theirs["seconds"]
    }
    return {name: round(median(a / b for a, b in both), 3) for name, both in pairs.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--segments", type=int, default=3, help="of a step, 384 pieces each (default 3)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", nargs="+", choices=NAMES, default=NAMES, help="what is measured (default: all)")
    parser.add_argument("--beside", type=Path, help="a folder with another version of the sources")
    options = parser.parse_args()
    versions = [Sources()]
    if options.beside is not None:
        source = options.beside / "src" if (options.beside / "src").is_dir() else options.beside
        versions.append(Sources(source.resolve()))
    with tempfile.TemporaryDirectory() as scratch:
        figures, *others = measure(versions, options, Path(scratch))
    for theirs in others:
        figures["over_other"] = over_other(figures, theirs)
        figures["other"] = {name: theirs[name] for name in ("pieces_a_second", "peak_mb")}
    figures |= {"rounds": options.rounds, "segments": options.segments, "threads": options.threads}
    for name, value in figures["pieces_a_second"].items():
        print(f"{name:20} {value:8.1f} pieces a second, tensors of {figures['peak_mb'][name]:,.0f} MB")
    print(json.dumps({name: value for name, value in figures.items() if name != "seconds"}))


if __name__ == "__main__":
    main()
