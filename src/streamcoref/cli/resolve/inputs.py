"""What `streamcoref resolve` is to read, looked at before the long work begins."""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from streamcoref.cli.resolve.job import Refuse
from streamcoref.corpora.finding import is_file_of_folder, refuse_broken_link
from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats import Format, format_named, format_of_input, readable
from streamcoref.formats.files import STANDARD, plain_name
from streamcoref.formats.inputs import documents_of
from streamcoref.text.files import Examined, examine, is_regular

# What of a document's key may stand in a file's name, besides letters and digits; all else is % and its bytes.
_IN_FILE_NAMES = frozenset("-_.+=@ ")
_LONGEST_NAME = 200  # bytes, with room for an ending; file systems hold 255


@dataclass(frozen=True, slots=True)
class TextFile:
    """A file, or standard input. `key` is its name without ending, below the folder in which it was found.

    A pipe cannot be looked at. Of a file, plain text is `examined`; of other formats there are the `keys` of its
    documents. `is_sure` says that its format was told or recognised, and not just taken for granted.
    """

    path: Path
    key: str
    format: Format
    is_sure: bool
    examined: Examined | None = None
    keys: tuple[str, ...] | None = None

    @property
    def count(self) -> int:
        """How many texts it has, as far as that is known."""
        return 1 if self.keys is None else len(self.keys)

    @property
    def places(self) -> list[str]:
        """Where its texts belong below an output folder; of documents that nobody has seen that is not known."""
        if self.format.is_prose:
            return [self.key]
        return [self.place(key) for key in self.keys or ()]

    def place(self, key: str) -> str:
        """Where the document of that key belongs below an output folder."""
        return str(PurePosixPath(self.key).parent / file_name(key))


@dataclass(frozen=True, slots=True)
class Text:
    """One text of a file: its plain text, or one of its documents."""

    file: TextFile
    document: Document | None = None

    @property
    def key(self) -> str:
        return self.file.key if self.document is None else self.document.key

    @property
    def place(self) -> str:
        return self.file.key if self.document is None else self.file.place(self.document.key)


def file_name(key: str) -> str:
    """A document's key as the name of a file, without ending; two keys never share one."""
    name = "".join(c if c.isalnum() or c in _IN_FILE_NAMES else _escaped(c) for c in key) or "%"
    if name.startswith("."):  # hidden, or the folder above
        name = _escaped(".") + name[1:]
    if len(name.encode()) > _LONGEST_NAME:
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()
        name = name.encode()[: _LONGEST_NAME - len(digest) - 1].decode("utf-8", "ignore") + "%" + digest
    return name


def _escaped(character: str) -> str:
    return "".join(f"%{byte:02X}" for byte in character.encode("utf-8", "surrogatepass"))


def texts_of(files: Iterable[TextFile], encoding: str, errors: str, refuse: Refuse) -> Generator[Text]:
    """The texts of all files, one after the other; documents are read as they are asked for."""
    for file in files:
        if file.format.is_prose:
            yield Text(file)
            continue
        try:
            for document in documents_of(file.path, file.format, encoding, errors):
                yield Text(file, document)
        except InputError as error:  # a pipe that was not looked at, or a file that has changed
            refuse(error)


def format_to_read(name: str | None) -> Format | None:
    """The format that all files are said to have."""
    if name is None:
        return None
    known = format_named(name)
    if known.read is None:
        names = ", ".join(other.name for other in readable())
        raise StreamcorefError(f"the format {name} can only be written; --from takes {names}")
    return known


def find_files(
    given: Sequence[Path], told: Format | None, encoding: str, errors: str
) -> tuple[list[TextFile], list[InputError]]:
    """The files, and what is wrong with the others. A folder is all its files of the format, or all .txt, sorted."""
    prose = next(known for known in readable() if known.is_prose)
    files: list[TextFile] = []
    wrong: list[InputError] = []
    for path in given:
        try:
            named = _named(path, told or prose)
        except InputError as error:
            wrong.append(error)
            continue
        for file, key in named:
            try:
                refuse_broken_link(file)
                if is_regular(file):
                    files.append(_look_at(file, key, told or format_of_input(file), encoding, errors))
                else:
                    files.append(TextFile(file, key, told or prose, is_sure=told is not None))
            except InputError as error:
                wrong.append(error)
    if sum(found.path == STANDARD for found in files) > 1:
        raise StreamcorefError("standard input can be read only once; give - once")
    return files, wrong


def _look_at(path: Path, key: str, known: Format, encoding: str, errors: str) -> TextFile:
    if known.is_prose:
        return TextFile(path, key, known, is_sure=True, examined=examine(path, encoding, errors))
    keys = tuple(document.key for document in documents_of(path, known, encoding, errors))
    if not keys:
        raise InputError("there is no document in this file", path)
    return TextFile(path, key, known, is_sure=True, keys=keys)


def _named(path: Path, known: Format) -> list[tuple[Path, str]]:
    """The files that an argument stands for, with their keys."""
    try:
        if path == STANDARD:
            return [(path, "standard-input")]
        if path.is_dir():
            return _in_folder(path, known)
        if path.exists():
            return [(path, _key(path.name, known))]
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None
    raise InputError("no such file or folder", path)


def _in_folder(folder: Path, known: Format) -> list[tuple[Path, str]]:
    found = []
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder)
        hidden = any(part.startswith(".") for part in name.parts)
        # A link without an ending that leads nowhere may have led to a folder of texts.
        ours = plain_name(file).lower().endswith(known.endings) or (not file.suffix and not file.exists())
        if ours and not hidden and is_file_of_folder(file):
            found.append((file, _key(name.as_posix(), known)))
    if not found:
        raise InputError(
            f"there are no {known.endings[0]} files in this folder or below; name other files one by one", folder
        )
    return found


def _key(name: str, known: Format) -> str:
    name = name.removesuffix(".gz")
    return next((name.removesuffix(ending) for ending in known.endings if name.endswith(ending)), name) or name
