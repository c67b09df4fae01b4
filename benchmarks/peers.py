"""Cost and memory over the length of a text: the bundled model beside models that read a text as a whole.

    python benchmarks/peers.py [--lengths 1000 4000 16000 64000 256000] [--limit-gb 8] [--limit-minutes 10]
                               [--text FILE] [--packages FOLDER] [--figure docs/images/peers.png]

Every reader has a process of its own with one thread, and gets the same words of a novel, longer and longer, until it
is through, takes more memory than the limit, or takes longer for a length, or would for the next one if that cost as
much a piece as the last:

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
the process' peak RSS, and the length at which it stopped, and why. What has been measured is drawn and printed as a
table whatever happened to a reader, also after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from bisect import bisect_left
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

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
BY_HAND = "ended by hand"
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


def run(name: str, job: Path, limits: Limits, packages: Path | None) -> dict[str, Any]:
    """All lengths by one reader. Its rows end where it stopped, if it did, and `stopped` says why."""
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
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (int(limits.memory + ROOM),) * 2),
    )
    watch = Watch(process, limits)
    said: list[str] = []
    errors = threading.Thread(target=lambda: said.extend(process.stderr or ()))
    errors.start()
    ready, rows, stopped = False, [], None
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if not line.startswith("{"):  # a library's chatter
                continue
            values = json.loads(line)
            watch.begin()  # the next length
            ready = ready or "ready" in values
            if "stopped" in values:
                stopped = str(values["stopped"])
            elif "pieces" in values:
                rows.append(values)
                print(name, describe(values), flush=True)
                watch.expect(values["wall_seconds"], len(rows))
        code = process.wait()
    except KeyboardInterrupt:
        watch.end(BY_HAND)
        code = process.wait()
    errors.join()
    watch.join()
    stopped = watch.reason or stopped
    if stopped:
        return {"rows": rows, "stopped": stopped}
    if not ready:
        return {"skipped": reason(said)}
    if code != 0:
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else reason(said)
        return {"rows": rows, "stopped": how, "failed": True}
    return {"rows": rows, "stopped": None}


class Limits(NamedTuple):
    """Of a reader, for each length."""

    memory: float  # bytes
    seconds: float
    lengths: list[int]


class Watch(threading.Thread):
    """Ends a process that is above a limit. Its own limit of memory counts addresses only, so it is asked for what is
    resident."""

    def __init__(self, process: subprocess.Popen[str], limits: Limits) -> None:
        super().__init__(daemon=True)
        self.process, self.limits = process, limits
        self.reason: str | None = None  # why it was ended
        self.begin()
        self.start()

    def begin(self) -> None:
        """The time of another length begins."""
        self.began = time.monotonic()

    def expect(self, seconds: float, done: int) -> None:
        """No length is begun that takes too long even if it costs no more a piece than the last one, so many being
        done."""
        lengths = self.limits.lengths
        if done < len(lengths) and seconds * lengths[done] / lengths[done - 1] > self.limits.seconds:
            self.end(f"{lengths[done]:,} pieces would take more than {self.limits.seconds / 60:g} minutes")

    def end(self, reason: str) -> None:
        self.reason = self.reason or reason
        self.process.kill()

    def run(self) -> None:
        try:
            watched = psutil.Process(self.process.pid)
            while self.process.poll() is None:
                if watched.memory_info().rss > self.limits.memory:
                    self.end("no memory")
                elif time.monotonic() - self.began > self.limits.seconds:
                    self.end(f"more than {self.limits.seconds / 60:g} minutes")
                threading.Event().wait(ASK_SECONDS)
        except psutil.NoSuchProcess:
            return


def reason(said: list[str]) -> str:
    lines = [line.strip() for line in said if line.strip()]
    return lines[-1] if lines else "it ended without a word"


def describe(row: dict[str, Any]) -> str:
    a_second = row["pieces"] / row["cpu_seconds"]
    return f"{row['pieces']:,} pieces: {a_second:,.0f} a second of the CPU, peak {row['peak_rss'] / GB:.2f} GB"


def stops_at(found: dict[str, Any], lengths: list[int]) -> int | None:
    """The first length that a reader did not get through; None: it got through all."""
    done = len(found["rows"])
    return lengths[done] if found["stopped"] and done < len(lengths) else None


def table(readers: dict[str, dict[str, Any]], lengths: list[int]) -> str:
    """What was measured, in Markdown: a column a length, and where a reader stopped, why."""
    lines = ["| Pieces | " + " | ".join(f"{length:,}" for length in lengths) + " |", "|---|" + "---:|" * len(lengths)]
    for what, of_row in (
        ("pieces a second of the CPU", lambda row: f"{row['pieces'] / row['cpu_seconds']:,.0f}"),
        ("peak RSS, GB", lambda row: f"{row['peak_rss'] / GB:.2f}"),
    ):
        for name, found in readers.items():
            cells = [of_row(row) for row in found.get("rows", ())]
            if len(cells) < len(lengths):
                cells.append(found.get("stopped") or "skipped")
            cells += ["" for _ in lengths[len(cells) :]]
            lines.append(f"| {name.replace('_', ' ')}: {what} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


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
            end = pieces[-1], rows[-1]["peak_rss"] / GB
            memory.annotate(found["stopped"], end, (5, 5), textcoords="offset points", fontsize=7)
    cost.set(title="cost", ylabel="seconds of the CPU", xscale="log", yscale="log", xlabel="pieces")
    memory.set(title="memory", ylabel="peak RSS, GB", xscale="log", yscale="log", xlabel="pieces")
    for axis in (cost, memory):
        axis.grid(alpha=0.3)
    cost.legend(frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=list(LENGTHS), help="of texts, in pieces")
    parser.add_argument("--limit-gb", type=float, default=8.0, help="of resident memory (default 8)")
    parser.add_argument("--limit-minutes", type=float, default=10.0, help="of the clock, for a length (default 10)")
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
        limits = Limits(options.limit_gb * GB, options.limit_minutes * 60, lengths)
        for name in options.readers:
            found = readers[name] = run(name, job, limits, options.packages)
            if "skipped" in found:
                print(f"{name} skipped: {found['skipped']}", flush=True)
            else:
                found["stops_at"] = stops_at(found, lengths)
                if found["stopped"]:
                    print(f"{name} stopped: {found['stopped']}", flush=True)
            if options.figure:
                draw(readers, options.figure)  # after each, so that what there is stays
            if found.get("stopped") == BY_HAND:
                break
    print(table(readers, lengths))
    limited = {"limit_gb": options.limit_gb, "limit_minutes": options.limit_minutes}
    print(json.dumps({"lengths": lengths, **limited, "readers": readers}))


if __name__ == "__main__":
    main()
