"""A text into a store: read on from where the store stands, and save output and position together."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

from streamcoref._precisions import FLOAT32
from streamcoref._process_memory import give_back
from streamcoref.errors import Remedy, StoppedError, StreamcorefError
from streamcoref.options import ResolveOptions
from streamcoref.progress import OnProgress, ReadingProgress, ShouldStop, Stopping
from streamcoref.store.connection import absent
from streamcoref.store.database import Store
from streamcoref.store.schema import StoreOrigin
from streamcoref.store.sources import StoreSource, open_source
from streamcoref.text.decoding import check_encoding

if TYPE_CHECKING:
    from streamcoref.events import Event
    from streamcoref.resolver import Resolver
    from streamcoref.stream import Stream

SAVE_SECONDS = 2.0  # what is lost at most when the process is killed


def resolve_file(
    resolver: Resolver,
    source: str | Path,
    target: str | Path,
    options: Mapping[str, Any],
    *,
    encoding: str = "utf-8",
    errors: str = "strict",
    format: str | None = None,  # noqa: A002
    force: bool = False,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> Store:
    """What `Resolver.resolve_file` does, which see."""
    found = open_source(Path(source), check_encoding(encoding, errors), errors, format)
    return resolve_to_store(
        resolver,
        found,
        Path(target),
        options,
        model=str(resolver.folder),
        force=force,
        on_progress=on_progress,
        should_stop=should_stop,
    )


def resolve_to_store(
    resolver: Resolver,
    source: StoreSource,
    target: Path,
    options: Mapping[str, Any],
    *,
    model: str,
    force: bool = False,
    on_progress: OnProgress | None = None,
    should_stop: ShouldStop | None = None,
) -> Store:
    """Read a source to its end, from wherever the store stands; the complete store, to be read. `model` is its name."""
    chosen = ResolveOptions.of(options)
    once = {name: value for name, value in options.items() if name != "passes"}
    now = _origin(resolver, source, once, chosen.passes, model)  # raises if the options are wrong
    if target.exists() and Path(source.name).exists() and target.samefile(source.name):
        raise StreamcorefError(f"{target}: this is the text itself; name another file")
    new = force or absent(target)
    if chosen.passes > 1:
        chosen.check(resolver.checkpoint.config)
        if source.size is None:
            raise StreamcorefError(f"{source.name}: a pipe is read once; save the text to a file to read it twice")
    with (
        Store.create(target, now, text=source.text, force=force) if new else Store.open(target, writable=True) as store
    ):
        _refuse_changes(store, now)
        stopping = Stopping(should_stop)
        if not source.is_read(store, stopping):
            if chosen.passes > 1 and not _stream(resolver, store, once).reads_again:
                _read_on(resolver, source, store, once, on_progress, stopping, once_more=True)
            _read_on(resolver, source, store, once, on_progress, stopping)
    return Store.open(target)


def _origin(
    resolver: Resolver, source: StoreSource, options: Mapping[str, Any], passes: int, model: str
) -> StoreOrigin:
    kept = resolver.stream(**options).options.model_dump(mode="json") | {"passes": passes}
    # The policy as it was given: that is what people know it by.
    evict = options.get("evict")
    kept["evict"] = dict(evict) if isinstance(evict, Mapping) else evict
    kept["precision"] = resolver.precision
    return StoreOrigin(
        path=source.name,
        size=source.size,
        sha256=source.sha256,
        model=model,
        fingerprint=resolver.fingerprint,
        options=json.dumps(kept | source.settings, sort_keys=True),
    )


def _refuse_changes(store: Store, now: StoreOrigin) -> None:
    """A store goes on only with the very things it was begun with."""
    before = store.origin
    changes = []
    if before.size != now.size or (now.size is not None and before.sha256 != now.sha256):
        changes.append(f"another text (the content of {now.path} is not what it was)")
    old, new = ({"precision": FLOAT32} | json.loads(origin.options) for origin in (before, now))
    if before.fingerprint != now.fingerprint and old["precision"] == new["precision"]:
        changes.append(f"another model ({before.model}; now {now.model})")
    changes += [
        f"another {name} ({_shown(old.get(name))}; now {_shown(new.get(name))})"
        for name in sorted(old.keys() | new.keys())
        if old.get(name) != new.get(name)
    ]
    if changes:
        raise StreamcorefError(f"{store.path}: this store was begun with {' and '.join(changes)}", Remedy.AS_BEFORE)
    if before.path != now.path and not store.position.done:
        store.rename_input(now.path)


def _shown(value: object) -> str:
    return "the model's" if value is None else json.dumps(value) if isinstance(value, bool) else str(value)


def _stream(resolver: Resolver, store: Store, options: Mapping[str, Any]) -> Stream:
    """One that goes on where the store stands; whoever may come back is in the store."""
    return resolver.stream_into(store.register, store.position.state, options)


def _read_on(
    resolver: Resolver,
    source: StoreSource,
    store: Store,
    options: Mapping[str, Any],
    on_progress: OnProgress | None,
    stopping: Stopping,
    *,
    once_more: bool = False,
) -> None:
    """Feed the stream with what comes after the store's position, and commit now and then.

    If the text is to be read `once_more`, the store has nothing at the end but what the next pass begins with; until
    then it has what this one has found.
    """
    reading = source.reading(store, stopping)
    stream = _stream(resolver, store, options)
    if stream.words_read != store.position.words:
        raise StreamcorefError(
            f"{store.path}: this store is damaged: its parts are not of one moment", Remedy.MAKE_ANEW
        )
    events: list[Event] = []

    def save(*, done: bool = False) -> None:
        reading.refuse_change()
        state = None if done else stream.state()
        position = replace(reading.position, words=stream.words_read, state=state, done=done)
        headings = reading.new_headings()
        found = chain(events, stream.finish_laid_by()) if done else events
        store.commit(found, position, reading.sha256, headings=headings, length=reading.length if done else None)
        events.clear()

    saved = monotonic()
    with closing(reading.feed(stream)) as parts:
        while not stopping.ask() and (found := next(parts, None)) is not None:
            events += found
            give_back()
            if on_progress is not None:
                characters = reading.position.characters
                on_progress(ReadingProgress(characters, source.characters, stream.words_read, stream.alive))
            if monotonic() - saved > SAVE_SECONDS:
                save()
                saved = monotonic()
    if stopping.stopped:
        if reading.position.bytes_read > store.position.bytes_read:
            save()
        raise StoppedError(f"{store.path}: stopped and saved", Remedy.GO_ON)
    events += reading.end(stream)
    if once_more:
        reading.refuse_change()
        store.begin_again(stream.again())
    else:
        save(done=True)
