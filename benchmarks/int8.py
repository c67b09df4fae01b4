"""The encoder in 8-bit integers beside the one in floats: how much faster, and how far from it.

    python benchmarks/int8.py [--model FOLDER] [--pieces 64 128 384] [--threads 1 2] [--rounds 25] [--runtimes]

Both encode the same random pieces in turns, one segment after another, so that whatever else the machine does weighs on
both. With several threads each has a segment of its own, as the library reads a text; `--divided` lets all of them
work on one, as it reads a text of a single segment. A figure is the median of the turns' ratios, by the clock and of
the process' time on the CPU, which a busy neighbour disturbs less. `bfloat16`, which is the whole encoder in short
floats, takes turns with them. With `--runtimes` so do ONNX Runtime and OpenVINO, both in floats and in integers; one
whose packages are not there is left out, and `left_out` says so.

- `speed_PIECES_N_threads`: how many times as fast as float32;
- `distance`: of a segment's vectors from those in float32, over these' length;
- `weights_mb`: what the encoders hold in memory.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, Protocol

import torch
from runtimes import ONNX, OPENVINO, export, missing, runtimes
from torch import Tensor

import streamcoref
from streamcoref.model.encoder import Encoder

WARM_UP = 3
MB = 1e6


class Encodes(Protocol):
    def encode(self, ids: Tensor, mask: None) -> Tensor: ...


class Clocks(NamedTuple):
    """Seconds by the clock, and of all threads of this process on the CPU."""

    wall: float
    cpu: float

    @classmethod
    def of(cls, run: Callable[[], object]) -> Clocks:
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        return cls(time.perf_counter() - wall, time.process_time() - cpu)


def encoders(model: str | None) -> dict[str, Encoder]:
    plain = streamcoref.load(model).checkpoint.model.encoder
    return {
        "float32": plain,
        "int8": streamcoref.load(model, precision="int8").checkpoint.model.encoder,
        "bfloat16": deepcopy(plain).bfloat16(),
    }


def weights_mb(encoder: Encoder) -> float:
    return sum(t.numel() * t.element_size() for t in encoder.state_dict().values()) / MB


def take_turns(
    all_of: Mapping[str, Encodes], pieces: int, rounds: int, segments: int, pool: ThreadPoolExecutor | None
) -> dict[str, list[Clocks]]:
    taken: dict[str, list[Clocks]] = {name: [] for name in all_of}
    for number in range(WARM_UP + rounds):
        batch = torch.randint(1000, 20_000, (segments, 1, pieces))
        for name, encoder in all_of.items():
            clocks = Clocks.of(partial(encode_all, encoder, batch, pool))
            if number >= WARM_UP:
                taken[name].append(clocks)
    return taken


def encode_all(encoder: Encodes, batch: Tensor, pool: ThreadPoolExecutor | None) -> None:
    @torch.inference_mode()
    def one(ids: Tensor) -> None:
        encoder.encode(ids, None)

    if pool is None:
        for ids in batch:
            one(ids)
    else:
        list(pool.map(one, batch))


def speeds(taken: dict[str, list[Clocks]], clock: str) -> dict[str, float]:
    """How many times as fast as float32, turn by turn."""
    plain = [getattr(clocks, clock) for clocks in taken["float32"]]
    return {
        name: round(median(a / getattr(b, clock) for a, b in zip(plain, clocks, strict=True)), 2)
        for name, clocks in taken.items()
        if name != "float32"
    }


def distance(ours: Tensor, right: Tensor) -> float:
    return round(float((ours.float() - right).norm() / right.norm()), 4)


def left_out(found: bool) -> dict[str, str]:
    """Runtimes that take no turns, and why."""
    wanted = {"onnxruntime": ONNX, "openvino": OPENVINO}
    if not found:
        return dict.fromkeys(wanted, "without --runtimes")
    return {name: f"no {missing(packages)}" for name, packages in wanted.items() if missing(packages)}


@torch.inference_mode()
def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a model's folder (default: the bundled one)")
    parser.add_argument("--pieces", type=int, nargs="+", default=[64, 128, 384])
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--divided", action="store_true", help="all threads on one segment")
    parser.add_argument("--runtimes", action="store_true", help="ONNX Runtime and OpenVINO, too")
    options = parser.parse_args()
    torch.manual_seed(1)
    with TemporaryDirectory() as folder:
        print(json.dumps(measure(options, Path(folder))))


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    ours = encoders(options.model)
    if options.runtimes:
        export(ours["float32"], folder)
    ids = torch.randint(1000, 20_000, (1, max(options.pieces)))
    figures: dict[str, Any] = {
        "rounds": options.rounds,
        "weights_mb": {name: round(weights_mb(encoder), 1) for name, encoder in ours.items()},
        "left_out": left_out(options.runtimes),
    }
    for threads in options.threads:
        together = threads == 1 or options.divided
        torch.set_num_threads(threads if together else 1)
        each, streams = (threads, 1) if together else (1, threads)
        all_of: dict[str, Encodes] = {**ours, **dict(runtimes(folder, each, streams))}
        if "distance" not in figures:
            vectors = {name: encoder.encode(ids, None) for name, encoder in all_of.items()}
            figures["distance"] = {name: distance(found, vectors["float32"]) for name, found in vectors.items()}
        pool = None if together else ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        for pieces in options.pieces:
            taken = take_turns(all_of, pieces, options.rounds, 1 if together else threads, pool)
            found = {"wall": speeds(taken, "wall"), "cpu": speeds(taken, "cpu")}
            name = f"speed_{pieces}_{threads}_thread{'s' if threads > 1 else ''}"
            figures[name] = found
            print(f"{name:24} {found}", flush=True)
    return figures


if __name__ == "__main__":
    main()
