"""Cost and memory over the length of a text: the bundled model beside models that read a text as a whole.

    python benchmarks/peers.py [--lengths 1000 4000 16000 64000 256000] [--limit-gb 8] [--text FILE]
                               [--packages FOLDER] [--figure docs/images/peers.png]

Every reader has a process of its own with one thread, and gets the same words of a novel, longer and longer, until it
is through or takes more memory than the limit:

- `incremental`: the bundled model as it is;
- `whole_document`: the whole-document model of this package with the same sizes and random weights, all spans of the
  text kept (0.2 a word, as many as the bundled model keeps), so that only cost is compared, not answers;
- `fastcoref`: F-coref of that package, the same encoder with random weights, with the head that it trains by default,
  but for 0.25 spans a piece.

fastcoref is written for transformers below 5, with which this package does not read. So it has a folder of its own:

    python -m pip install --target build/peers --no-deps fastcoref 'datasets<4' 'transformers<5' \\
        'tokenizers<0.23' 'huggingface-hub<1' dill multiprocess xxhash
    python benchmarks/peers.py --packages build/peers

A reader that cannot start is skipped, with the reason. Of each reader and length: seconds of the CPU and of the clock,
the process' peak RSS, and the length at which it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
from bisect import bisect_left
from itertools import accumulate
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]

from streamcoref.document import Document
from streamcoref.model.checkpoint import BUNDLED, load_tokenizer
from streamcoref.text import document_from_text

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
NOVEL = SHARED / "corpora" / "novels" / "1342_pride_and_prejudice.txt"
READERS = Path(__file__).parent / "peer_readers"
LENGTHS = (1000, 4000, 16_000, 64_000, 256_000)
GB = 1e9
ROOM = 4e9  # of addresses above the limit: what libraries reserve and never touch
ASK_SECONDS = 0.05
CHARACTERS = 8  # of a text that have a piece for certain; what is longer is not cut into pieces
COMMANDS = {
    "incremental": ["ours.py", "incremental"],
    "whole_document": ["ours.py", "whole_document"],
    "fastcoref": ["fastcoref_reader.py"],
}


def prepare(text: Path, lengths: list[int], scratch: Path) -> Path:
    """The job of all readers, as a file."""
    novel = document_from_text("novel", text.read_text(encoding="utf-8")[: CHARACTERS * lengths[-1]])
    counts = [len(pieces) for pieces in load_tokenizer(BUNDLED)(novel.words)]
    times = -(-lengths[-1] // sum(counts))  # over and over, if need be
    words, ends = list(novel.words) * times, repeated_ends(novel, times)
    upto = list(accumulate(counts * times))
    word_counts = [bisect_left(upto, length) + 1 for length in lengths]
    config = json.loads((BUNDLED / "config.json").read_text(encoding="utf-8"))
    job = {
        "words": words[: word_counts[-1]],
        "sentence_ends": [end for end in ends if end <= word_counts[-1]],
        "lengths": lengths,
        "word_counts": word_counts,
        "architecture": config["encoder"]["architecture"],
        "model": str(BUNDLED),
        "scratch": str(scratch),
    }
    file = scratch / "job.json"
    file.write_text(json.dumps(job), encoding="utf-8")
    return file


def repeated_ends(novel: Document, times: int) -> list[int]:
    return [end + turn * len(novel.words) for turn in range(times) for end in novel.sentence_ends]


def run(name: str, job: Path, limit: float, packages: Path | None) -> dict[str, Any]:
    """All lengths by one reader. Its rows end where it stopped, if it did."""
    script, *arguments = COMMANDS[name]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    if packages is not None and name == "fastcoref":
        environment["PYTHONPATH"] = str(packages.resolve())
    process = subprocess.Popen(
        [sys.executable, str(READERS / script), str(job), *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (int(limit + ROOM),) * 2),
    )
    watch = Watch(process, limit)
    said: list[str] = []
    errors = threading.Thread(target=lambda: said.extend(process.stderr or ()))
    errors.start()
    ready, rows = False, []
    assert process.stdout is not None
    for line in process.stdout:
        if not line.startswith("{"):  # a library's chatter
            continue
        values = json.loads(line)
        ready = ready or "ready" in values
        if "pieces" in values:
            rows.append(values)
            print(name, describe(values), flush=True)
    code = process.wait()
    errors.join()
    watch.join()
    if not ready:
        return {"skipped": reason(said)}
    rows, stopped = [row for row in rows if "stopped" not in row], [row for row in rows if "stopped" in row]
    if stopped or watch.killed:
        return {"rows": rows, "stopped": True}
    if code != 0:
        return {"rows": rows, "failed": reason(said)}
    return {"rows": rows, "stopped": False}


class Watch(threading.Thread):
    """Ends a process whose resident memory is above the limit: its own limit counts addresses only."""

    def __init__(self, process: subprocess.Popen[str], limit: float) -> None:
        super().__init__(daemon=True)
        self.process, self.limit, self.killed = process, limit, False
        self.start()

    def run(self) -> None:
        try:
            watched = psutil.Process(self.process.pid)
            while self.process.poll() is None:
                if watched.memory_info().rss > self.limit:
                    self.killed = True
                    self.process.kill()
                    return
                threading.Event().wait(ASK_SECONDS)
        except psutil.NoSuchProcess:
            return


def reason(said: list[str]) -> str:
    lines = [line.strip() for line in said if line.strip()]
    return lines[-1] if lines else "it ended without a word"


def describe(row: dict[str, Any]) -> str:
    if "stopped" in row:
        return f"{row['pieces']:,} pieces: {row['stopped']}"
    a_second = row["pieces"] / row["cpu_seconds"]
    return f"{row['pieces']:,} pieces: {a_second:,.0f} a second of the CPU, peak {row['peak_rss'] / GB:.2f} GB"


def stops_at(found: dict[str, Any], lengths: list[int]) -> int | None:
    """The first length that a reader did not get through; None: it got through all."""
    return lengths[len(found["rows"])] if found.get("stopped") else None


def draw(readers: dict[str, dict[str, Any]], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, (cost, memory) = plt.subplots(1, 2, figsize=(10, 4), sharex=True)
    for name, found in readers.items():
        rows = found.get("rows") or []
        if not rows:
            continue
        pieces = [row["pieces"] for row in rows]
        label = name.replace("_", " ")
        cost.plot(pieces, [row["cpu_seconds"] for row in rows], marker="o", label=label)
        memory.plot(pieces, [row["peak_rss"] / GB for row in rows], marker="o", label=label)
        if found.get("stopped"):
            memory.annotate(
                "out of memory", (pieces[-1], rows[-1]["peak_rss"] / GB), (5, 5), textcoords="offset points"
            )
    cost.set(title="cost", ylabel="seconds of the CPU", xscale="log", yscale="log", xlabel="pieces")
    memory.set(title="memory", ylabel="peak RSS, GB", xscale="log", yscale="log", xlabel="pieces")
    for axis in (cost, memory):
        axis.grid(alpha=0.3)
    cost.legend(frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS), help="of texts, in pieces")
    parser.add_argument("--limit-gb", type=float, default=8.0, help="of resident memory (default 8)")
    parser.add_argument("--text", type=Path, default=NOVEL, help="a text in English (default: a novel of ../shared)")
    parser.add_argument("--packages", type=Path, help="a folder with fastcoref and what it needs")
    parser.add_argument("--readers", nargs="+", choices=list(COMMANDS), default=list(COMMANDS))
    parser.add_argument("--figure", type=Path, help="draw cost and memory into this file")
    options = parser.parse_args()
    if not options.text.is_file():
        print(f"there is no text {options.text}: name one by --text, or set STREAMCOREF_SHARED")
        return
    lengths = sorted(options.lengths)
    readers: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as scratch:
        job = prepare(options.text, lengths, Path(scratch))
        for name in options.readers:
            readers[name] = run(name, job, options.limit_gb * GB, options.packages)
            if "skipped" in readers[name]:
                print(f"{name} skipped: {readers[name]['skipped']}", flush=True)
            else:
                readers[name]["stops_at"] = stops_at(readers[name], lengths)
    if options.figure:
        draw(readers, options.figure)
    print(json.dumps({"lengths": lengths, "limit_gb": options.limit_gb, "readers": readers}))


if __name__ == "__main__":
    main()
