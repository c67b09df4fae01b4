"""`streamcoref resolve TEXT -o STORE`: read on from where the store stands, and save output and position together."""

from __future__ import annotations

import hashlib
import json
import signal
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING

from streamcoref.cli.process_memory import give_back
from streamcoref.cli.reading_bar import reading_bar
from streamcoref.cli.resolve_files import Input
from streamcoref.cli.resolve_job import Job
from streamcoref.cli.text_input import Position, TextDecoder, refuse_change
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats.files import read_chunks
from streamcoref.store import Progress, Source, Store, absent, remove

if TYPE_CHECKING:
    from hashlib import _Hash as Hash

    from streamcoref.events import Event

SAVE_SECONDS = 2.0  # what is lost at most when the process is killed


class StoppedError(StreamcorefError):
    """Stopped by the user; everything read is saved."""


def resolve_to_store(found: Input, path: Path, job: Job) -> str:
    """Read the text to its end, from wherever the store stands, and say in a sentence what is in the store."""
    examined = found.examined
    source = Source(
        path=str(found.path.resolve()) if examined else str(found.path),
        size=examined.size if examined else None,
        sha256=examined.sha256 if examined else hashlib.sha256().hexdigest(),
        model=job.model,
        fingerprint=job.resolver.fingerprint,
        options=json.dumps(job.options | {"encoding": job.encoding, "errors": job.errors}, sort_keys=True),
    )
    if job.force:
        remove(path)
    if absent(path):
        store = Store.create(path, source)
    else:
        store = Store.open(path)
        _refuse_changes(store, source)
    try:
        done_before = store.progress.done
        _read_on(found, store, job)
        return _summary(store, done_before)
    finally:
        store.close()


def _refuse_changes(store: Store, now: Source) -> None:
    """A store goes on only with the very things it was begun with."""
    before = store.source
    changes = []
    if before.size != now.size or (now.size is not None and before.sha256 != now.sha256):
        changes.append(f"another text (the content of {now.path} is not what it was)")
    if before.fingerprint != now.fingerprint:
        changes.append(f"another model ({before.model}; now {now.model})")
    old, new = json.loads(before.options), json.loads(now.options)
    changes += [
        f"another --{name.replace('_', '-')} ({_shown(old.get(name))}; now {_shown(new.get(name))})"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    if changes:
        raise StreamcorefError(
            f"{store.path}: this store was begun with {' and '.join(changes)}; "
            "give the command as it was, name another file with -o, or start over with --force"
        )
    if before.path != now.path and not store.progress.done:
        store.rename_input(now.path)


def _shown(value: object) -> str:
    return "the model's" if value is None else json.dumps(value) if isinstance(value, bool) else str(value)


def _read_on(found: Input, store: Store, job: Job) -> None:
    """Feed the stream with what comes after the store's position, and commit now and then."""
    before, examined = store.progress, found.examined
    sha256 = hashlib.sha256()  # of a pipe, whose bytes nobody can look at again
    if examined and before.done:
        return
    rest = read_chunks(found.path, before.bytes_read) if examined else _skip(found.path, store, sha256)
    with closing(rest) as chunks:
        if before.done:
            _refuse_more(chunks, found.path, store)
            return
        position = Position(before.bytes_read, before.lines, before.characters, before.decoder)
        decoder = TextDecoder(found.path, job.encoding, job.errors, position)
        stream = job.resolver.stream(before.state, **job.options)
        events: list[Event] = []

        def save(*, done: bool = False) -> None:
            if examined:
                refuse_change(found.path, examined)
            at = decoder.position
            state = None if done else stream.state()
            progress = Progress(at.bytes_read, at.lines, at.characters, stream.words_read, at.decoder, state, done)
            store.commit(events, progress, None if examined else sha256.hexdigest())
            events.clear()

        saved = monotonic()
        with reading_bar(found.key, examined.characters if examined else None) as report, _stopping() as stop:
            for data in _until_asked(chunks, stop):
                sha256.update(data)
                events.extend(stream.feed(decoder.decode(data)))
                give_back()
                report(decoder.characters, stream.words_read, stream.alive)
                if monotonic() - saved > SAVE_SECONDS:
                    save()
                    saved = monotonic()
            if stop.asked:
                save()
                raise StoppedError(f"{store.path}: stopped and saved; give the same command again to go on")
            events.extend(stream.feed(decoder.decode(b"", final=True)))
            events.extend(stream.close())
            save(done=True)


def _skip(path: Path, store: Store, sha256: Hash) -> Generator[bytes]:
    """What comes after the bytes that the store has read; of a pipe these come again, and must be the same."""
    left = store.progress.bytes_read
    with closing(read_chunks(path)) as chunks:
        rest = b""
        while left and (data := next(chunks, b"")):
            sha256.update(data[:left])
            rest = data[left:]
            left -= min(left, len(data))
        if left or (store.progress.bytes_read and sha256.hexdigest() != store.source.sha256):
            raise InputError(
                f"the store {store.path} was begun with another text; "
                "give the text from its beginning, or start over with --force",
                path,
            )
        if rest:
            yield rest
        yield from chunks


def _refuse_more(chunks: Iterator[bytes], path: Path, store: Store) -> None:
    if next(chunks, b""):
        raise InputError(f"the store {store.path} is complete, and this goes on; start over with --force", path)


class _Stop:
    asked = False
    waiting = False  # for input, with nothing half done


@contextmanager
def _stopping() -> Iterator[_Stop]:
    """The first Ctrl-C only asks, so that a run can save before it stops; the second stops it at once."""
    stop = _Stop()

    def ask(_number: int, _frame: object) -> None:
        stop.asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)
        if stop.waiting:
            raise KeyboardInterrupt

    before = signal.signal(signal.SIGINT, ask)
    try:
        yield stop
    finally:
        signal.signal(signal.SIGINT, before)


def _until_asked(chunks: Iterator[bytes], stop: _Stop) -> Iterator[bytes]:
    while not stop.asked:
        try:
            stop.waiting = True
            data = next(chunks, b"")
        except KeyboardInterrupt:
            return
        finally:
            stop.waiting = False
        if not data:
            return
        yield data


def _summary(store: Store, done_before: bool) -> str:
    entities, mentions = store.counts()
    return (
        f"{store.path}: {'complete already, nothing to do' if done_before else 'complete'}: "
        f"{store.progress.words:,} words, {entities:,} entities, {mentions:,} mentions"
    )
