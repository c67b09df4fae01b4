"""`streamcoref resolve --live`: events as lines while the text comes in."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from streamcoref.cli.process_memory import give_back
from streamcoref.cli.resolve_files import Input
from streamcoref.cli.resolve_job import Job
from streamcoref.cli.text_input import TextDecoder
from streamcoref.errors import InputError
from streamcoref.events import Event
from streamcoref.formats.event_lines import json_line, readable_line
from streamcoref.formats.files import STANDARD

PAUSE_SECONDS = 1.0  # without input, after which what has come is read without waiting for a full segment
_CHUNK = 65536


def resolve_live(found: Input, job: Job, *, as_json: bool) -> None:
    """Print what is known as soon as it is known."""

    def show(events: Iterable[Event]) -> None:
        for event in events:
            sys.stdout.write(json_line(event, found.key) if as_json else readable_line(event))
        sys.stdout.flush()

    decoder = TextDecoder(found.path, job.encoding, job.errors)
    stream = job.resolver.stream(**job.options)
    with _descriptor(found) as descriptor:
        for data in _as_it_comes(descriptor):
            show(stream.flush() if data is None else stream.feed(decoder.decode(data)))
            give_back()
    show(stream.feed(decoder.decode(b"", final=True)))
    show(stream.close())


def _as_it_comes(descriptor: int) -> Iterator[bytes | None]:
    """Bytes as they come, and None once whenever no more have come for a while."""
    waiting = False
    while True:
        ready, _, _ = select.select([descriptor], [], [], PAUSE_SECONDS if waiting else None)
        if not ready:
            waiting = False
            yield None
        elif data := os.read(descriptor, _CHUNK):
            waiting = True
            yield data
        else:
            return


@contextmanager
def _descriptor(found: Input) -> Iterator[int]:
    if found.path == STANDARD:
        yield sys.stdin.fileno()
        return
    try:
        descriptor = os.open(found.path, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", found.path) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)
