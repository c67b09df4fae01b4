"""Random Unicode, random chunkings, random stops and random kills, for as long as one asks; every answer is compared.

    python benchmarks/soak.py                        # a minute, on the bundled model
    python benchmarks/soak.py --seconds 3600         # an hour
    python benchmarks/soak.py --model FOLDER         # another model
    python benchmarks/soak.py --case kills:7-12      # one case again, as a failure names it

Each case is a text made by its seed, read once without disturbance and once with, and both must give the same:

- `splitting`: words and sentences of a text that comes in random chunks, its splitter saved and restored now and then.
- `chunks`: the events of a stream that is fed in random chunks, and the document that `resolve` makes of the text.
- `stops`: a stream with speakers, words, turns and pauses among its text, whose state is saved and loaded at random
  places.
- `neighbours`: several texts that are read by streams of one resolver in turn, a piece of each at a time.
- `kills`: the command `streamcoref resolve FILE -o STORE`, ended at random moments by SIGKILL, SIGTERM or SIGINT and
  given again until it is done. The file may have bytes that are no characters.

The kinds share the time: the next case is always of the kind that has had the least. A case that fails is named on
standard error, and the script ends with status 1. The peak of RSS after the first tenth of the time and at the end
tells whether anything is kept that should not be.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamcoref import EntityStarted, Event, MentionLinked, Resolver, Stream, StreamcorefError, load
from streamcoref.events import with_answer
from streamcoref.text import document_from_text, split_text
from streamcoref.text.splitter import TextSplitter

COMMAND = [sys.executable, "-c", "from streamcoref.cli import main; main()"]
SENTENCES = (
    "Anna Weber saw the captain of the old ship. He gave her a letter, and she read it at once. ",
    "“I will not go,” said Mr. Doyle, “and you will not, either.” His sister laughed at him. ",
    "The keeper's daughter left the lighthouse at 6 a.m. with two of her friends; they took its lamp. ",
    "Nobody knew why the company had sold its ships to Lindqvist & Sons.\n\n",
    "The U.S. Navy lost them in 1912...\r\nIt said so itself. ",
    "_Her_ brother (Tom) wasn't there. Don't ask him! ",
    "\n\n“Anna, you are late,” said Tom.\n\n“I know,” she said. “Is he here?”\n\n“Who?”\n\n",
)
FRAGMENTS = (
    *["\r\n", "\n\n", "\n", "\t", "  ", "\ufeff", "\u200b", "\u200d", "\x00", "\u2028", "\u0301", "\u00ad", "\x1b[31m"],
    *[
        "cafe\u0301",
        "👨\u200d👩\u200d👧",
        "👍🏽",
        "🇳🇿",
        "שָׁלוֹם",
        "\u200fمرحبا",
        "他来了。",
        "ประเทศไทย",
        "Mr. Lee",
        "Anna’s",
    ],
    *[
        "https://x.org/a?b=1",
        "“No!”",
        "(he",
        "she)",
        "...",
        "U.S.",
        "No. 5",
        "x" * 130,
        " " * 1100,
        "well--yes",
        "’" * 9,
    ],
    *["a-" * 40, "=" * 300, "3.14,15:92/65", "'twas", "I'd've", "@", "e.g.", "<b>her</b>", "{}", '"', "`", "//"],
)
PLANES = ((0x20, 0x7F), (0x00, 0x250), (0x250, 0x2100), (0x2000, 0x3100), (0x3000, 0xD800), (0xE000, 0x110000))
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"singletons": True},
    {"min_score": 0.6},
    {"evict": "none"},
    {"evict": "none:budget=3"},
    {"singletons": True, "evict": "one_distance:distance=40"},
    {"evict": "one_distance:distance=10"},
    {"evict": "none:budget=5", "merge": 1, "revive": 5},
)
SIGNALS = (signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
MOST_KILLS = 6
MB = 1e6


class Difference(Exception):  # noqa: N818 (what is sought)
    """Two answers that should be the same are not."""


def same(what: str, left: object, right: object) -> None:
    if left != right:
        shown = ascii(left), ascii(right)
        place = next((i for i, (a, b) in enumerate(zip(*shown, strict=False)) if a != b), min(map(len, shown)))
        around = [one[max(0, place - 200) : place + 200] for one in shown]
        raise Difference(f"{what} differ:\n  ...{around[0]}\n  ...{around[1]}")


# Texts and what is done with them


def random_text(choose: random.Random, parts: int) -> str:
    """Sentences that a model finds something in, with everything else among them; half characters are possible."""
    wild = choose.choice((0.05, 0.3, 0.7))
    return "".join(random_part(choose) if choose.random() < wild else choose.choice(SENTENCES) for _ in range(parts))


def random_part(choose: random.Random) -> str:
    kind = choose.random()
    if kind < 0.5:
        return choose.choice(FRAGMENTS) + choose.choice(("", " "))
    if kind < 0.53:
        return "\ud800" if choose.random() < 0.5 else chr(choose.randrange(0xDC00, 0xE000))
    low, high = choose.choice(PLANES)
    return "".join(chr(choose.randrange(low, high)) for _ in range(choose.randint(1, 12)))


def random_chunks(choose: random.Random, text: str) -> list[str]:
    """All at once, single characters, or anything between; some are empty."""
    cuts = choose.choice((0, 1, 3, 30, min(len(text), 400)))
    bounds = [0, *sorted(choose.randint(0, len(text)) for _ in range(cuts)), len(text)]
    return [text[a:b] for a, b in pairwise(bounds)]


def all_events(stream: Stream, chunks: list[str]) -> list[Event]:
    return [event for chunk in chunks for event in stream.feed(chunk)] + stream.close()


# Kinds of cases


@dataclass
class Soak:
    """What the cases share, and what they have counted besides themselves."""

    resolver: Resolver
    model: str | None
    counts: dict[str, int] = field(default_factory=dict)

    def count(self, what: str, number: int = 1) -> None:
        self.counts[what] = self.counts.get(what, 0) + number

    def splitting(self, choose: random.Random) -> None:
        text = random_text(choose, choose.randint(1, 60))
        splitter = TextSplitter()
        words: list[tuple[int, int]] = []
        ends: list[int] = []
        for chunk in [*random_chunks(choose, text), None]:
            split = splitter.read(chunk or "", final=chunk is None)
            ends += [len(words) + end for end in split.ends]
            words += [(split.begin + start, split.begin + end) for start, end in split.words]
            if choose.random() < 0.2:
                splitter = TextSplitter.from_values(json.loads(json.dumps(splitter.to_values(), ensure_ascii=False)))
                self.count("splitters_restored")
        same("words and sentences", (words, ends), split_text(text))

    def chunks(self, choose: random.Random) -> None:
        text, options = random_text(choose, choose.randint(1, 40)), choose.choice(OPTIONS)
        expected = all_events(self.resolver.stream(**options), [text])
        same("events", all_events(self.resolver.stream(**options), random_chunks(choose, text)), expected)
        document = self.resolver.resolve(text, **options)
        # Clusters, scores, types and quotations.
        same("answers", with_answer(document_from_text(document.key, text), expected), document)
        for event in expected:
            if isinstance(event, EntityStarted | MentionLinked):
                same("characters", text[event.mention.start : event.mention.end], event.mention.text)
                self.count("mentions_compared")
        self.count("quotations_compared", len(document.quotations))

    def stops(self, choose: random.Random) -> None:
        text, options = random_text(choose, choose.randint(1, 40)), choose.choice(OPTIONS)
        whole, stopped = self.resolver.stream(**options), self.resolver.stream(**options)
        expected: list[Event] = []
        events: list[Event] = []
        speaker = None
        for chunk in random_chunks(choose, text):
            if choose.random() < 0.1:
                speaker = choose.choice((None, "Anna", "Tom", "\u0301"))
            deed = random_deed(choose, chunk, speaker)
            expected += deed(whole)
            events += deed(stopped)
            if choose.random() < 0.3:
                state = stopped.state()
                stopped = self.resolver.stream(state)
                same("states", stopped.state(), state)
                self.count("states_restored")
        same("events", events + stopped.close(), expected + whole.close())

    def neighbours(self, choose: random.Random) -> None:
        texts = [random_text(choose, choose.randint(1, 20)) for _ in range(choose.randint(2, 5))]
        streams = [self.resolver.stream() for _ in texts]
        rest = [random_chunks(choose, text) for text in texts]
        events: list[list[Event]] = [[] for _ in texts]
        while any(rest):
            number = choose.choice([i for i, chunks in enumerate(rest) if chunks])
            events[number] += streams[number].feed(rest[number].pop(0))
        for number, text in enumerate(texts):
            alone = all_events(self.resolver.stream(), [text])
            same("events", events[number] + streams[number].close(), alone)
            self.count("links_compared", sum(isinstance(event, MentionLinked) for event in alone))

    def kills(self, choose: random.Random) -> None:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            file, whole, store = folder / "text.txt", folder / "whole.sqlite", folder / "store.sqlite"
            data = random_text(choose, choose.randint(100, 500)).encode("utf-8", "replace")
            if choose.random() < 0.5:
                data = with_bad_bytes(choose, data)
            file.write_bytes(data)
            began = time.monotonic()
            with closing(self.resolver.resolve_file(file, whole, errors="replace", format="text")):
                took = time.monotonic() - began + 3  # a process also has to begin
            command = [*COMMAND, "resolve", str(file), "-o", str(store), "--errors", "replace", "--from", "text"]
            command += ["--model", self.model] if self.model else []
            environment = os.environ | {"OMP_NUM_THREADS": "1"}
            for _ in range(choose.randint(1, MOST_KILLS)):
                self.disturb(choose, command, environment, choose.uniform(0, took))
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                raise Difference(f"the command ended with status {done.returncode}: {done.stderr}")
            same("rows", rows(store), rows(whole))
            left = sorted(path.name for path in folder.iterdir())
            same("files", left, ["store.sqlite", "text.txt", "whole.sqlite"])

    def disturb(self, choose: random.Random, command: list[str], environment: dict[str, str], seconds: float) -> None:
        """Begin the command and end it after a while by some signal; it may have come to its own end."""
        number = choose.choice(SIGNALS)
        with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            try:
                _, said = process.communicate(timeout=seconds)
            except subprocess.TimeoutExpired:
                process.send_signal(number)
                _, said = process.communicate()
                self.count(f"processes_ended_by_{signal.Signals(number).name}")
                if number == signal.SIGKILL or process.returncode in (0, -number):
                    return
                if b"Traceback" in said and b"KeyboardInterrupt" not in said:
                    raise Difference(f"after {signal.Signals(number).name}: {said.decode()}") from None
                return
        if process.returncode:
            raise Difference(f"the command ended with status {process.returncode}: {said.decode()}")


KINDS: dict[str, Callable[[Soak, random.Random], None]] = {
    "splitting": Soak.splitting,
    "chunks": Soak.chunks,
    "stops": Soak.stops,
    "neighbours": Soak.neighbours,
    "kills": Soak.kills,
}


def random_deed(choose: random.Random, chunk: str, speaker: str | None) -> Callable[[Stream], list[Event]]:
    """Something to be done with a stream, twice in the same way."""
    kind = choose.random()
    if kind < 0.05:
        return lambda stream: stream.feed(chunk, speaker) + stream.flush()
    if kind < 0.1:
        return lambda stream: stream.feed(chunk, speaker) + stream.end_turn()
    if kind < 0.2:
        sentences = [sentence.split() for sentence in chunk.split(".")]
        return lambda stream: stream.feed_words(sentences, speaker)
    return lambda stream: stream.feed(chunk, speaker)


def with_bad_bytes(choose: random.Random, data: bytes) -> bytes:
    """Some bytes of a text changed into any others: characters cut in two, and bytes that UTF-8 never has."""
    changed = bytearray(data)
    for _ in range(choose.randint(1, 50)):
        changed[choose.randrange(len(changed))] = choose.randrange(256)
    return bytes(changed)


def rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """All that a store holds but the name of its model, which is only for people."""
    with closing(sqlite3.connect(path)) as connection:
        found = {
            table: connection.execute(f"SELECT rowid, * FROM {table} ORDER BY rowid").fetchall()
            for table in ("entities", "mentions", "quotations", "merges", "sections")
        }
        columns = [row[1] for row in connection.execute("PRAGMA table_info(input)") if row[1] != "model"]
        found["input"] = connection.execute(f"SELECT {', '.join(columns)} FROM input").fetchall()
    return found


# The run


def run_case(soak: Soak, kind: str, seed: str) -> bool:
    """Whether a case went well; if not, it is named with what was found."""
    try:
        KINDS[kind](soak, random.Random(f"{kind}:{seed}"))
    except (Difference, StreamcorefError) as error:
        found = str(error)
    except Exception:  # any other error is as much a finding, and the soak goes on
        found = traceback.format_exc()
    else:
        return True
    print(f"FAILED --case {kind}:{seed}\n{found}", file=sys.stderr, flush=True)
    return False


def run(soak: Soak, seconds: float, seed: str, kinds: list[str]) -> dict[str, Any]:
    cases = dict.fromkeys(kinds, 0)
    failed = dict.fromkeys(kinds, 0)
    spent = dict.fromkeys(kinds, 0.0)
    slowest = dict.fromkeys(kinds, (0.0, ""))
    began, early = time.monotonic(), 0
    while (passed := time.monotonic() - began) < seconds:
        if not early and passed > seconds / 10:
            early = peak_rss()
        kind = min(kinds, key=lambda name: spent[name])
        case, start, start_cpu = f"{seed}-{cases[kind]}", time.monotonic(), time.process_time()
        failed[kind] += not run_case(soak, kind, case)
        spent[kind] += time.monotonic() - start
        slowest[kind] = max(slowest[kind], (round(time.process_time() - start_cpu, 2), case))
        cases[kind] += 1
        if sum(cases.values()) % 1000 == 0:
            print(f"{passed:7.0f} s  {cases}  failed {sum(failed.values())}", flush=True)
    return {
        "seconds": round(time.monotonic() - began),
        "seed": seed,
        "cases": cases,
        "failed": failed,
        "counts": dict(sorted(soak.counts.items())),
        "slowest_cpu_seconds": slowest,
        "peak_rss_early_mb": round(early / MB),
        "peak_rss_mb": round(peak_rss() / MB),
    }


def peak_rss() -> int:
    return 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # Linux counts in KB


def main() -> None:
    parser = argparse.ArgumentParser(description="Random texts, chunkings, stops and kills; every answer is compared.")
    parser.add_argument("--seconds", type=float, default=60, help="how long to go on (default 60)")
    parser.add_argument("--seed", default=None, help="of all cases (default: another one each time)")
    parser.add_argument("--model", help="a model's folder (default: the bundled one)")
    parser.add_argument("--kind", choices=list(KINDS), action="append", help="only these; may be repeated")
    parser.add_argument("--case", metavar="KIND:SEED", help="one case again")
    options = parser.parse_args()
    soak = Soak(load(options.model, threads=1), options.model)
    if options.case:
        kind, _, seed = options.case.partition(":")
        sys.exit(not run_case(soak, kind, seed))
    seed = options.seed or str(random.SystemRandom().randrange(10**6))
    result = run(soak, options.seconds, seed, options.kind or list(KINDS))
    print(json.dumps(result))
    sys.exit(any(result["failed"].values()))


if __name__ == "__main__":
    main()
