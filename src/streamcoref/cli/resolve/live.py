"""`streamcoref resolve --live`: events as lines while the text comes in."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from streamcoref._document_events import feed_document, in_own_text
from streamcoref._process_memory import give_back
from streamcoref.cli.resolve.inputs import TextFile
from streamcoref.cli.resolve.job import ResolveJob
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.events import Event
from streamcoref.formats.base import EventWriter
from streamcoref.formats.files import STANDARD
from streamcoref.formats.inputs import documents_of
from streamcoref.text.decoding import TextDecoder
from streamcoref.text.files import refuse_other_formats

PAUSE_SECONDS = 1.0  # without input, after which what has come is read without waiting for a full segment
_CHUNK = 65536


def resolve_live(file: TextFile, job: ResolveJob, line: EventWriter) -> None:
    """Print what is known as soon as it is known; `line` makes a line of an event."""

    def show(key: str, events: Iterable[Event]) -> None:
        sys.stdout.writelines(line(event, key) for event in events)
        sys.stdout.flush()

    if not file.format.is_prose:
        for document in documents_of(file.path, file.format, job.encoding, job.errors):
            stream = job.resolver.stream(**job.options)
            for _, events in feed_document(stream, document):
                show(document.key, events)
                give_back()
            show(document.key, in_own_text(document, stream.close()))
        return
    decoder = TextDecoder(file.path, job.encoding, job.errors)
    stream = job.resolver.stream(**job.options)
    with _descriptor(file.path) as descriptor:
        for data in _as_it_comes(descriptor):
            if data is None:
                show(file.key, stream.flush())
            else:
                if not file.is_sure and decoder.bytes_read == 0:
                    refuse_other_formats(data, file.path)
                show(file.key, stream.feed(decoder.decode(data)))
            give_back()
    show(file.key, stream.feed(decoder.decode(b"", final=True)))
    show(file.key, stream.close())


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
def _descriptor(path: Path) -> Iterator[int]:
    if path == STANDARD:
        try:
            descriptor = sys.stdin.fileno()
        except OSError:
            raise StreamcorefError("there is no standard input to follow: it is closed; name a file") from None
        yield descriptor
        return
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    try:
        yield descriptor
    finally:
        os.close(descriptor)
