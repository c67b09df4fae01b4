"""A book that no model has to read, and what it costs a browser: time, memory, frames while scrolling."""

from __future__ import annotations

import random
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

from streamcoref import Document, Quotation
from streamcoref.document import Span

WORDS = (
    "the a of and to in her his she he it captain harbour letter ship window evening morning said asked walked".split()
)
NAMES = "Anna Berta Carl Dora Emma Frank Gustav Hanna".split()


def book(words: int, seed: int = 7) -> Document:
    """Paragraphs of sentences; every sixth word begins a mention, of few large entities and many small ones, and every
    third sentence is said by one of the largest, or by nobody knows whom."""
    chance = random.Random(seed)
    text: list[str] = []
    offsets: list[Span] = []
    ends: list[int] = []
    position = 0
    while len(offsets) < words:
        for number in range(min(chance.randint(6, 24), words - len(offsets))):
            word = chance.choice(NAMES if number == 0 or chance.random() < 0.08 else WORDS)
            gap = "" if not offsets else " " if number else chance.choice([" ", " ", " ", "\n\n"])
            text += (gap, word)
            position += len(gap)
            offsets.append((position, position + len(word)))
            position += len(word)
        text.append(".")
        position += 1
        ends.append(len(offsets))
    clusters: dict[int, list[Span]] = {}
    for start in range(0, words - 6, 6):
        entity = int(words / 30 * chance.random() ** 4)
        clusters.setdefault(entity, []).append((start, start + chance.choice([1, 1, 1, 2, 3, 5])))
    joined = "".join(text)
    speakers = [None, *range(min(40, len(clusters)))]
    quotations = [
        Quotation(start, end, None, None, chance.choice(speakers), chance.choice(speakers), "turns", 0.5)
        for start, end in list(pairwise((0, *ends)))[::3]
    ]
    return Document(
        key="A long book",
        words=tuple(joined[start:end] for start, end in offsets),
        sentence_ends=tuple(ends),
        clusters=tuple(map(tuple, clusters.values())),
        text=joined,
        offsets=tuple(offsets),
        quotations=tuple(quotations),
    )


# Every frame scrolls on; what the page does in it, and how long the frame took, in milliseconds.
_SCROLL = """async ({frames, pixels, jump}) => {
  const pane = document.querySelector(".text");
  const longTasks = [];
  new PerformanceObserver((list) => longTasks.push(...list.getEntries())).observe({entryTypes: ["longtask"]});
  const times = [];
  let last = await new Promise(requestAnimationFrame);
  for (let i = 0; i < frames; i++) {
    pane.scrollTop = jump ? (i * 7919 % frames) / frames * pane.scrollHeight : pane.scrollTop + pixels;
    const now = await new Promise(requestAnimationFrame);
    times.push(now - last);
    last = now;
  }
  await new Promise((resolve) => setTimeout(resolve, 100));
  times.sort((a, b) => a - b);
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))];
  const elements = document.querySelectorAll("*").length;
  return {p50: at(.5), p95: at(.95), max: at(1), longTasks: longTasks.length, elements};
}"""


def measure(tab: Any, page: Path) -> dict[str, Any]:
    """Open a page that was written, and scroll in it: on and on, and from place to place.

    `work_ms` is processor time of the page's thread, which does not depend on what else the machine does: of showing
    the page, and of a frame.
    """
    session = tab.context.new_cdp_session(tab)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def work() -> float:
        metrics = session.send("Performance.getMetrics")["metrics"]
        return 1000 * next(metric["value"] for metric in metrics if metric["name"] == "TaskDuration")

    def scrolled(frames: int, **how: Any) -> dict[str, Any]:
        before = work()
        found: dict[str, Any] = tab.evaluate(_SCROLL, {"frames": frames, **how})
        return found | {"work_ms": (work() - before) / frames}

    began = time.perf_counter()
    tab.goto(page.as_uri())
    tab.locator(".m").first.wait_for()
    shown = time.perf_counter() - began
    shown_work = work()
    scroll = scrolled(120, pixels=300, jump=False)
    jump = scrolled(60, pixels=0, jump=True)
    tab.evaluate("gc()")
    return {
        "first_paint_ms": tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime"),
        "shown_ms": 1000 * shown,
        "work_ms": shown_work,
        "heap_mb": tab.evaluate("performance.memory.usedJSHeapSize") / 1e6,
        "scroll": scroll,
        "jump": jump,
    }
