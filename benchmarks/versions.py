"""How long this version takes to read a novel beside another one, each with its bundled model.

    python benchmarks/versions.py [COMMIT] [--novel FILE] [--words 3000] [--rounds 9]

The other is a commit of this repository, whose sources are taken out of git; that of version 0.1 if none is named.

Each version has a process of its own, with a stream of the library in it that is fed with raw text. They take turns:
one passage of so many words is read by the one and then by the other, the next passage in the other order, so that
whatever else the machine does weighs on both. The first passages fill the memory and are not counted.

- `cpu_over_other`: time on the CPU over the other's, the median of the passages, with the least and the greatest;
- `encoder_over_other`: the same of the transformers in them alone, with one thread;
- `rest_over_other`: the same of all the rest.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

HERE = Path(__file__).resolve()
ROOT = HERE.parents[1]
SHARED = Path(os.environ.get("STREAMCOREF_SHARED", ROOT.parent / "shared"))
NOVEL = SHARED / "corpora" / "novels" / "1342_pride_and_prejudice.txt"
WARM_UP = 3  # passages
VERSION_0_1 = "5b2a02c"
READ = "--read"  # makes of this script a reader


# A reader's process, which may have another version of the library: it uses nothing that version 0.1 has not


def read() -> None:
    """Answers each line, a passage, with the seconds on the CPU of reading it, and those of the transformer in it."""
    import torch

    import streamcoref

    torch.set_num_threads(1)
    resolver = streamcoref.load(threads=1)
    encoder = resolver.checkpoint.model.encoder
    transformer = next(part for part in encoder.modules() if type(part).__module__.startswith("transformers."))
    encoding = 0.0

    def before(*_: object) -> None:
        nonlocal encoding
        encoding -= time.thread_time()

    def after(*_: object) -> None:
        nonlocal encoding
        encoding += time.thread_time()

    transformer.register_forward_pre_hook(before)
    transformer.register_forward_hook(after)
    stream = resolver.stream()
    for line in sys.stdin:
        encoding, began = 0.0, time.process_time()
        for _ in stream.feed(json.loads(line)):
            pass
        print(json.dumps([time.process_time() - began, encoding]), flush=True)


class Reader:
    def __init__(self, sources: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, str(HERE), READ],
            env={**os.environ, "PYTHONPATH": str(sources / "src"), "OMP_NUM_THREADS": "1"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __call__(self, passage: str) -> tuple[float, float]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(passage) + "\n")
        self._process.stdin.flush()
        everything, encoder = json.loads(self._process.stdout.readline())
        return everything, encoder

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def passages(text: str, words: int, count: int) -> list[str]:
    ends = [found.end() for found in re.finditer(r"\S+\s*", text)][words - 1 :: words][:count]
    return [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", nargs="?", default=VERSION_0_1, metavar="COMMIT")
    parser.add_argument("--novel", type=Path, default=NOVEL)
    parser.add_argument("--words", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=9)
    options = parser.parse_args()
    text = options.novel.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(["git", "-C", ROOT, "archive", options.other, "src"], check=True, capture_output=True)
        subprocess.run(["tar", "-x", "-C", folder], check=True, input=packed.stdout)
        ratios = compare(Path(folder), passages(text, options.words, WARM_UP + options.rounds))
    print(json.dumps({name: summary(values) for name, values in ratios.items()}))


def compare(sources: Path, texts: list[str]) -> dict[str, list[float]]:
    this, other = Reader(ROOT), Reader(sources)
    ratios: dict[str, list[float]] = {"cpu_over_other": [], "encoder_over_other": [], "rest_over_other": []}
    for number, passage in enumerate(texts):
        order = [this, other] if number % 2 else [other, this]
        taken = {reader: reader(passage) for reader in order}
        if number < WARM_UP:
            continue
        (mine, my_encoder), (theirs, their_encoder) = taken[this], taken[other]
        ratios["cpu_over_other"].append(mine / theirs)
        ratios["encoder_over_other"].append(my_encoder / their_encoder)
        ratios["rest_over_other"].append((mine - my_encoder) / (theirs - their_encoder))
        print(f"passage {number}: {mine:.2f} s and {theirs:.2f} s of the CPU, {mine / theirs:.3f}", flush=True)
    this.close()
    other.close()
    return ratios


def summary(values: list[float]) -> dict[str, float]:
    return {"median": round(median(values), 3), "least": round(min(values), 3), "most": round(max(values), 3)}


if __name__ == "__main__":
    if sys.argv[1:] == [READ]:
        read()
    else:
        main()
