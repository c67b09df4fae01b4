"""One text on a Ray cluster: words a second with 1 and 2 workers, and what the way to them and back costs.

    python benchmarks/cluster.py [--novel FILE] [--segments 40] [--rounds 3]

A cluster of this machine's own reads the beginning of a novel with the bundled model; it needs the extra `ray`. All
ways take turns in one run, each on one thread, so that whatever else the machine does weighs on all of them: ratios
count.

- `words_per_second`: of this process alone, and with so many workers; `two_over_one` is the ratio of the latter.
- `encode_seconds`, `link_seconds`: of the processor for a thousand words. *Encode* is encoder and spans, which any
  number of machines share; *link* is all else, which one does: words, pieces, segments, linking, eviction, events.
  `most_workers` is how many workers one linker keeps busy: with more it is the limit.
- `receive_seconds`: what the linker pays besides, for a thousand words, to send segments and receive spans.
- `transfer_share`: the way of a segment to a worker and of its spans back, by the clock, with a worker that answers at
  once, as a share of that and the encoding together.
- `bytes`: of a segment on its way to a worker, of the spans that come back, and of the piece vectors that would.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import mean, median
from typing import Any

import torch

import streamcoref
from streamcoref.formats.files import CHUNK_BYTES
from streamcoref.integrations.extras import import_extra
from streamcoref.integrations.ray_encoders import SpansOnTheWay, on_cluster, on_the_way
from streamcoref.model.segments import Segment
from streamcoref.text import document_from_text

SHARED = Path(os.environ.get("STREAMCOREF_SHARED", Path(__file__).resolve().parents[2] / "shared"))
NOVEL = SHARED / "corpora" / "novels" / "1342_pride_and_prejudice.txt"


class Echo:
    """An actor that answers at once with what an encoder has answered before."""

    def __init__(self, answers: Sequence[SpansOnTheWay]) -> None:
        self.answers = answers

    def spans(self, segment: Segment, _scheme: int) -> SpansOnTheWay:
        return self.answers[segment.number]


def wall(run: Callable[[], object]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def on_the_processor(run: Callable[[], object]) -> float:
    """Seconds of this thread."""
    began = time.thread_time()
    run()
    return time.thread_time() - began


def passage(text: str, resolver: streamcoref.Resolver, count: int) -> tuple[str, list[Segment]]:
    """The beginning of a text as so many segments."""
    longest = resolver.checkpoint.config.segments.max_pieces
    document = document_from_text("novel", text[: (count + 1) * longest * 6])  # more than enough
    segments = resolver.checkpoint.segmenter.cut(document)[:count]
    return text[: document.offsets[segments[-1].first_word + len(segments[-1].words) - 1][1]], segments


def read(resolver: streamcoref.Resolver, text: str) -> list[streamcoref.Event]:
    """As a file is read."""
    stream = resolver.stream()
    parts = (text[first : first + CHUNK_BYTES] for first in range(0, len(text), CHUNK_BYTES))
    events = [event for found in stream.feed_ahead(parts) for event in found]
    return events + stream.close()


def cluster() -> Any:
    """Ray, with room for all workers of all ways, none of which is behind the others."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray = import_extra("ray", "ray")
    ray.init(
        address="local",
        num_cpus=3,
        include_dashboard=False,
        object_store_memory=200 << 20,
        log_to_driver=False,
        logging_level=logging.ERROR,
        _system_config={"worker_niceness": 0, "worker_register_timeout_seconds": 900},
    )
    return ray


def measure(text: str, count: int, rounds: int) -> dict[str, Any]:
    ray = cluster()
    here = streamcoref.load(threads=1)
    model = here.checkpoint.model
    text, segments = passage(text, here, count)
    words = sum(len(segment.words) for segment in segments)

    @torch.inference_mode()
    def encode() -> list[SpansOnTheWay]:
        return [SpansOnTheWay.of(model.spans(model.encoder([each])[0], each)) for each in segments]

    ways = {"alone": here, "1": on_cluster(here, ray, 1), "2": on_cluster(here, ray, 2)}
    expected = read(here, text)
    answers = encode()
    echo = ray.remote(Echo).remote(answers)

    def echoed() -> None:
        for segment in segments:
            ray.get(echo.spans.remote(on_the_way(segment), 0))

    seconds: dict[str, list[float]] = {
        name: [] for name in (*ways, "encode", "encode_cpu", "alone_cpu", "1_cpu", "echo")
    }
    for resolver in ways.values():  # to warm up, and to be sure
        assert read(resolver, text) == expected
    echoed()
    for _ in range(rounds):
        for name, resolver in ways.items():
            seconds[name].append(wall(lambda resolver=resolver: read(resolver, text)))  # type: ignore[misc]
        for name in ("alone", "1"):
            seconds[f"{name}_cpu"].append(on_the_processor(lambda name=name: read(ways[name], text)))  # type: ignore[misc]
        seconds["encode_cpu"].append(on_the_processor(encode))
        seconds["encode"].append(wall(encode))
        seconds["echo"].append(wall(echoed))
    taken = {name: median(values) for name, values in seconds.items()}
    encoding = taken["encode_cpu"]
    linking = max(taken["alone_cpu"] - encoding, 0.0)
    sizes = {
        "segment": mean(len(ray.cloudpickle.dumps(on_the_way(segment))) for segment in segments),
        "spans": mean(len(ray.cloudpickle.dumps(answer)) for answer in answers),
        "pieces": mean(4 * len(segment) * model.encoder.hidden_size for segment in segments),
    }
    return {
        "words": words,
        "segments": len(segments),
        "spans_a_segment": round(mean(len(answer.starts) for answer in answers), 1),
        "words_per_second": {name: round(words / taken[name], 1) for name in ways},
        "two_over_one": round(taken["1"] / taken["2"], 3),
        "encode_seconds": round(1000 * encoding / words, 3),
        "link_seconds": round(1000 * linking / words, 3),
        "receive_seconds": round(1000 * (taken["1_cpu"] - linking) / words, 3),
        "most_workers": round(encoding / taken["1_cpu"], 1),
        "transfer_share": round(taken["echo"] / (taken["echo"] + taken["encode"]), 4),
        "bytes": {name: round(size) for name, size in sizes.items()},
        "spans_over_pieces": round(sizes["spans"] / sizes["pieces"], 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--novel", type=Path, default=NOVEL)
    parser.add_argument("--segments", type=int, default=40)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    if not options.novel.is_file():
        print(
            f"no novel {options.novel}: name one with --novel, or set STREAMCOREF_SHARED to the folder of the corpora"
        )
        return
    try:
        found = measure(options.novel.read_text(encoding="utf-8"), options.segments, options.rounds)
    except streamcoref.StreamcorefError as error:
        print(error)
        return
    for name, value in found.items():
        print(f"{name:20} {value}")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
