"""How much time everything takes over the encoder alone, and how many words of a novel are read in a second.

    python benchmarks/speed.py [--novel FILE] [--before 40] [--segments 40] [--rounds 5] [--threads 1 2]

The bundled model reads a novel. Its first segments, so many `before`, are not measured: they fill the memory, and
from there on each segment costs the same. *Everything* is a stream of the library, fed with raw text: sentences and
words, pieces, segments, encoder, spans, linking, eviction, events. *The encoder alone* is given the very segments that
the stream has just read, in the way that is the fastest with so many threads (each a segment of its own, or all of them
on one), which is tried beforehand.

The two take turns, so that whatever else the machine does weighs on both: segment by segment with one thread, and with
more in groups, since there segments overlap. The figure of a round is the median of its turns' ratios, that of the run
the median of its rounds, with the least and the greatest of them beside it.

- `total_over_encoder_N_threads`: wall time over wall time. The last segment of each group overlaps with none.
- `cpu_over_encoder_N_threads`: the same of the process' time on the CPU, of all its threads together, which a busy
  neighbour disturbs less. Where cores wait for each other it does not show.
- `novel_N_threads`: the same passages read without a pause, as a file is, in turns with the encoder: words a second of
  both, and their ratio.
- `lasting_over_plain`: time on the CPU, with one thread, of a stream that merges entities of one name and brings back
  those that left, as the model does by itself, over one that does neither. The two read each segment in turns, encoder
  included. A text must have been read for a while, `--before 200`, until somebody has left who may come back.
- `compiled_over_numpy`: likewise, with the compiled kernel of link scores over without; `compiled` says whether there
  is one, and where there is none, which is to install without a C compiler, the figures above are numpy's.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple
from unittest.mock import patch

import torch

import streamcoref
from streamcoref.formats.files import CHUNK_BYTES
from streamcoref.model import link_kernel
from streamcoref.model.encoder import Encoder
from streamcoref.model.segments import Segment
from streamcoref.text import document_from_text

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
NOVEL = SHARED / "corpora" / "novels" / "1342_pride_and_prejudice.txt"
GROUP = 8  # segments of a turn where they overlap
EncodeAlone = Callable[[Sequence[Segment]], object]


class Clocks(NamedTuple):
    """Seconds by the clock, and of all threads of this process on the CPU."""

    wall: float
    cpu: float

    @classmethod
    def of(cls, run: Callable[[], object]) -> Clocks:
        wall, cpu = time.perf_counter(), time.process_time()
        run()
        return cls(time.perf_counter() - wall, time.process_time() - cpu)


class Turn(NamedTuple):
    """One go of both."""

    everything: Clocks
    encoder: Clocks
    words: int


class Passage:
    """The beginning of a text: its segments, and for each the raw text up to its end from that of the one before."""

    def __init__(self, text: str, resolver: streamcoref.Resolver, count: int) -> None:
        segmenter, longest = resolver.checkpoint.segmenter, resolver.checkpoint.config.segments.max_pieces
        document = document_from_text("novel", text[: (count + 1) * longest * 6])  # more than enough
        self.segments = segmenter.cut(document)[:count]
        ends = [document.offsets[s.first_word + len(s.words) - 1][1] for s in self.segments]
        self.slices = [text[a:b] for a, b in zip([0, *ends], ends, strict=False)]

    def between(self, first_word: int, end: int) -> list[Segment]:
        """The segments from one word to another."""
        return [s for s in self.segments if first_word <= s.first_word < end]


# The encoder alone


def ways_to_encode(encoder: Encoder, threads: int) -> Iterable[EncodeAlone]:
    pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))

    @torch.inference_mode()
    def one(segment: Segment) -> None:
        encoder([segment])

    def in_threads(segments: Sequence[Segment]) -> object:
        return list(pool.map(one, segments))

    def divided(segments: Sequence[Segment]) -> None:
        for segment in segments:
            one(segment)

    return (divided, in_threads) if threads > 1 else (divided,)


def fastest_way(encoder: Encoder, segments: Sequence[Segment], threads: int) -> EncodeAlone:
    ways = list(ways_to_encode(encoder, threads))
    seconds: list[list[float]] = [[] for _ in ways]
    for trial in range(4):
        for way, taken in zip(ways, seconds, strict=True):
            clocks = Clocks.of(lambda way=way: way(segments))  # type: ignore[misc]
            if trial:
                taken.append(clocks.wall)
    return ways[min(range(len(ways)), key=lambda number: median(seconds[number]))]


# Turns


def take_turns(
    stream: streamcoref.Stream, passage: Passage, feeds: Sequence[Sequence[str]], alone: EncodeAlone
) -> list[Turn]:
    """Each part of `feeds` is given to the stream, and the segments that it read then to the encoder."""
    turns = []

    def read(chunks: Sequence[str]) -> None:
        if len(chunks) == 1:
            stream.feed(chunks[0])
        else:
            for _ in stream.feed_ahead(chunks):
                pass

    for chunks in feeds:
        before = stream.words_read
        everything = Clocks.of(lambda chunks=chunks: read(chunks))  # type: ignore[misc]
        segments = passage.between(before, stream.words_read)
        if segments:
            words = sum(len(segment.words) for segment in segments)
            turns.append(Turn(everything, Clocks.of(lambda segments=segments: alone(segments)), words))  # type: ignore[misc]
    return turns


def grouped(slices: Sequence[str], size: int) -> list[list[str]]:
    return [["".join(slices[first : first + size])] for first in range(0, len(slices), size)]


def in_chunks(text: str) -> list[str]:
    """As a file is read."""
    return [text[first : first + CHUNK_BYTES] for first in range(0, len(text), CHUNK_BYTES)]


def spread(values: Sequence[float]) -> dict[str, float]:
    return {"median": round(median(values), 3), "least": round(min(values), 3), "greatest": round(max(values), 3)}


def ratios(rounds: Sequence[Sequence[Turn]], clock: str) -> list[float]:
    """The median of each round's turns."""
    return [median(getattr(t.everything, clock) / getattr(t.encoder, clock) for t in turns) for turns in rounds]


def measure(text: str, before: int, count: int, threads: int, rounds: int) -> dict[str, Any]:
    torch.set_num_threads(threads)
    resolver = streamcoref.load(threads=threads)  # with a pool of its own
    passage = Passage(text, resolver, before + count)
    alone = fastest_way(resolver.checkpoint.model.encoder, passage.segments[: 2 * threads], threads)
    by_turns = grouped(passage.slices[before:], 1 if threads == 1 else GROUP)
    whole = [in_chunks("".join(passage.slices[before:]))]
    stream = resolver.stream()
    stream.feed("".join(passage.slices[:before]))
    begin = stream.state()
    turns: list[list[Turn]] = []
    novel: list[list[Turn]] = []
    for _ in range(rounds):
        turns.append(take_turns(resolver.stream(begin), passage, by_turns, alone))
        novel.append(take_turns(resolver.stream(begin), passage, whole, alone))
    name = f"{threads}_thread{'s' if threads > 1 else ''}"
    whole_runs = [turn for (turn,) in novel]
    return {
        f"total_over_encoder_{name}": spread(ratios(turns, "wall")),
        f"cpu_over_encoder_{name}": spread(ratios(turns, "cpu")),
        f"novel_{name}": {
            "over_encoder": spread(ratios(novel, "wall")),
            "cpu_over_encoder": spread(ratios(novel, "cpu")),
            "words_per_second": spread([turn.words / turn.everything.wall for turn in whole_runs]),
            "encoder_words_per_second": spread([turn.words / turn.encoder.wall for turn in whole_runs]),
        },
        f"encoder_alone_{name}": alone.__name__,
    }


def lasting_over_plain(text: str, before: int, count: int, rounds: int) -> dict[str, Any]:
    resolver, passage = in_one_thread(text, before + count)
    begin = []
    for stream in (resolver.stream(), resolver.stream(merge=0, revive=0)):
        stream.feed("".join(passage.slices[:before]))
        begin.append(stream.state())
    found = []
    for _ in range(rounds):
        lasting, plain = (resolver.stream(state) for state in begin)
        feeds = [(partial(lasting.feed, text), partial(plain.feed, text)) for text in passage.slices[before:]]
        found.append(median(Clocks.of(one).cpu / Clocks.of(other).cpu for one, other in feeds))
    return {"lasting_over_plain": spread(found)}


def compiled_over_numpy(text: str, before: int, count: int, rounds: int) -> dict[str, Any]:
    kernel = link_kernel.library
    if kernel() is None:
        return {"compiled": False}
    resolver, passage = in_one_thread(text, before + count)
    stream = resolver.stream()
    stream.feed("".join(passage.slices[:before]))
    begin = stream.state()

    def feed(stream: streamcoref.Stream, text: str, compiled: bool) -> None:
        with patch.object(link_kernel, "library", kernel if compiled else lambda: None):
            stream.feed(text)

    found = []
    for _ in range(rounds):
        one, other = (resolver.stream(begin) for _ in range(2))
        feeds = [
            (partial(feed, one, text, True), partial(feed, other, text, False)) for text in passage.slices[before:]
        ]
        found.append(median(Clocks.of(one).cpu / Clocks.of(other).cpu for one, other in feeds))
    return {"compiled": True, "compiled_over_numpy": spread(found)}


def in_one_thread(text: str, count: int) -> tuple[streamcoref.Resolver, Passage]:
    torch.set_num_threads(1)
    resolver = streamcoref.load(threads=1)
    return resolver, Passage(text, resolver, count)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--novel", type=Path, default=NOVEL)
    parser.add_argument("--before", type=int, default=40)
    parser.add_argument("--segments", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    if not options.novel.is_file():
        print(
            f"no novel {options.novel}: name one with --novel, or set STREAMCOREF_SHARED to the folder of the corpora"
        )
        return
    text = options.novel.read_text(encoding="utf-8")
    figures: dict[str, Any] = {"before": options.before, "segments": options.segments, "rounds": options.rounds}
    runs: list[Callable[..., dict[str, Any]]] = [partial(measure, threads=threads) for threads in options.threads]
    for run in [*runs, lasting_over_plain, compiled_over_numpy]:
        found = run(text, options.before, options.segments, rounds=options.rounds)
        figures |= found
        for name, value in found.items():
            print(f"{name:34} {value}", flush=True)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
