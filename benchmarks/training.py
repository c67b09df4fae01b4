"""Pieces a second of a training step, forward and backward, of the small models, in floats and in bfloat16.

    python benchmarks/training.py [--rounds 5] [--segments 3] [--threads 1] [--beside FOLDER]

The preset `small` with random weights and without dropout of attention learns from a story that is made up, with the
mentions of its people as clusters. All times are of the CPU, medians of the rounds, in which everything takes turns:

- `baseline`: the whole-document model, all layers learning; `bfloat16_over_float32` is the time of the same step in
  bfloat16 (`run.precision`), if the machine has it;
- `incremental`: Algorithm 1, the encoder learning too; `incremental_cached`: the encoder frozen, its encodings on disk;
- `one_by_one_over_padded`: the encoder's forward and backward passes over the segments one after another, over one
  padded batch of them, which the baseline's step has;
- `encoder_share`: of the baseline's step.

`--beside` names a folder with another version of the sources, such as a `git worktree` of an earlier commit. It is
measured afterwards by the same script, and `over_other` says how many times as fast this one is.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import torch

from streamcoref import StreamcorefError
from streamcoref.document import Document
from streamcoref.model.checkpoint import BUNDLED, Checkpoint, load_tokenizer
from streamcoref.model.config import build_model, parse_config, preset
from streamcoref.model.segments import Segment
from streamcoref.training.encodings import EncodingCache
from streamcoref.training.precision import FLOAT32, Precision, choose_precision
from streamcoref.training.steps import Example, IncrementalOptions, baseline_step, incremental_step

PEOPLE = ("Anna", "Carl", "the captain", "Mrs. Lee", "the old keeper", "Tom", "the doctor", "her sister")
DID = ("saw", "met", "wrote to", "waited for", "laughed at", "followed", "paid", "forgot")
MORE = ("at the harbour", "in the morning", "without a word", "because of the letter", "near the mill", "once more")
CPU = torch.device("cpu")


def story(sentences: int, seed: int = 7) -> Document:
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
    return Document.from_sentences("story", written, clusters=made)


def checkpoint(kind: str, frozen: bool = False) -> Checkpoint:
    values = preset("small").model_dump(mode="json")
    values["kind"] = kind
    values["higher_order"] = {"depth": 1, "max_spans": 3900}
    values["encoder"].update(attention_dropout=0.0, trainable_from=6 if frozen else 0)
    config = parse_config(values, "benchmark")
    torch.manual_seed(0)
    return Checkpoint(build_model(config).train(), config, load_tokenizer(BUNDLED))


def example_of(made: Checkpoint, segments: int) -> Example:
    document = story(60 * segments)
    cut = made.segmenter.cut(document)
    assert len(cut) >= segments
    return Example(document, cut[:segments], "litbank", 2.0)


def cpu_seconds(run: Callable[[], object]) -> float:
    began = time.process_time()
    run()
    return time.process_time() - began


def bfloat16() -> Precision | None:
    try:
        return choose_precision("bfloat16", CPU)
    except StreamcorefError as error:
        print(error)
        return None


def encoder_pass(made: Checkpoint, groups: list[list[Segment]]) -> None:
    for group in groups:
        torch.cat(made.model.encoder(group)).sum().backward()


def steps(segments: int, cache: Path) -> dict[str, Callable[[], object]]:
    """All that is measured, by its name."""
    whole, incremental, frozen = checkpoint("baseline"), checkpoint("incremental"), checkpoint("incremental", True)
    example = example_of(whole, segments)
    cached = EncodingCache(frozen.model.encoder, cache)
    cached(example.segments)
    options = IncrementalOptions(objective="all")

    def baseline(precision: Precision = FLOAT32) -> None:
        random_ = np.random.default_rng(0)
        baseline_step(whole.model, example, None, whole.model.encoder, random_, precision)  # type: ignore[arg-type]
        whole.model.zero_grad(set_to_none=True)

    def learn(made: Checkpoint, encode: Any) -> None:
        incremental_step(made.model, example, options, encode, np.random.default_rng(0), lambda: 0.0)  # type: ignore[arg-type]
        made.model.zero_grad(set_to_none=True)

    found: dict[str, Callable[[], object]] = {
        "baseline": baseline,
        "incremental": lambda: learn(incremental, incremental.model.encoder),
        "incremental_cached": lambda: learn(frozen, cached),
        "padded": lambda: encoder_pass(whole, [example.segments]),
        "one_by_one": lambda: encoder_pass(whole, [[segment] for segment in example.segments]),
    }
    short = bfloat16()
    if short is not None:
        found["baseline_bfloat16"] = lambda: baseline(short)
    return found


def measure(options: argparse.Namespace) -> dict[str, Any]:
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as cache:
        everything = steps(options.segments, Path(cache))
        rounds = [{name: cpu_seconds(run) for name, run in everything.items()} for _ in range(options.rounds + 1)][
            1:
        ]  # the first one warms up
    pieces = sum(len(segment) for segment in example_of(checkpoint("baseline"), options.segments).segments)
    seconds = {name: median(one[name] for one in rounds) for name in everything}

    def ratio(above: str, below: str) -> float | None:
        if above not in seconds:
            return None
        return round(median(one[above] / one[below] for one in rounds), 3)

    names = [name for name in everything if name.startswith(("baseline", "incremental"))]
    return {
        "pieces_a_second": {name: round(pieces / seconds[name], 1) for name in names},
        "bfloat16_over_float32": ratio("baseline_bfloat16", "baseline"),
        "encoder_share": ratio("padded", "baseline"),
        "one_by_one_over_padded": ratio("one_by_one", "padded"),
        "rounds": options.rounds,
        "threads": options.threads,
    }


def other(options: argparse.Namespace) -> dict[str, float]:
    """The other version's pieces a second."""
    source = options.beside / "src" if (options.beside / "src").is_dir() else options.beside
    command = [sys.executable, __file__, "--segments", str(options.segments), "--threads", str(options.threads)]
    done = subprocess.run(
        [*command, "--rounds", str(options.rounds)],
        env={**os.environ, "PYTHONPATH": str(source.resolve())},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{options.beside} cannot be measured: {done.stderr.strip().splitlines()[-1]}")
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])["pieces_a_second"]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--segments", type=int, default=3, help="of a step, 384 pieces each (default 3)")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--beside", type=Path, help="a folder with another version of the sources")
    options = parser.parse_args()
    figures = measure(options)
    if options.beside is not None:
        theirs = other(options)
        ours = figures["pieces_a_second"]
        figures["other_pieces_a_second"] = theirs
        figures["over_other"] = {name: round(ours[name] / theirs[name], 3) for name in ours if name in theirs}
    for name, value in figures["pieces_a_second"].items():
        print(f"{name:20} {value:8.1f} pieces a second")
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
