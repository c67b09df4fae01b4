"""Where `streamcoref resolve` is to write, settled before the long work begins."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from streamcoref.cli.defusing import defusing_writer
from streamcoref.cli.resolve.inputs import TextFile
from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.formats import FORMATS, Format, format_named, format_of_output
from streamcoref.formats.files import STANDARD, check_output
from streamcoref.store.connection import absent
from streamcoref.text.files import is_regular

DEFAULT = "entities"  # what is printed if nobody says what to write


class Target(NamedTuple):
    """Where the answers go: one file (or standard output) for all texts, or a folder with a file for each."""

    path: Path
    format: Format
    is_folder: bool

    def file_for(self, place: str) -> Path:
        return self.path / f"{place}{self.format.endings[0]}" if self.is_folder else self.path


def format_to_write(name: str) -> Format:
    """The format that answers are to be written in."""
    known = format_named(name)
    if known.write or known.write_event or known.is_store:
        return known
    if known.needs_tokenizer:
        raise StreamcorefError(
            f"{name} are made by a tokenizer; write jsonlines and convert it: streamcoref corpus convert --to {name}"
        )
    names = ", ".join(other.name for other in FORMATS.working() if other.write or other.write_event or other.is_store)
    raise StreamcorefError(f"the format {name} can only be read; --format takes {names}")


def settle_target(
    output: str | None, format_name: str | None, files: Sequence[TextFile], *, defuse: bool, force: bool
) -> Target:
    """Where to write, in which format; raises if that cannot be, such as when a file would be overwritten."""
    target = _settled(output, format_name, files, force=force)
    if not defuse:
        return target
    return target._replace(format=replace(target.format, write=defusing_writer(target.format)))


def _settled(output: str | None, format_name: str | None, files: Sequence[TextFile], *, force: bool) -> Target:
    told = None if format_name is None else format_to_write(format_name)
    if output is None or output == str(STANDARD):
        if told is not None and told.is_store:
            raise StreamcorefError("a store is a file, not something to print; name it, as in -o book.sqlite")
        return Target(STANDARD, told or format_named(DEFAULT), is_folder=False)
    path = Path(output)
    if path.is_dir() or output.endswith("/"):
        target = Target(path, told or format_named(DEFAULT), is_folder=True)
        _refuse_same_files(target, files)
        written = {target.file_for(place) for file in files for place in file.places}
        for folder in {path, *(file.parent for file in written)}:
            _make_folder(folder)
    else:
        target = Target(path, told or format_to_write(format_of_output(path).name), is_folder=False)
        written = {path}
        count = sum(file.count for file in files)
        if target.format.is_store and count > 1:
            raise StreamcorefError(f"{path}: a store holds one text, and there are {count}", Remedy.ONE_BY_ONE)
    for file in sorted(written):
        check_target(file, target.format, files, force=force)
    for folder in {file.parent for file in written if not (file.is_fifo() or file.is_char_device())}:
        _check_folder(folder)
    return target


def _refuse_same_files(target: Target, files: Sequence[TextFile]) -> None:
    seen: dict[str, Path] = {}
    for file in files:
        for place in file.places:
            if place in seen:
                both = f"{seen[place]} and {file.path}" if seen[place] != file.path else f"two documents of {file.path}"
                raise StreamcorefError(
                    f"{both} would both be written to {target.file_for(place)}; use a folder for each"
                )
            seen[place] = file.path


def check_target(path: Path, known: Format, files: Sequence[TextFile], *, force: bool) -> None:
    """Raise unless an answer in that format can be written there."""
    if path.is_file() and any(is_regular(file.path) and path.samefile(file.path) for file in files):
        raise StreamcorefError(f"{path}: this is the text itself; name another file with -o")
    check_output(path, force=force or known.is_store)
    if known.is_store and not force:
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
