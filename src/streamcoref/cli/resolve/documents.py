"""`streamcoref resolve` to files that are written once: documents held whole, or events that are not held at all."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from streamcoref._bars import reading_bar
from streamcoref._document_events import feed_document, in_own_text
from streamcoref._process_memory import give_back
from streamcoref.cli.language_notes import noting_language
from streamcoref.cli.resolve.inputs import Text
from streamcoref.cli.resolve.job import Refuse, ResolveJob
from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.events import Event
from streamcoref.formats import Format, Writer, write_with
from streamcoref.formats.files import open_output
from streamcoref.progress import ReadingProgress
from streamcoref.text import document_from_text
from streamcoref.text.files import read_text

LONGEST_HELD = 100_000_000  # characters: some two hundred novels
_NOWHERE = Path(os.devnull)


def write_answers(texts: Iterable[Text], path: Path, known: Format, job: ResolveJob, refuse: Refuse) -> None:
    """Resolve the texts one by one into one file, or to standard output. Without any answer nothing is written."""
    if known.write_event is not None:
        with open_output(path, force=job.force) as output:
            for text in texts:
                for events in _events(text, job):
                    output.writelines(known.write_event(event, text.key) for event in events)
        return
    assert known.write is not None, known.name
    documents = _documents(texts, job, known.write, refuse)
    first = list(islice(documents, 1))
    if first:
        write_with(known.write, chain(first, documents), path, force=job.force)


def _documents(texts: Iterable[Text], job: ResolveJob, writer: Writer, refuse: Refuse) -> Iterator[Document]:
    for text in texts:
        try:
            document = _answer(text, job)
            # What the format cannot hold must show before half of it is written behind the others.
            write_with(writer, [document], _NOWHERE)
        except StreamcorefError as error:
            refuse(error)
        else:
            yield document


def _answer(text: Text, job: ResolveJob) -> Document:
    document = text.document or document_from_text(text.key, _held(text, job))
    with noting_language(text.key), reading_bar(text.key, len(document.text or document.words)) as show:

        def report(progress: ReadingProgress) -> None:
            give_back()
            show(progress)

        return job.resolver.resolve(document=document, on_progress=report, **job.options)


def _held(text: Text, job: ResolveJob) -> str:
    """A text as a whole, if it is one that can be held: a small gzip file may unpack to anything."""
    chunks: list[str] = []
    held = 0
    if not text.file.examined or text.file.examined.characters <= LONGEST_HELD:
        for chunk in _characters(text, job):
            chunks.append(chunk)
            held += len(chunk)
            if held > LONGEST_HELD:
                break
        else:
            return "".join(chunks)
    raise InputError(
        f"this text has more than {LONGEST_HELD:,} characters, too many to be held as a whole; "
        "write a store, -o book.sqlite, or --format events",
        text.file.path,
    )


def _events(text: Text, job: ResolveJob) -> Iterator[list[Event]]:
    """What each part of a text brings, and at last its end; nothing of it is held."""
    stream = job.resolver.stream(**job.options)
    document, examined = text.document, text.file.examined
    if document is not None:
        with noting_language(text.key), reading_bar(text.key, len(document.words)) as show:
            for _, events in feed_document(stream, document):
                yield events
                give_back()
                show(ReadingProgress(stream.words_read, len(document.words), stream.words_read, stream.alive))
            yield in_own_text(document, stream.close())
        return
    length = examined.characters if examined else None
    with noting_language(text.key), reading_bar(text.key, length) as show:
        chunks = _characters(text, job)
        # A pipe lets people wait: of what has come, nothing is held back to read more.
        for events in stream.feed_ahead(chunks) if examined else map(stream.feed, chunks):
            yield events
            give_back()
            show(ReadingProgress(stream.position, length, stream.words_read, stream.alive))
        yield stream.close()


def _characters(text: Text, job: ResolveJob) -> Iterator[str]:
    return read_text(text.file.path, job.encoding, job.errors, is_sure=text.file.is_sure)
