"""A server under load: many streams at once against one after the other, in one run, with the bundled model.

    python benchmarks/serve.py                                            # about six minutes
    python benchmarks/serve.py --streams 20 --seconds 30 --chats 500      # a short try
    python benchmarks/serve.py --streams 8 --seconds 300 --memory         # memory alone

Everything is fed to a server in a process of its own: a story, from different places on, in parts of 1,200 characters.

- One caller feeds one stream after the other; then each stream has a caller of its own, all at once; and so on in
  turns, so that whatever else the machine does is shared. What counts is the ratio of words a second. Processor time
  shows how many cores were busy, and what a thousand words cost.
- One stream alone uses more than one core already: a segment that has the machine for itself is divided. What two cores
  could do at best is twice what a server with `--threads 1` does for one stream: that is the `bound` of the ratio.
- All streams are fed at half the speed that was reached: how long a call takes when there is no queue of a hundred.
- Memory is looked at four times a second; the growth is that of the median from the first turn to the last. Before the
  first turn every stream holds as many entities as it ever will and has been fed: what a stream needs until it is full
  is no growth of a server.
- Many chats are opened, each with a past, and some of them called: the memory that the others need.

The last line is JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import re
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]

from streamcoref.client import AsyncClient, AsyncStream

STORY = Path(__file__).resolve().parent.parent / "examples" / "marigold.txt"
PART = 1200  # characters of a call: about 200 words, of which some fill a segment
ROUNDS = 4
MESSAGES = 5  # that a chat has had before it is opened
MB = 1e6

Fed = list[tuple[AsyncStream, Iterator[str]]]  # each with what it is fed


@dataclass
class Load:
    """What one kind of load has seen."""

    words: int = 0
    seconds: float = 0.0
    processor: float = 0.0  # seconds of the server
    latencies: list[float] = field(default_factory=list)
    under_way: list[int] = field(default_factory=list)
    memory: list[int] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return self.words / self.seconds

    def figures(self) -> dict[str, Any]:
        percentiles = statistics.quantiles(self.latencies, n=100)
        return {
            "words_a_second": round(self.speed),
            "cores_busy": round(self.processor / self.seconds, 2),
            "processor_ms_for_1000_words": round(1e6 * self.processor / self.words),
            "calls": len(self.latencies),
            **{f"p{share}_ms": round(1000 * percentiles[share - 1]) for share in (50, 95, 99)},
            "segments_under_way": [round(statistics.mean(self.under_way), 1), max(self.under_way)],
        }


@dataclass(frozen=True)
class Server:
    url: str
    process: psutil.Process

    @property
    def processor(self) -> float:
        times = self.process.cpu_times()
        return float(times.user + times.system)

    @property
    def memory(self) -> int:
        return int(self.process.memory_info().rss)


@contextmanager
def serving(*arguments: str) -> Iterator[Server]:
    """The command with a folder of its own."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [sys.executable, "-c", "from streamcoref.cli import main; main()", "serve", "--port", "0"]
        with log.open("w", encoding="utf-8") as stream:
            process = subprocess.Popen([*command, "--data", f"{folder}/data", *arguments], stderr=stream)
        try:
            while not (url := re.search(r"http://[\d.]+:\d+", log.read_text(encoding="utf-8"))):
                if process.poll() is not None:
                    sys.exit(log.read_text(encoding="utf-8"))
                time.sleep(0.05)
            yield Server(url.group(), psutil.Process(process.pid))
        finally:
            process.terminate()
            process.wait()


def parts(text: str, number: int) -> Iterator[str]:
    """The story for ever, from a place of its own for each stream."""
    place = 977 * number % len(text)
    while True:
        yield (text + text)[place : place + PART]
        place = (place + PART) % len(text)


@asynccontextmanager
async def measured(server: Server, load: Load) -> AsyncIterator[None]:
    """Adds time and processor time; looks at memory and at the segments under way four times a second."""

    async def look() -> None:
        async with httpx.AsyncClient(base_url=server.url, timeout=60) as client:
            while True:
                figures = (await client.get("/metrics")).text
                found = re.search(r"^streamcoref_segments_under_way (\S+)", figures, re.MULTILINE)
                load.under_way.append(int(float(found.group(1))) if found else 0)
                load.memory.append(server.memory)
                await asyncio.sleep(0.25)

    began, processor = time.perf_counter(), server.processor
    looking = asyncio.create_task(look())
    yield
    looking.cancel()
    load.seconds += time.perf_counter() - began
    load.processor += server.processor - processor


async def feed(stream: AsyncStream, texts: Iterator[str], until: float, load: Load, pause: float = 0.0) -> None:
    """Call after call until the time is over, with a `pause` after each."""
    before = stream.status.words
    await asyncio.sleep(random.uniform(0.0, pause))
    while time.perf_counter() < until:
        began = time.perf_counter()
        await stream.feed(next(texts))
        load.latencies.append(time.perf_counter() - began)
        await asyncio.sleep(random.uniform(0.5, 1.5) * pause)
    load.words += stream.status.words - before


async def past_of(client: AsyncClient, text: str) -> bytes:
    """The state of a stream that holds as many entities as it ever will: to read the story once more adds none."""
    first, before = await client.stream(), -1
    while first.status.alive > before:
        before = first.status.alive
        await first.feed(text)
    state = await first.state()
    await first.remove()
    return state


async def one_alone(client: AsyncClient, server: Server, past: bytes, text: str, seconds: float, load: Load) -> None:
    stream = await client.stream(past)
    async with measured(server, load):
        await feed(stream, parts(text, len(load.latencies)), time.perf_counter() + seconds, load)
    await stream.remove()  # or it would be in memory while those of the next turn are looked at


async def at_once(server: Server, fed: Fed, until: float, load: Load) -> None:
    async with measured(server, load):
        await asyncio.gather(*(feed(stream, texts, until, load) for stream, texts in fed))


async def full_streams(client: AsyncClient, server: Server, past: bytes, text: str, number: int, seconds: float) -> Fed:
    """Streams that hold what they ever will, and have been fed for a while.

    The allocator needs some calls of each until the gaps between its blocks are as many as they stay.
    """
    fed = [(await client.stream(past), parts(text, place)) for place in range(number)]
    await at_once(server, fed, time.perf_counter() + seconds / 2, Load())  # not counted
    return fed


def growth(memory: list[float]) -> dict[str, Any]:
    """Of medians, turn by turn."""
    return {
        "memory_mb": [round(size / MB) for size in memory],
        "memory_growth_percent": round(100 * (memory[-1] / memory[0] - 1), 1),
    }


async def memory_alone(client: AsyncClient, server: Server, text: str, streams: int, seconds: float) -> dict[str, Any]:
    """All at once for so long, in turns."""
    fed = await full_streams(client, server, await past_of(client, text), text, streams, seconds)
    memory, calls = [], 0
    for _ in range(ROUNDS):
        load = Load()
        await at_once(server, fed, time.perf_counter() + seconds / ROUNDS, load)
        memory.append(statistics.median(load.memory))
        calls += len(load.latencies)
    return {
        "entities_of_a_stream": fed[0][0].status.alive,
        "calls_of_a_stream": round(calls / streams),
        **growth(memory),
    }


async def throughput(client: AsyncClient, server: Server, text: str, streams: int, seconds: float) -> dict[str, Any]:
    """One after the other and all at once, in turns; then all at half the speed."""
    past = await past_of(client, text)
    fed = await full_streams(client, server, past, text, streams, seconds)
    one, many, half = Load(), Load(), Load()
    memory = []
    for _ in range(ROUNDS):
        await one_alone(client, server, past, text, seconds / ROUNDS / 2, one)
        many.memory.clear()
        await at_once(server, fed, time.perf_counter() + seconds / ROUNDS, many)
        memory.append(statistics.median(many.memory))
    words_a_call = many.words / len(many.latencies)
    pause = 2 * streams * words_a_call / many.speed
    until = time.perf_counter() + max(seconds / 2, 2 * pause)
    async with measured(server, half):
        await asyncio.gather(*(feed(stream, texts, until, half, pause) for stream, texts in fed))
    return {
        "entities_of_a_stream": fed[0][0].status.alive,
        "one_after_the_other": one.figures(),
        "all_at_once": many.figures(),
        "at_half_the_speed": half.figures(),
        "ratio": round(many.speed / one.speed, 2),
        **growth(memory),
    }


async def open_chats(client: AsyncClient, server: Server, text: str, chats: int) -> dict[str, Any]:
    """Chats that all have said something, and are called in any order now and then."""
    first = await client.stream()
    for number, message in enumerate(text.split("\n\n")[:MESSAGES]):
        await first.feed(message, f"Speaker {number % 2}", end_turn=True)
    await first.flush()
    state = await first.state()
    opened, memory = [first.id], []
    began = time.perf_counter()
    for number in range(1, chats):
        opened.append((await client.stream(state)).id)
        if number in (chats // 10, chats - 1):
            memory.append(server.memory)
    seconds = time.perf_counter() - began
    latencies = []
    for id_ in random.sample(opened, min(200, chats)):
        stream = await client.open_stream(id_)
        began = time.perf_counter()
        await stream.feed("She asked him about the letter. ", "Speaker 1", end_turn=True)
        await stream.flush()
        latencies.append(time.perf_counter() - began)
    async with httpx.AsyncClient(base_url=server.url) as http:
        held = re.search(r"^streamcoref_streams_in_memory (\S+)", (await http.get("/metrics")).text, re.MULTILINE)
    assert held
    return {
        "chats": chats,
        "in_memory": int(float(held.group(1))),
        "state_kb": round(len(state) / 1000),
        "opened_a_second": round(chats / seconds),
        "memory_mb_with_a_tenth": round(memory[0] / MB),
        "memory_mb_with_all": round(memory[-1] / MB),
        "memory_mb_after_calls": round(server.memory / MB),
        "message_and_flush_p50_ms": round(1000 * statistics.median(latencies)),
    }


async def measure(streams: int, seconds: float, chats: int, arguments: list[str]) -> dict[str, Any]:
    text = STORY.read_text(encoding="utf-8")
    with serving(*arguments) as server:
        async with AsyncClient(server.url) as client:
            found = {"streams": streams, **await throughput(client, server, text, streams, seconds)}
    show(found)
    with serving("--threads", "1", "--workers", "1") as server:
        async with AsyncClient(server.url) as client:
            one_core = Load()
            await one_alone(client, server, await past_of(client, text), text, seconds / ROUNDS, one_core)
    found["one_thread"] = one_core.figures()
    found["bound"] = round(2 * one_core.speed / found["one_after_the_other"]["words_a_second"], 2)
    show({name: found[name] for name in ("one_thread", "bound")})
    with serving() as server:
        async with AsyncClient(server.url) as client:
            found["open_chats"] = await open_chats(client, server, text, chats)
    show({"open_chats": found["open_chats"]})
    return found


async def measure_memory(streams: int, seconds: float, arguments: list[str]) -> dict[str, Any]:
    text = STORY.read_text(encoding="utf-8")
    with serving(*arguments) as server:
        async with AsyncClient(server.url) as client:
            return {"streams": streams, **await memory_alone(client, server, text, streams, seconds)}


def show(figures: dict[str, Any]) -> None:
    for name, value in figures.items():
        print(f"{name:22} {json.dumps(value)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120.0, help="for all streams at once")
    parser.add_argument("--chats", type=int, default=10_000)
    parser.add_argument("--workers", type=int, default=None, help="calls that the server works on at once")
    parser.add_argument("--memory", action="store_true", help="look at nothing but the memory of all streams at once")
    given = parser.parse_args()
    arguments = [] if given.workers is None else ["--workers", str(given.workers)]
    if given.memory:
        measuring = measure_memory(given.streams, given.seconds, arguments)
    else:
        measuring = measure(given.streams, given.seconds, given.chats, arguments)
    print(json.dumps(asyncio.run(measuring)))


if __name__ == "__main__":
    main()
