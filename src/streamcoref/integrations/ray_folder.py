"""A folder of texts, of any size, resolved by a Ray cluster into a folder of parts; what is done is not done again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamcoref.errors import StreamcorefError
from streamcoref.integrations.ray_cluster import check_workers, connect, cpus, device_of, parcel_in_store
from streamcoref.integrations.ray_parts import (
    ENDINGS,
    FolderTask,
    PartDone,
    PartFormat,
    PartPlan,
    PartWorker,
    endings_of,
    texts_in,
)
from streamcoref.integrations.ray_storage import SharedFolder, StoredFile
from streamcoref.integrations.ray_target import TargetState
from streamcoref.resolver import Resolver, load
from streamcoref.text.decoding import check_encoding


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
    files = texts_in(task.source, endings)
    state = TargetState(task.target, _origin(task, resolver), ENDINGS[format], force=force)
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
