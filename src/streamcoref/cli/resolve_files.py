"""What `streamcoref resolve` is to read and where it is to write, settled before the long work begins."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from streamcoref.cli.text_input import Examined, examine, is_regular
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats.files import STANDARD, check_output, plain_name

# The formats, and how the files of an output folder end. Two endings keep a text's answer apart from the text.
ENDINGS = {
    "text": ".entities.txt",
    "json": ".json",
    "jsonl": ".jsonl",
    "jsonlines": ".jsonl",
    "csv": ".csv",
    "conll": ".conll",
    "conllu": ".conllu",
    "html": ".html",
    "resolved": ".resolved.txt",
    "sqlite": ".sqlite",
}
_TOLD_BY = {ending: name for name, ending in reversed(ENDINGS.items())} | {
    ".txt": "text",
    ".htm": "html",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
}
_TEXTS = (".txt", ".txt.gz")


class Input(NamedTuple):
    """A text to read. Its document's `key` is also its place below an output folder; a pipe cannot be examined."""

    path: Path
    key: str
    examined: Examined | None


class Target(NamedTuple):
    """Where the answers go: one file (or standard output) for all inputs, or a folder with a file for each."""

    path: Path
    format: str
    is_folder: bool

    def file_for(self, key: str) -> Path:
        return self.path / f"{key}{ENDINGS[self.format]}" if self.is_folder else self.path


def find_inputs(given: Sequence[Path], encoding: str, errors: str) -> tuple[list[Input], list[InputError]]:
    """The texts, and what is wrong with the others. A folder is all its .txt files, sorted."""
    inputs: list[Input] = []
    wrong: list[InputError] = []
    for path in given:
        try:
            named = _named(path)
        except InputError as error:
            wrong.append(error)
            continue
        for file, key in named:
            try:
                inputs.append(Input(file, key, examine(file, encoding, errors) if is_regular(file) else None))
            except InputError as error:
                wrong.append(error)
    if sum(found.path == STANDARD for found in inputs) > 1:
        raise StreamcorefError("standard input can be read only once; give - once")
    return inputs, wrong


def _named(path: Path) -> list[tuple[Path, str]]:
    """The files that an argument stands for, with their keys."""
    try:
        if path == STANDARD:
            return [(path, "standard-input")]
        if path.is_dir():
            return _in_folder(path)
        if path.exists():
            return [(path, _key(path.name))]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    raise InputError("no such file or folder", path)


def _in_folder(folder: Path) -> list[tuple[Path, str]]:
    found = []
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        if file.name.lower().endswith(_TEXTS) and not hidden and file.is_file():
            found.append((file, _key(name.as_posix())))
    if not found:
        raise InputError("there are no .txt files in this folder or below; name other files one by one", folder)
    return found


def _key(name: str) -> str:
    name = name.removesuffix(".gz")
    return name.removesuffix(".txt") or name


def settle_target(output: str | None, format_name: str | None, inputs: Sequence[Input], *, force: bool) -> Target:
    """Where to write, in which format; raises if that cannot be, such as when a file would be overwritten."""
    if format_name is not None and format_name not in ENDINGS:
        raise StreamcorefError(f"--format {format_name}: there is no such format; one of {', '.join(ENDINGS)}")
    if output is None or output == str(STANDARD):
        if format_name == "sqlite":
            raise StreamcorefError("a store is a file, not something to print; name it, as in -o book.sqlite")
        return Target(STANDARD, format_name or "text", is_folder=False)
    path = Path(output)
    if path.is_dir() or output.endswith("/"):
        target = Target(path, format_name or "text", is_folder=True)
        _refuse_same_files(target, inputs)
        for folder in {target.file_for(found.key).parent for found in inputs}:
            _make_folder(folder)
    else:
        target = Target(path, format_name or _told_by(path), is_folder=False)
        if target.format == "sqlite" and len(inputs) > 1:
            raise StreamcorefError(
                f"{path}: a store holds one text, and there are {len(inputs)}; name a folder, as in -o stores/"
            )
    files = {target.file_for(found.key) for found in inputs}
    for file in sorted(files):
        _check_file(file, target.format, inputs, force)
    for folder in {file.parent for file in files if not (file.is_fifo() or file.is_char_device())}:
        _check_folder(folder)
    return target


def _told_by(path: Path) -> str:
    name = plain_name(path).lower()
    found = next((format_name for ending, format_name in _TOLD_BY.items() if name.endswith(ending)), None)
    if found is None or (found == "sqlite" and path.suffix == ".gz"):
        raise StreamcorefError(f"{path}: the name does not tell the format; add --format, one of {', '.join(ENDINGS)}")
    return found


def _refuse_same_files(target: Target, inputs: Sequence[Input]) -> None:
    seen: dict[str, Path] = {}
    for path, key, _ in inputs:
        if key in seen:
            raise StreamcorefError(
                f"{seen[key]} and {path} would both be written to {target.file_for(key)}; use a folder for each"
            )
        seen[key] = path


def _check_file(path: Path, format_name: str, inputs: Sequence[Input], force: bool) -> None:
    if path.is_file() and any(found.path.exists() and path.samefile(found.path) for found in inputs):
        raise StreamcorefError(f"{path}: this is the text itself; name another file with -o")
    check_output(path, force=force or format_name == "sqlite")
    if format_name == "sqlite" and not force:
        from streamcoref.store import absent

        absent(path)  # raises if it is something else


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StreamcorefError(f"{folder}: the folder cannot be made: {error.strerror}") from None


def _check_folder(folder: Path) -> None:
    try:
        with tempfile.TemporaryFile(dir=folder):  # more certain than asking for permissions
            pass
    except OSError as error:
        raise StreamcorefError(f"{folder}: this folder cannot be written to: {error.strerror}; name another") from None
