"""A server under load: many streams at once against one after the other, in one run, with the bundled model.

    python benchmarks/serve.py                                # 100 streams for two minutes
    python benchmarks/serve.py --streams 20 --seconds 20      # a short try

Both phases feed the same story, from different places on, in parts of 1,200 characters, to a server in a process of its
own. First one caller feeds one stream after the other; then each stream has a caller of its own, all at once. What
counts is the ratio of words a second. The memory of the server is looked at when all streams have been fed for a while,
and at the end; the segments that are encoded or wait for it, four times a second.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import httpx
import psutil  # type: ignore[import-untyped]

from streamcoref.client import AsyncClient, AsyncStream

STORY = Path(__file__).resolve().parent.parent / "examples" / "marigold.txt"
PART = 1200  # characters of a call: about 200 words, of which some fill a segment
WARM_SHARE = 0.25  # of the time, after which memory is looked at for the first time
MB = 1e6


@dataclass
class Load:
    """What one phase has seen."""

    words: int = 0
    seconds: float = 0.0
    latencies: list[float] = field(default_factory=list)

    @property
    def speed(self) -> float:
        return self.words / self.seconds

    def percentile(self, share: int) -> float:
        return 1000 * statistics.quantiles(self.latencies, n=100)[share - 1]


@contextmanager
def server(*arguments: str) -> Iterator[tuple[str, psutil.Process]]:
    """The command with a folder of its own."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        command = [
            sys.executable,
            "-c",
            "from streamcoref.cli import main; main()",
            "serve",
            "--port",
            "0",
            "--data",
            f"{folder}/data",
            *arguments,
        ]
        with log.open("w", encoding="utf-8") as stream:
            process = subprocess.Popen(command, stderr=stream)
        try:
            while not (url := re.search(r"http://[\d.]+:\d+", log.read_text(encoding="utf-8"))):
                if process.poll() is not None:
                    sys.exit(log.read_text(encoding="utf-8"))
                time.sleep(0.05)
            yield url.group(), psutil.Process(process.pid)
        finally:
            process.terminate()
            process.wait()


def parts(text: str, number: int) -> Iterator[str]:
    """The story for ever, from a place of its own for each stream."""
    place = 977 * number % len(text)
    while True:
        yield (text + text)[place : place + PART]
        place = (place + PART) % len(text)


async def feed(stream: AsyncStream, texts: Iterator[str], until: float, load: Load) -> None:
    """Call after call until the time is over."""
    before = stream.status.words
    while time.perf_counter() < until:
        began = time.perf_counter()
        await stream.feed(next(texts))
        load.latencies.append(time.perf_counter() - began)
    load.words += stream.status.words - before


async def one_after_the_other(client: AsyncClient, text: str, streams: int, seconds: float) -> Load:
    load, began = Load(), time.perf_counter()
    for number in range(streams):
        until = began + seconds * (number + 1) / streams
        await feed(await client.stream(), parts(text, number), until, load)
    load.seconds = time.perf_counter() - began
    return load


async def all_at_once(client: AsyncClient, text: str, streams: int, seconds: float) -> Load:
    load = Load()
    opened = [await client.stream() for _ in range(streams)]
    began = time.perf_counter()
    await asyncio.gather(
        *(feed(stream, parts(text, number), began + seconds, load) for number, stream in enumerate(opened))
    )
    load.seconds = time.perf_counter() - began
    return load


async def look(url: str, process: psutil.Process, seconds: float) -> tuple[list[int], list[int]]:
    """The server's memory and its segments under way, four times a second."""
    memory: list[int] = []
    under_way: list[int] = []
    until = time.perf_counter() + seconds
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        while time.perf_counter() < until:
            figures = (await client.get("/metrics")).text
            found = re.search(r"^streamcoref_segments_under_way (\S+)", figures, re.MULTILINE)
            under_way.append(int(float(found.group(1))) if found else 0)
            memory.append(process.memory_info().rss)
            await asyncio.sleep(0.25)
    return memory, under_way


async def measure(url: str, process: psutil.Process, streams: int, seconds: float) -> None:
    text = STORY.read_text(encoding="utf-8")
    async with AsyncClient(url) as client:
        await (await client.stream()).feed(text)  # whatever is made at first use is made now
        single = await one_after_the_other(client, text, min(streams, 5), seconds / 2)
        looking = asyncio.create_task(look(url, process, seconds))
        many = await all_at_once(client, text, streams, seconds)
        memory, under_way = await looking
    start = memory[int(len(memory) * WARM_SHARE)]
    print(f"one after the other  {single.speed:8,.0f} words/s   p50 {single.percentile(50):,.0f} ms")
    print(
        f"{streams} at once        {many.speed:8,.0f} words/s   p50 {many.percentile(50):,.0f} ms   "
        f"p95 {many.percentile(95):,.0f} ms   p99 {many.percentile(99):,.0f} ms   {len(many.latencies):,} calls"
    )
    print(f"ratio                {many.speed / single.speed:8.2f}")
    print(
        f"memory               {start / MB:8,.0f} MB, at the end {memory[-1] / MB:,.0f} MB "
        f"({memory[-1] / start - 1:+.1%})"
    )
    print(f"segments under way   {statistics.mean(under_way):8.1f} on average, {max(under_way)} at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--threads", type=int, default=None, help="CPU threads of the server")
    parser.add_argument("--workers", type=int, default=None, help="its calls at once")
    given = parser.parse_args()
    options = [("--threads", given.threads), ("--workers", given.workers)]
    arguments = [word for name, value in options if value is not None for word in (name, str(value))]
    with server(*arguments) as (url, process):
        asyncio.run(measure(url, process, given.streams, given.seconds))


if __name__ == "__main__":
    main()
