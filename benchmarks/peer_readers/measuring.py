"""What every reader's process does: read longer and longer texts, and say what each has cost."""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple


class Job(NamedTuple):
    """What the benchmark has prepared. No part of it needs the library: another one reads it, too."""

    words: list[str]  # of the longest text
    sentence_ends: list[int]
    lengths: list[int]  # of texts, in pieces
    word_counts: list[int]  # how many of the words make so many pieces
    architecture: dict[str, Any]  # of the encoder
    model: str  # the folder of the model that tokenizer and sizes are of
    scratch: str  # a folder for files

    @classmethod
    def given(cls) -> Job:
        return cls(**json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")))


def peak_rss() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # Linux counts in KB


def say(**values: Any) -> None:
    print(json.dumps(values), flush=True)


def measure(job: Job, read: Callable[[Sequence[str], Sequence[int]], int]) -> None:
    """A line of JSON for each length; `read` takes words and sentence ends, and returns how many clusters it found."""
    read(job.words[: job.word_counts[0]], ends_within(job, job.word_counts[0]))  # the first time costs more
    for length, count in zip(job.lengths, job.word_counts, strict=True):
        words, ends = job.words[:count], ends_within(job, count)
        wall, cpu = time.perf_counter(), time.process_time()
        try:
            clusters = read(words, ends)
        except (MemoryError, RuntimeError) as error:  # torch's own is a RuntimeError
            if not isinstance(error, MemoryError) and not any(word in str(error) for word in ("memory", "alloc")):
                raise
            say(pieces=length, stopped="no memory")
            return
        say(
            pieces=length,
            cpu_seconds=time.process_time() - cpu,
            wall_seconds=time.perf_counter() - wall,
            peak_rss=peak_rss(),
            clusters=clusters,
        )


def ends_within(job: Job, count: int) -> list[int]:
    ends = [end for end in job.sentence_ends if end <= count]
    return ends if ends and ends[-1] == count else [*ends, count]
