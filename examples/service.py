"""Conversations that several processes answer: the state of each moves from one process to the other as a file.

python examples/service.py [MODEL]

Nothing else is remembered between two messages, so that processes may come and go, on one machine or on many.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

import streamcoref
from streamcoref import EntityFinished

MESSAGES = [
    ("kitchen", "My sister Ines bought an old stove. She paid forty crowns for it."),
    ("garage", "The red car belongs to Mr. Holm. He never locks it."),
    ("kitchen", "Yesterday it broke, and Ines wanted her money back."),
    ("garage", "Last night somebody took it. Mr. Holm walked home, and he was not amused."),
]


@cache
def resolver(model: str | None) -> streamcoref.Resolver:
    """Loaded once in each process."""
    return streamcoref.load(model, threads=1)


def answer(model: str | None, folder: Path, conversation: str, message: str) -> list[str]:
    """Read one message of a conversation, wherever the last one was read, and keep the state for the next."""
    place = folder / f"{conversation}.state"
    stream = resolver(model).stream(place.read_bytes() if place.exists() else None)
    events = stream.feed(message + "\n") + stream.flush()
    unfinished = place.with_suffix(f".{os.getpid()}")
    unfinished.write_bytes(stream.state())
    unfinished.replace(place)  # the new state is there as a whole or not at all
    return [
        f"“{event.mention.text}” is entity {event.entity}" for event in events if not isinstance(event, EntityFinished)
    ]


def main(model: str | None = None) -> None:
    context = multiprocessing.get_context("spawn")  # torch does not like to be forked
    with (
        tempfile.TemporaryDirectory() as folder,
        ProcessPoolExecutor(1, context) as first,
        ProcessPoolExecutor(1, context) as second,
    ):
        # Both conversations begin in the first process and go on in the second.
        for (conversation, message), worker in zip(MESSAGES, (first, first, second, second), strict=True):
            said = worker.submit(answer, model, Path(folder), conversation, message).result()
            print(f"{conversation}, in process {1 if worker is first else 2}: {message}")
            print("".join(f"    {line}\n" for line in said), end="")
        for state in sorted(Path(folder).glob("*.state")):
            print(f"{state.name}: {state.stat().st_size:,} bytes")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:2])
    except streamcoref.StreamcorefError as error:
        sys.exit(f"service: {error}")
