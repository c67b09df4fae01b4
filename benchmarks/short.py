"""Short texts: from a new process to its first answer, one sentence of 20 words, and a chat message by message.

    python benchmarks/short.py [--model FOLDER] [--precision int8] [--messages 1000] [--starts 5] [--threads 1]

All times are of the CPU, which a busy neighbour disturbs less than the clock; with several threads they are of all.

- `start`: of new processes, median seconds to import the library with torch, to `load()`, and from there to the first
  answer; and `second_load`, where everything that is imported is there already: what the model itself costs;
- `twenty_words_over_encoder`: `resolve` on 20 words over one pass of the encoder on them, in turns, median;
- `messages`: of a chat, a second, by `resolve` one by one, by `resolve_many`, and by the encoder alone, one by one too,
  in turns; `many_over_one_by_one` is the time of `resolve_many` over that of `resolve`, and `same_answers` whether
  every document, with its scores, was the same;
- `equal_lengths_together`: the encoder on eight segments of one length in one batch, over one by one, and whether every
  number is the same then: where it is not, `resolve_many` does not share passes.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import torch

import streamcoref
from streamcoref.model.segments import Segment
from streamcoref.text import document_from_text

TWENTY_WORDS = "Anna met her brother in London on Monday. She gave him the letter, and he read it to his wife."
WHO = ("Anna", "my brother", "the new doctor", "our landlord", "Mr. Lee", "the team", "your mother", "somebody")
DID = ("called", "wrote to", "has not seen", "met", "is looking for", "lost", "will pay", "likes")
WHAT = ("her", "him", "the keys", "it", "the report", "us", "them", "the old car", "you")
MORE = ("", " yesterday", ", and they said it was fine", " again", ". He told me so himself", ". Can you ask her?")
TURN = 250  # messages
START = """
import sys, time
began = time.process_time()
import streamcoref
streamcoref.Resolver
imported = time.process_time()
resolver = streamcoref.load(sys.argv[1] or None, precision=sys.argv[2], threads=int(sys.argv[3]))
loaded = time.process_time()
resolver.resolve(sys.argv[4])
answered = time.process_time()
streamcoref.load(sys.argv[1] or None, precision=sys.argv[2])
print(imported - began, loaded - imported, answered - loaded, time.process_time() - answered)
"""


def chat(count: int) -> list[str]:
    choose = random.Random(3)
    return [
        f"{choose.choice(WHO)} {choose.choice(DID)} {choose.choice(WHAT)}{choose.choice(MORE)}" for _ in range(count)
    ]


def took(run: Callable[[], object]) -> float:
    """Seconds of the CPU."""
    began = time.process_time()
    run()
    return time.process_time() - began


def starts(options: argparse.Namespace) -> dict[str, float]:
    arguments = [options.model or "", options.precision, str(options.threads), TWENTY_WORDS]
    command = [sys.executable, "-c", START, *arguments]
    if options.starts == 0:
        return {}
    runs = [
        [float(value) for value in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]
        for _ in range(options.starts + 1)
    ][1:]  # the first one finds nothing in the system's cache
    names = ("import", "load", "first_answer", "second_load")
    return {name: round(median(values), 3) for name, *values in zip(names, *runs, strict=True)}


@torch.inference_mode()
def equal_lengths(resolver: streamcoref.Resolver, segments: Sequence[Segment], count: int = 8) -> dict[str, Any]:
    encoder = resolver.checkpoint.model.encoder
    by_length: dict[int, list[Segment]] = {}
    for segment in segments:
        by_length.setdefault(len(segment), []).append(segment)
    groups = [found[:count] for found in by_length.values() if len(found) >= count]
    ratios, same = [], True
    for group in groups:
        together, alone = (
            took(lambda group=group: encoder(group)),
            took(lambda group=group: [encoder([s]) for s in group]),
        )  # type: ignore[misc]
        ratios.append(together / alone)
        same &= all(torch.equal(a, encoder([b])[0]) for a, b in zip(encoder(group), group, strict=True))
    return {"over_one_by_one": round(median(ratios), 3) if ratios else None, "same_numbers": same}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="a model's folder (default: the bundled one)")
    parser.add_argument("--precision", default="float32")
    parser.add_argument("--messages", type=int, default=1000)
    parser.add_argument("--starts", type=int, default=5, help="new processes (default 5; 0: leave that out)")
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    figures: dict[str, Any] = {"precision": options.precision, "threads": options.threads, "start": starts(options)}
    print("start", figures["start"], flush=True)

    resolver = streamcoref.load(options.model, precision=options.precision, threads=options.threads)
    encoder = resolver.checkpoint.model.encoder

    def cut(text: str) -> Sequence[Segment]:
        return resolver.checkpoint.segmenter.cut(document_from_text("text", text))

    @torch.inference_mode()
    def encode(segments: Sequence[Segment]) -> None:
        for segment in segments:
            encoder([segment])

    words = cut(TWENTY_WORDS)
    turns = [(took(lambda: resolver.resolve(TWENTY_WORDS)), took(lambda: encode(words))) for _ in range(40)][5:]
    figures["twenty_words_over_encoder"] = round(median(all_ / alone for all_, alone in turns), 3)
    print("twenty words over the encoder", figures["twenty_words_over_encoder"], flush=True)

    messages = chat(options.messages)
    segments = [segment for text in messages for segment in cut(text)]
    seconds = {"resolve": 0.0, "resolve_many": 0.0, "encoder": 0.0}
    same = True
    for first in range(0, len(messages), TURN):  # in turns
        part = [{"text": text, "key": str(number)} for number, text in enumerate(messages[first : first + TURN])]
        cuts = [segment for given in part for segment in cut(given["text"])]
        answers: dict[str, list[streamcoref.Document]] = {}

        def one_by_one(part: list[dict[str, str]] = part, answers: Any = answers) -> None:
            answers["one"] = [resolver.resolve(given["text"], key=given["key"]) for given in part]

        def many(part: list[dict[str, str]] = part, answers: Any = answers) -> None:
            answers["many"] = list(resolver.resolve_many(part))

        seconds["resolve"] += took(one_by_one)
        seconds["resolve_many"] += took(many)
        seconds["encoder"] += took(lambda cuts=cuts: encode(cuts))  # type: ignore[misc]
        same &= answers["one"] == answers["many"]
    figures["messages"] = {name: round(len(messages) / taken, 1) for name, taken in seconds.items()}
    figures["many_over_one_by_one"] = round(seconds["resolve_many"] / seconds["resolve"], 3)
    figures["same_answers"] = same
    figures["messages_over_encoder"] = round(seconds["resolve_many"] / seconds["encoder"], 3)
    figures["equal_lengths_together"] = equal_lengths(resolver, segments)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
