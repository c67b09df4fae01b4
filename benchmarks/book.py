"""A long book to SQLite, by the command line: memory and time per word from its beginning to its end.

    python benchmarks/book.py                                   # the book is looked for in ../shared
    python benchmarks/book.py --figure docs/images/book.png     # or in $STREAMCOREF_SHARED
    python benchmarks/book.py --model FOLDER --characters 200000 --times 2 --baseline-limit 1   # a quick look

David Copperfield, and the same ten times over, are read by `streamcoref resolve book.txt -o book.sqlite` in a process
of its own, which is watched from outside: its RSS, and the number of words that the store says have been read.

- `rss_growth`: RSS at the end over RSS at 5% of the way, less one. Each is the median of what was seen in 2% of the
  way, since RSS goes up and down by 60 MB while a segment is read.
- `late_over_early_time`: time per word in the last tenth of the way over that in the second tenth;
  `late_over_early_cpu_time` is the same of the process' time on the CPU, which other programs disturb less.

Each is the worse of the two texts. The whole-document baseline, for comparison, is given longer and longer beginnings
of the book, in a process of its own, until its peak RSS passes a limit; without --baseline it is the model's own
configuration as a baseline, with random weights, keeping all spans.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from bisect import bisect_left
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil  # type: ignore[import-untyped]

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
BOOK = SHARED / "corpora" / "novels" / "766_david_copperfield.txt"
POLL_SECONDS = 0.1
EARLY, WINDOW = 0.05, 0.02
FIRST_PREFIX, LONGER = 5_000, 1.3  # characters, and how much longer each beginning is than the one before
ALL_SPANS = 10**9
MB = 1e6


class Seen(NamedTuple):
    """The process at a moment: seconds since it began and on the CPU, words in the store, bytes of RSS."""

    seconds: float
    cpu_seconds: float
    words: int
    rss: int


class Run(NamedTuple):
    text: str
    words: int
    seconds: float
    entities: int
    mentions: int
    rss_early: int
    rss_late: int
    rss_growth: float
    rss_growth_bytes: int
    late_over_early_time: float
    late_over_early_cpu_time: float


class Prefix(NamedTuple):
    """The baseline after a beginning of the book."""

    words: int
    rss: int  # peak so far


# Watching the command


def watch(text: Path, store: Path, model: str | None, threads: int) -> list[Seen]:
    """Run `streamcoref resolve` on a text and look at it from outside until it has ended."""
    command = [str(Path(sys.executable).with_name("streamcoref")), "resolve", str(text), "-o", str(store)]
    command += ["--threads", str(threads), *(["--model", model] if model else [])]
    seen: list[Seen] = []
    began = time.perf_counter()
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        watched = psutil.Process(process.pid)
        while process.poll() is None:
            try:
                rss, cpu = watched.memory_info().rss, watched.cpu_times()
            except psutil.NoSuchProcess:
                break
            if rss:  # a process that has just ended holds nothing
                seen.append(Seen(time.perf_counter() - began, cpu.user + cpu.system, words_read(store), rss))
            time.sleep(POLL_SECONDS)
        _, said = process.communicate()
    if process.returncode:
        sys.exit(said.strip() or f"{command[0]} ended with status {process.returncode}")
    seen.append(seen[-1]._replace(seconds=time.perf_counter() - began, words=words_read(store)))
    return seen


def words_read(store: Path) -> int:
    try:
        with closing(sqlite3.connect(f"{store.as_uri()}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT words FROM input").fetchone()[0])
    except sqlite3.Error:  # not made yet
        return 0


def counts(store: Path) -> tuple[int, int]:
    with closing(sqlite3.connect(store)) as connection:
        entities, mentions = connection.execute("SELECT count(*), sum(size) FROM entities").fetchone()
    return int(entities), int(mentions or 0)


# Figures


def advances(seen: list[Seen]) -> list[Seen]:
    """The first moments at which each number of words was seen: the store counts in steps of some seconds."""
    steps = [seen[0]]
    for moment in seen:
        if moment.words > steps[-1].words:
            steps.append(moment)
    return steps


def time_at(steps: list[Seen], words: float, clock: str = "seconds") -> float:
    """When so many words had been read, between two steps by proportion."""
    place = min(max(1, bisect_left(steps, words, key=lambda step: step.words)), len(steps) - 1)
    a, b = steps[place - 1], steps[place]
    begin, end = getattr(a, clock), getattr(b, clock)
    return float(begin + (words - a.words) / (b.words - a.words) * (end - begin))


def late_over_early(steps: list[Seen], clock: str) -> float:
    begin, end, late, last = (time_at(steps, steps[-1].words * share, clock) for share in (0.1, 0.2, 0.9, 1.0))
    return (last - late) / (end - begin)


def rss_near(seen: list[Seen], steps: list[Seen], share: float) -> int:
    """The median RSS over the window that begins at this share of the way."""
    words = steps[-1].words
    begin, end = time_at(steps, share * words), time_at(steps, (share + WINDOW) * words)
    inside = [moment.rss for moment in seen if begin <= moment.seconds <= end]
    nearest = min(seen, key=lambda moment: abs(moment.seconds - (begin + end) / 2)).rss
    return round(median(inside or [nearest]))


def figures(name: str, seen: list[Seen], store: Path) -> Run:
    steps = advances(seen)
    # The first step counts from the moment the store had its first words: loading the model is not reading.
    steps = steps[1:] if len(steps) > 2 else steps
    early, late = rss_near(seen, steps, EARLY), rss_near(seen, steps, 1 - WINDOW)
    return Run(
        name,
        steps[-1].words,
        seen[-1].seconds,
        *counts(store),
        early,
        late,
        late / early - 1,
        late - early,
        late_over_early(steps, "seconds"),
        late_over_early(steps, "cpu_seconds"),
    )


# The baseline


def measure_baseline(text: str, model: str | None, baseline: str | None, limit: float, threads: int) -> list[Prefix]:
    import torch

    from streamcoref.model.config import build_model, parse_config, preset
    from streamcoref.resolver import Resolver, load
    from streamcoref.text import document_from_text

    torch.manual_seed(0)
    torch.set_num_threads(threads)
    resolver = load(baseline or model)
    if baseline is None:
        checkpoint = resolver.checkpoint
        values: dict[str, Any] = checkpoint.config.model_dump(mode="json")
        values |= {"kind": "baseline", "higher_order": {"depth": 2, "max_spans": ALL_SPANS}}
        values["spans"]["min_score"] = None  # a threshold means nothing to random weights
        if values["pair_score"]["name"] != "coarse_to_fine":
            values["pair_score"] = preset("small").pair_score.model_dump(mode="json")
        config = parse_config(values, "baseline")
        resolver = Resolver(checkpoint._replace(model=build_model(config).eval(), config=config), resolver.folder)
    rows: list[Prefix] = []
    length = FIRST_PREFIX
    while length < len(text) * LONGER and not (rows and rows[-1].rss > limit):
        document = document_from_text("book", text[:length])
        resolver.resolve(document=document)
        rows.append(Prefix(len(document.words), peak_rss()))
        length = int(length * LONGER)
    return rows


def peak_rss() -> int:
    import resource

    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # Linux counts in KB


# Results


def draw(histories: dict[str, list[Seen]], baseline: list[Prefix], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axis = plt.subplots(figsize=(8, 4.5))
    for name, seen in histories.items():
        steps = advances(seen)
        axis.plot([s.words for s in steps[1:]], [s.rss / MB for s in steps[1:]], label=name)
    if baseline:
        axis.plot([p.words for p in baseline], [p.rss / MB for p in baseline], marker="o", label="whole document")
    axis.set(xlabel="words read", ylabel="process (RSS), MB", xscale="log", yscale="log")
    axis.grid(alpha=0.3)
    axis.legend(frameon=False)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)


def print_runs(runs: list[Run], baseline: list[Prefix]) -> None:
    print(f"{'text':28} {'words':>10} {'words/s':>8} {'RSS at 5%':>10} {'at the end':>10}   growth late/early")
    for run in runs:
        print(
            f"{run.text:28} {run.words:10,} {run.words / run.seconds:8,.0f} {run.rss_early / MB:7,.0f} MB "
            f"{run.rss_late / MB:7,.0f} MB {run.rss_growth:8.2%} {run.late_over_early_time:10.3f}"
        )
    for prefix in baseline:
        print(f"{'whole-document baseline':28} {prefix.words:10,} {'':8} {'':10} {prefix.rss / MB:7,.0f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description="A long book to SQLite: memory and time per word.")
    parser.add_argument("--book", type=Path, default=BOOK, help="the text (default: David Copperfield in ../shared)")
    parser.add_argument("--model", help="a model's folder or hub name (default: the bundled one)")
    parser.add_argument("--times", type=int, default=10, help="how often the book is repeated (default 10)")
    parser.add_argument("--characters", type=int, help="only so many characters of the book")
    parser.add_argument("--threads", type=int, default=2, help="threads of the command (default 2)")
    parser.add_argument("--baseline", help="a trained whole-document model (default: random weights)")
    parser.add_argument("--baseline-limit", type=float, default=8, help="GB after which it stops; 0: no baseline")
    parser.add_argument("--figure", type=Path, help="draw RSS over words into this file")
    options = parser.parse_args()
    if not options.book.is_file():
        print(f"no book {options.book}: name one with --book, or set STREAMCOREF_SHARED to the folder of the corpora")
        return
    text = options.book.read_text(encoding="utf-8")[: options.characters]
    histories: dict[str, list[Seen]] = {}
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        for times in dict.fromkeys((1, options.times)):
            name = "the book" if times == 1 else f"the book {times} times"
            file, store = Path(folder, f"{times}.txt"), Path(folder, f"{times}.sqlite")
            with file.open("w", encoding="utf-8", newline="") as output:
                output.writelines(text for _ in range(times))
            histories[name] = watch(file, store, options.model, options.threads)
            runs.append(figures(name, histories[name], store))
    baseline: list[Prefix] = []
    if options.baseline_limit:
        arguments = text, options.model, options.baseline, options.baseline_limit * 1e9, options.threads
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
            baseline = pool.submit(measure_baseline, *arguments).result()
    print_runs(runs, baseline)
    if options.figure:
        draw(histories, baseline, options.figure)
    names = ("rss_growth", "rss_growth_bytes", "late_over_early_time", "late_over_early_cpu_time")
    worst = {name: max(getattr(run, name) for run in runs) for name in names}
    print(
        json.dumps(
            worst
            | {
                "threads": options.threads,
                "model": options.model or "default",
                "runs": [run._asdict() for run in runs],
                "baseline": [prefix._asdict() for prefix in baseline],
            }
        )
    )


if __name__ == "__main__":
    main()
