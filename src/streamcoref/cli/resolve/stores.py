"""`streamcoref resolve TEXT -o STORE`: Ctrl-C saves before it stops, a bar shows the way, a sentence the end."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from streamcoref._bars import reading_bar
from streamcoref._wording import counted, escaped
from streamcoref.cli.language_notes import noting_language
from streamcoref.cli.resolve.inputs import Text, TextFile
from streamcoref.cli.resolve.job import ResolveJob
from streamcoref.store.connection import absent
from streamcoref.store.database import Store
from streamcoref.store.job import resolve_to_store
from streamcoref.store.sources import DocumentSource, TextSource, open_source


def write_store(text: Text, path: Path, job: ResolveJob, should_stop: Callable[[], bool]) -> None:
    """Read the text to its end, from wherever the store stands, and say in a sentence what is in the store."""
    _write(_source(text, job), text.key, path, job, should_stop)


def write_only_store(file: TextFile, path: Path, job: ResolveJob, should_stop: Callable[[], bool]) -> None:
    """The same for a file whose only text it is to be; one of a pipe that has several is an error."""
    if file.format.is_prose:
        write_store(Text(file), path, job, should_stop)
    else:
        source = open_source(file.path, job.encoding, job.errors, file.format.name)
        _write(source, file.key, path, job, should_stop)


def _source(text: Text, job: ResolveJob) -> TextSource | DocumentSource:
    file = text.file
    if text.document is not None:
        return DocumentSource(text.document, file.path, file.format, job.encoding, job.errors)
    return TextSource(file.path, job.encoding, job.errors, file.examined, is_prose=file.is_sure)


def _write(
    source: TextSource | DocumentSource, name: str, path: Path, job: ResolveJob, should_stop: Callable[[], bool]
) -> None:
    done_before = not job.force and _is_complete(path)
    with (
        noting_language(name),
        reading_bar(name, source.characters) as show,
        resolve_to_store(
            job.resolver,
            source,
            path,
            job.options,
            model=job.model,
            force=job.force,
            on_progress=show,
            should_stop=should_stop,
        ) as store,
    ):
        entities, mentions = store.counts()
        words = counted(store.position.words, "word", "words")
    state = "complete already, nothing to do" if done_before else "complete"
    found = f"{counted(entities, 'entity', 'entities')}, {counted(mentions, 'mention', 'mentions')}"
    typer.echo(f"{escaped(path)}: {state}: {words}, {found}", err=True)


def _is_complete(path: Path) -> bool:
    if absent(path):
        return False
    with Store.open(path) as store:
        return store.position.done


@contextmanager
def stopping() -> Iterator[Callable[[], bool]]:
    """Whether Ctrl-C was pressed: the first only asks, so that a run can save before it stops; the second stops it at
    once."""
    asked = False

    def ask(_number: int, _frame: object) -> None:
        nonlocal asked
        asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield lambda: asked
    finally:
        signal.signal(signal.SIGINT, before)
