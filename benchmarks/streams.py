"""Many streams at once: what an idle one costs in memory, and what a short text waits for before its first word.

    python benchmarks/streams.py                     # the bundled model, 100 streams
    python benchmarks/streams.py --model FOLDER --streams 1000

Streams of one resolver share the encoder and the folded tables of the pair features, so each has only its entity
memory and its windows of text. Printed are

- `bytes_a_stream`: live tensors and Python's own allocations (numpy's are among them) that each new stream adds;
- `bytes_a_stream_in_talk`: the same after each has read a short text and waits for more;
- `new_stream_over_encoder`, `ten_words_over_encoder`: the time to make a stream, and to resolve ten words, each over
  that of one pass of the encoder over these words. The first should be near 0, the second near 1: nothing else that
  takes time happens before the first word. All are the least of many tries, on the CPU's clock in one thread, which
  other programs disturb little.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
import tracemalloc
from collections.abc import Callable

import torch

from streamcoref import Resolver, load
from streamcoref.text import document_from_text

TEN_WORDS = "Anna saw the ship. She took him to it."
TALK = "Anna saw the ship at the harbour. She took it to him, and he was glad of it. "
TRIES = 50
MB = 1e6


def tensor_bytes() -> int:
    """Of all storages that a live tensor holds on to."""
    gc.collect()
    tensors = [x for x in gc.get_objects() if issubclass(type(x), torch.Tensor)]
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def held() -> int:
    return tensor_bytes() + tracemalloc.get_traced_memory()[0]


def measure_memory(resolver: Resolver, count: int) -> tuple[float, float]:
    resolver.stream().feed(TALK)  # whatever is made once is made now
    tracemalloc.start()
    before = held()
    streams = [resolver.stream() for _ in range(count)]
    idle = held() - before
    for stream in streams:
        stream.feed(TALK * 3)
        stream.flush()
    talking = held() - before
    tracemalloc.stop()
    return idle / count, talking / count


def least(work: Callable[[], object]) -> float:
    """Seconds of the CPU."""
    took = []
    for _ in range(TRIES):
        began = time.process_time()
        work()
        took.append(time.process_time() - began)
    return min(took)


def main() -> None:
    parser = argparse.ArgumentParser(description="What a stream costs before its first word.")
    parser.add_argument("--model", help="a model's folder (default: the bundled one)")
    parser.add_argument("--streams", type=int, default=100, help="how many at once (default 100)")
    options = parser.parse_args()
    resolver = load(options.model, threads=1)
    segments = resolver.checkpoint.segmenter.cut(document_from_text("ten", TEN_WORDS))
    resolver.resolve(TEN_WORDS)
    with torch.inference_mode():
        encoder = least(lambda: resolver.checkpoint.model.encoder(segments))
    new, ten = least(resolver.stream), least(lambda: resolver.resolve(TEN_WORDS))
    idle, talking = measure_memory(resolver, options.streams)
    print(f"{options.streams} idle streams: {options.streams * idle / MB:.1f} MB, each {idle / 1e3:.0f} kB")
    print(f"after {len((TALK * 3).split())} words each: {options.streams * talking / MB:.1f} MB")
    print(f"encoder on ten words {1e3 * encoder:.1f} ms, new stream {1e3 * new:.2f} ms, resolve {1e3 * ten:.1f} ms")
    figures = {
        "streams": options.streams,
        "bytes_a_stream": round(idle),
        "bytes_a_stream_in_talk": round(talking),
        "new_stream_over_encoder": round(new / encoder, 4),
        "ten_words_over_encoder": round(ten / encoder, 3),
    }
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
