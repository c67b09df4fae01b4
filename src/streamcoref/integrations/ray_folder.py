"""A folder of texts, of any size, resolved by a Ray cluster into a folder of parts; what is done is not done again."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

from streamcoref.errors import InputError, Remedy, StreamcorefError
from streamcoref.integrations.ray_cluster import check_workers, connect, cpus, device_of, parcel_in_store
from streamcoref.integrations.ray_parts import (
    ENDINGS,
    FolderTask,
    PartDone,
    PartFormat,
    PartPlan,
    PartWorker,
    endings_of,
    is_read,
)
from streamcoref.integrations.ray_storage import SharedFolder, StoredFile
from streamcoref.resolver import Resolver, load
from streamcoref.text.decoding import check_encoding

ORIGIN = "_streamcoref.json"  # what the parts were made with
DONE = "_done"  # a file for each part that counts
ERRORS = "_errors.jsonl"  # files that could not be resolved by the last run
PART_FILES, PART_BYTES = 256, 4 << 20  # of a part, at most: what is lost when everything is killed
_READERS = 16
_PART = re.compile(r"part-(\d{6})-[0-9a-f]{12}\.(jsonl|parquet)")


@dataclass(frozen=True, slots=True)
class FolderProgress:
    """How far a folder has been resolved; files and bytes are those of its texts, what was done before included."""

    files: int
    files_in_all: int
    bytes: int
    bytes_in_all: int
    words: int  # in this run
    errors: int


@dataclass(frozen=True, slots=True)
class FolderReport:
    """What a run has done: `errors` are those of files, by their names, which the next run tries again."""

    files: int  # resolved in this run
    before: int  # resolved before
    texts: int  # in this run, of which a file may have several
    words: int
    errors: Mapping[str, StreamcorefError]
    foreign: Sequence[str]  # keys of texts that do not look like English


def resolve_folder(
    source: str | Path,
    target: str | Path,
    *,
    format: PartFormat = "jsonlines",  # noqa: A002
    model: str | Path | Resolver | None = None,
    address: str | None = None,
    workers: int | None = None,
    gpus: float = 0.0,
    read_as: str | None = None,
    encoding: str = "utf-8",
    errors: str = "strict",
    force: bool = False,
    on_progress: Callable[[FolderProgress], None] | None = None,
    **options: Any,
) -> FolderReport:
    """All texts of a folder and below, each as `Resolver.resolve` answers it, into the folder `target`.

    Both are folders that all machines reach by the same path, or addresses as `s3://bucket/folder`. Read are `.txt`
    files, also packed by gzip, or, with `read_as`, all files with an ending of that format of ours. Written are parts
    in the order of the files' names: documents as `jsonlines`, or rows as `parquet`. Called again after it was killed
    or stopped, at any moment, it goes on with what is not done yet; nothing is lost, and nothing there twice. `force`
    starts over.

    A file that cannot be resolved stops no other: it is in the report, and tried again by the next call.
    """
    check_workers(workers)
    if format not in ENDINGS:
        raise StreamcorefError(f"a folder is written as {' or '.join(ENDINGS)}, not as {format}")
    encoding = check_encoding(encoding, errors)
    endings = endings_of(read_as)
    ray = connect(address)
    resolver = model if isinstance(model, Resolver) else load(model)
    resolver.resolve("", **options)  # raises if this model cannot do what is asked for
    task = FolderTask(SharedFolder(source), SharedFolder(target), format, read_as, encoding, errors, options)
    if f"{task.target.address}/".startswith(f"{task.source.address}/"):
        raise StreamcorefError(f"{target}: this is in the folder of the texts; name another one")
    files = _files(task.source, endings)
    state = _State(task.target, _origin(task, resolver), ENDINGS[format], force=force)
    waiting = state.left(files)
    done = {"texts": 0, "words": 0}
    wrong: dict[str, StreamcorefError] = {}
    foreign: list[str] = []
    read = _Progress(files, waiting, on_progress)
    for part in _run(ray, task, resolver, state.plans(waiting), workers, gpus):
        state.commit(part)
        wrong |= {file: part.error(file) for file in part.errors}
        foreign += part.foreign
        done = {"texts": done["texts"] + part.texts, "words": done["words"] + part.words}
        read.tell(part, done["words"], len(wrong))
    state.note_errors(wrong)
    resolved = len(waiting) - len(wrong)
    return FolderReport(resolved, len(files) - len(waiting), done["texts"], done["words"], wrong, foreign)


def _files(source: SharedFolder, endings: tuple[str, ...]) -> list[StoredFile]:
    if not source.exists():
        raise InputError("no such folder", source.address)
    files = [file for file in source.listed() if is_read(file.name, endings)]
    if not files:
        raise InputError(f"there are no {endings[0]} files in this folder or below", source.address)
    return files


def _origin(task: FolderTask, resolver: Resolver) -> dict[str, Any]:
    kept = resolver.stream(**task.options).options if resolver.checkpoint.model.reads_streams else None
    return {
        "source": task.source.address,
        "model": resolver.fingerprint,
        "format": task.format,
        "read_as": task.read_as,
        "encoding": task.encoding,
        "errors": task.errors,
        "options": dict(task.options) if kept is None else kept.model_dump(mode="json"),
    }


def _run(
    ray: Any, task: FolderTask, resolver: Resolver, plans: Sequence[PartPlan], workers: int | None, gpus: float
) -> Iterator[PartDone]:
    """The parts as they are done. Each is a block of its own, so that any worker may take it."""
    if not plans:
        return
    rows = [{"part": json.dumps({"name": plan.name, "files": plan.files})} for plan in plans]
    parts = ray.data.from_items(rows, override_num_blocks=len(rows)).map_batches(
        PartWorker,
        fn_constructor_args=(parcel_in_store(ray, resolver), device_of(gpus), task),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(min_size=1, max_size=min(workers or cpus(ray), len(plans))),
        num_cpus=1,
        **({"num_gpus": gpus} if gpus else {}),
    )
    parts.context.enable_progress_bars = parts.context.print_on_execution_start = False  # there is `on_progress`
    for batch in parts.iter_batches(batch_size=None, prefetch_batches=0):
        for part in batch["part"]:
            yield PartDone.from_json(str(part))


class _Progress:
    """Counts what has been read, and tells."""

    def __init__(
        self,
        files: Sequence[StoredFile],
        waiting: Sequence[StoredFile],
        on_progress: Callable[[FolderProgress], None] | None,
    ) -> None:
        self._on_progress = on_progress
        self._files, self._all = len(files) - len(waiting), len(files)
        self._size = sum(file.size for file in files)
        self._sizes = {file.name: file.size for file in waiting}
        self._bytes = self._size - sum(self._sizes.values())

    def tell(self, part: PartDone, words: int, errors: int) -> None:
        for name in [*(name for name, _ in part.files), *part.errors]:
            self._files += 1
            self._bytes += self._sizes[name]
        if self._on_progress is not None:
            self._on_progress(FolderProgress(self._files, self._all, self._bytes, self._size, words, errors))


class _State:
    """What stands in the target. A part counts when the file of its name in `_done` says what is in it.

    This process alone writes these, one after the other, so that a part counts once however often it was made.
    """

    def __init__(self, target: SharedFolder, origin: Mapping[str, Any], ending: str, *, force: bool) -> None:
        self._target, self._ending = target, ending
        if target.is_file():
            raise StreamcorefError(f"{target.address}: this is a file; name a folder")
        target.sweep()
        there = [file.name for file in target.listed()]
        if ORIGIN in there and not force:
            self._refuse_changes(json.loads(target.read(ORIGIN)), origin)
        elif there and not force:
            raise StreamcorefError(f"{target.address}: there are other files in this folder", Remedy.WRITE_INTO)
        markers = [name for name in there if name.startswith(f"{DONE}/")]
        if force:
            for name in markers:
                target.remove(name)
            markers = []
        with ThreadPoolExecutor(_READERS) as pool:  # other storage takes its time for each
            done = [PartDone.from_json(content) for content in pool.map(target.read, markers)]
        self._done = {name: size for part in done for name, size in part.files}
        self._numbers = count(max((_number(part.name) + 1 for part in done), default=0))
        counted = {part.name for part in done}
        for name in there:  # what nobody lived to count is made again
            if _PART.fullmatch(name) and name not in counted:
                target.remove(name)
        if ORIGIN not in there or force:
            target.write(ORIGIN, json.dumps(origin, indent=2).encode() + b"\n")

    def _refuse_changes(self, before: Mapping[str, Any], now: Mapping[str, Any]) -> None:
        changed = [name for name in now if before.get(name) != now[name]]
        if changed:
            raise StreamcorefError(
                f"{self._target.address}: this folder was begun with another {' and another '.join(changed)}",
                Remedy.AS_BEFORE,
            )

    def left(self, files: Iterable[StoredFile]) -> list[StoredFile]:
        """The files that are in no part yet."""
        left = []
        for file in files:
            if file.name not in self._done:
                left.append(file)
            elif self._done[file.name] != file.size:
                raise InputError(
                    f"this file is not what it was when {self._target.address} was made",
                    file.name,
                    None,
                    Remedy.AS_BEFORE,
                )
        return left

    def plans(self, files: Sequence[StoredFile]) -> list[PartPlan]:
        """Files in their order, so many together that a part is not long, and parts are not many."""
        groups: list[list[StoredFile]] = []
        size = 0
        for file in files:
            if not groups or len(groups[-1]) == PART_FILES or size + file.size > PART_BYTES:
                groups.append([])
                size = 0
            groups[-1].append(file)
            size += file.size
        return [PartPlan(self._name(group), tuple((file.name, file.size) for file in group)) for group in groups]

    def _name(self, files: Sequence[StoredFile]) -> str:
        digest = hashlib.blake2b(json.dumps(files).encode(), digest_size=6).hexdigest()
        return f"part-{next(self._numbers):06}-{digest}{self._ending}"

    def commit(self, part: PartDone) -> None:
        if part.files:
            self._target.write(f"{DONE}/{part.name}.json", part.to_json().encode() + b"\n")

    def note_errors(self, errors: Mapping[str, StreamcorefError]) -> None:
        lines = [json.dumps({"file": file, "error": str(error)}, ensure_ascii=False) for file, error in errors.items()]
        if lines:
            self._target.write(ERRORS, "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace"))
        else:
            self._target.remove(ERRORS)


def _number(part: str) -> int:
    found = _PART.fullmatch(part)
    return int(found[1]) if found else -1
