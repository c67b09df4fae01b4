"""Some files of a folder, resolved by one worker into one file: a part. What is done is done part by part."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, Literal

from streamcoref.document import Document
from streamcoref.errors import InputError, LanguageWarning, Remedy, StreamcorefError
from streamcoref.formats import FORMATS, format_named, format_of_input, read_documents
from streamcoref.formats.document_record import to_record
from streamcoref.formats.files import plain_name
from streamcoref.integrations.extras import import_extra
from streamcoref.integrations.ray_cluster import ModelParcel
from streamcoref.integrations.ray_dataset import sentence_of
from streamcoref.integrations.ray_rows import document_row, document_schema, table_of
from streamcoref.integrations.ray_storage import SharedFolder, StoredFile
from streamcoref.text import document_from_text
from streamcoref.text.files import read_text

PartFormat = Literal["jsonlines", "parquet"]
ENDINGS: dict[str, str] = {"jsonlines": ".jsonl", "parquet": ".parquet"}
LONGEST_HELD = 100_000_000  # characters of one text, which is held as a whole
_HELD_BYTES = 8 << 20  # of answers, until they are written together
Take = Callable[[IO[bytes]], None]  # adds answers, lines of JSON, to a part


@dataclass(frozen=True, slots=True)
class PartPlan:
    """Which files go into a part, with their sizes."""

    name: str
    files: tuple[tuple[str, int], ...]


@dataclass(slots=True)
class PartDone:
    """What a part holds, or would if it held anything: a part without a document is no file."""

    name: str
    files: list[tuple[str, int]] = field(default_factory=list)  # that it has all documents of, with their sizes
    texts: int = 0
    words: int = 0
    errors: dict[str, tuple[str, str | None]] = field(
        default_factory=dict
    )  # of files: the problem, and the remedy's name
    foreign: list[str] = field(default_factory=list)  # keys of texts that do not look like English

    def to_json(self) -> str:
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, content: str | bytes) -> PartDone:
        done = cls(**json.loads(content))
        done.files = [(name, size) for name, size in done.files]
        return done

    def error(self, file: str) -> StreamcorefError:
        problem, remedy = self.errors[file]
        return StreamcorefError(problem, None if remedy is None else Remedy[remedy])


@dataclass(frozen=True, slots=True)
class FolderTask:
    """What all parts of a folder have in common."""

    source: SharedFolder
    target: SharedFolder
    format: PartFormat
    read_as: str | None  # the format of all files, if that was told
    encoding: str
    errors: str
    options: Mapping[str, Any]


class PartWorker:
    """An actor of the pool: plans in, accounts of what was done out, as rows of one column of JSON."""

    def __init__(self, fetch: Callable[[], ModelParcel], device: str, task: FolderTask) -> None:
        self._resolver, self._task = fetch().unpack(device), task

    def __call__(self, batch: Any) -> dict[str, list[str]]:
        plans = [json.loads(plan) for plan in batch["part"]]
        done = [self._resolve(PartPlan(plan["name"], tuple(map(tuple, plan["files"])))) for plan in plans]
        return {"part": [part.to_json() for part in done]}

    def _resolve(self, plan: PartPlan) -> PartDone:
        """A file is in the part as a whole or not at all; of its answers a few megabytes are held, the rest on disk."""
        done = PartDone(plan.name)
        with ExitStack() as stack:
            take: Take | None = None
            for name, size in plan.files:
                with SpooledTemporaryFile(max_size=_HELD_BYTES) as lines:
                    try:
                        texts, words = self._answer_file(name, lines, done)
                    except Exception as error:  # of this file alone
                        done.errors[name] = _problem(error, name)
                        continue
                    lines.seek(0)
                    take = take or stack.enter_context(_PARTS[self._task.format](self._task.target, plan.name))
                    take(lines)
                done.files.append((name, size))
                done.texts, done.words = done.texts + texts, done.words + words
        return done

    def _answer_file(self, name: str, lines: IO[bytes], done: PartDone) -> tuple[int, int]:
        """The answers as lines of JSON; how many texts and words there were."""
        texts = words = 0
        with self._task.source.local_copy(name) as path:
            for document in self._documents(name, path):
                answer = self._answer(document, done)
                row = to_record(answer) if self._task.format == "jsonlines" else document_row(name, answer)
                lines.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")
                texts, words = texts + 1, words + len(answer.words)
        if not texts:
            raise InputError("there is no document in this file", name)
        return texts, words

    def _documents(self, name: str, path: Path) -> Iterator[Document]:
        task = self._task
        known = format_of_input(path) if task.read_as is None else format_named(task.read_as)
        if not known.is_prose:
            yield from read_documents(path, known.name)
            return
        chunks: list[str] = []
        held = 0
        for chunk in read_text(path, task.encoding, task.errors):
            held += len(chunk)
            if held > LONGEST_HELD:
                raise InputError(f"this text has more than {LONGEST_HELD:,} characters; make a store of it", path)
            chunks.append(chunk)
        yield document_from_text(key_of(name, known.endings), "".join(chunks))

    def _answer(self, document: Document, done: PartDone) -> Document:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always", LanguageWarning)
            answer = self._resolver.resolve(document=document, **self._task.options)
        if any(issubclass(one.category, LanguageWarning) for one in said):
            done.foreign.append(document.key)
        return answer


@contextmanager
def _jsonlines(target: SharedFolder, name: str) -> Iterator[Take]:
    with target.written(name) as stream:
        yield lambda lines: shutil.copyfileobj(lines, stream)


@contextmanager
def _parquet(target: SharedFolder, name: str) -> Iterator[Take]:
    parquet = import_extra("pyarrow.parquet", "ray")
    rows: list[Any] = []
    held = 0

    def take(lines: IO[bytes]) -> None:
        nonlocal held
        for line in lines:
            rows.append(json.loads(line))
            held += len(line)
            if held > _HELD_BYTES:
                write()

    def write() -> None:
        nonlocal held
        writer.write_table(table_of(rows, document_schema()))
        rows.clear()
        held = 0

    with target.written(name) as stream, parquet.ParquetWriter(stream, document_schema(), compression="zstd") as writer:
        yield take
        if rows:
            write()


_PARTS: dict[PartFormat, Callable[[SharedFolder, str], AbstractContextManager[Take]]] = {
    "jsonlines": _jsonlines,
    "parquet": _parquet,
}


def _problem(error: Exception, file: str) -> tuple[str, str | None]:
    """What was wrong with a file, and the name of the remedy, if there is one."""
    if isinstance(error, InputError):  # of a copy, perhaps, which nobody knows
        error = InputError(error.message, file, error.line, error.remedy)
    if isinstance(error, StreamcorefError):
        return error.problem, error.remedy and error.remedy.name
    return sentence_of(error, file), None


def key_of(name: str, endings: Sequence[str]) -> str:
    """A file's name below its folder without its ending."""
    name = name.removesuffix(".gz")
    return next((name.removesuffix(ending) for ending in endings if name.lower().endswith(ending)), name) or name


def endings_of(read_as: str | None) -> tuple[str, ...]:
    """Of the files of a folder that are to be read."""
    if read_as is None:
        return next(known for known in FORMATS.working() if known.is_prose).endings
    known = format_named(read_as)
    if known.read is None:
        raise StreamcorefError(f"the format {read_as} can only be written")
    return known.endings


def texts_in(source: SharedFolder, endings: tuple[str, ...]) -> list[StoredFile]:
    """The files of a folder and below that are read."""
    if not source.exists():
        raise InputError("no such folder", source.address)
    files = [file for file in source.listed() if plain_name(Path(file.name)).lower().endswith(endings)]
    if not files:
        raise InputError(f"there are no {endings[0]} files in this folder or below", source.address)
    return files
