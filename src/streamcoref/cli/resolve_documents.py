"""`streamcoref resolve` to files that are written once: documents held whole, or events that are not held at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

from streamcoref.cli.process_memory import give_back
from streamcoref.cli.reading_bar import reading_bar
from streamcoref.cli.resolve_files import Input
from streamcoref.cli.resolve_job import Job
from streamcoref.cli.text_input import read_text
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.events import Event, with_answer
from streamcoref.formats import FORMATS, entity_list, resolved_text, write_with
from streamcoref.formats.base import Writer
from streamcoref.formats.event_lines import json_line
from streamcoref.formats.files import open_output
from streamcoref.text import document_from_text

_NOWHERE = Path(os.devnull)
# Takes the error of one text: reports it, or raises it if that text was the only one.
Refuse = Callable[[StreamcorefError], None]


def write_answers(inputs: Sequence[Input], path: Path, format_name: str, job: Job, refuse: Refuse) -> None:
    """Resolve the texts one by one into one file, or to standard output. Without any answer nothing is written."""
    if format_name == "jsonl":
        _write_events(inputs, path, job)
        return
    writer = _writer(format_name)
    documents = _documents(inputs, job, writer, refuse)
    first = list(islice(documents, 1))
    if first:
        write_with(writer, chain(first, documents), path, force=job.force)


def _writer(format_name: str) -> Writer:
    own: dict[str, Writer] = {"text": entity_list.write, "resolved": resolved_text.write}
    writer = own.get(format_name) or FORMATS[format_name].write
    assert writer is not None, format_name
    return writer


def _documents(inputs: Sequence[Input], job: Job, writer: Writer, refuse: Refuse) -> Iterator[Document]:
    for found in inputs:
        try:
            document = _document(found, job)
            # What the format cannot hold must show before half of it is written behind the others.
            write_with(writer, [document], _NOWHERE)
        except StreamcorefError as error:
            refuse(error)
        else:
            yield document


def _document(found: Input, job: Job) -> Document:
    """The text with its entities: what `Resolver.resolve` does at once, but chunk by chunk, to show progress."""
    text = read_text(found.path, job.encoding, job.errors)
    if job.resolver.checkpoint.config.kind == "baseline":
        return job.resolver.resolve("".join(text), key=found.key, **job.options)
    chunks: list[str] = []
    answer: list[Event] = []
    for chunk, events in _read(found, job, text):
        chunks.append(chunk)
        answer += events
    return with_answer(document_from_text(found.key, "".join(chunks)), answer)


def _read(found: Input, job: Job, text: Iterable[str]) -> Iterator[tuple[str, list[Event]]]:
    """Each chunk with the events that it brought, and at last those of the end."""
    stream = job.resolver.stream(**job.options)
    with reading_bar(found.key, found.examined.characters if found.examined else None) as report:
        for chunk in text:
            yield chunk, stream.feed(chunk)
            give_back()
            report(stream.position, stream.words_read, stream.alive)
        yield "", stream.close()


def _write_events(inputs: Sequence[Input], path: Path, job: Job) -> None:
    with open_output(path, force=job.force) as output:
        for found in inputs:
            for _, events in _read(found, job, read_text(found.path, job.encoding, job.errors)):
                output.writelines(json_line(event, found.key) for event in events)
