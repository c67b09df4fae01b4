"""The text of a file or of standard input, chunk by chunk; and what is to be known of a file before the long work."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from streamcoref.errors import InputError, Remedy
from streamcoref.formats import format_of_head
from streamcoref.formats.files import STANDARD, read_chunks
from streamcoref.text.decoding import TextDecoder


@dataclass(frozen=True, slots=True)
class Examined:
    """A whole input file: its unpacked bytes and their hash, its characters, and when it was written."""

    size: int
    sha256: str
    characters: int
    modified: int


def examine(path: Path, encoding: str, errors: str) -> Examined:
    """Read a whole file once, without holding it: what is wrong with it shows before the long work begins."""
    modified = _modified(path)
    decoder, sha256 = TextDecoder(path, encoding, errors), hashlib.sha256()
    for data in read_chunks(path):
        sha256.update(data)
        decoder.decode(data)
    decoder.decode(b"", final=True)
    return Examined(decoder.bytes_read, sha256.hexdigest(), decoder.characters, modified)


def refuse_change(path: Path, examined: Examined) -> None:
    """Raise if a file was written to after it was examined."""
    if _modified(path) != examined.modified:
        raise InputError("the file changed while it was read", path, remedy=Remedy.LET_FINISH)


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None


def read_text(path: Path, encoding: str, errors: str, *, is_sure: bool = True) -> Iterator[str]:
    """Yield the text chunk by chunk. If nobody `is_sure` that it is plain text, it is looked at: see `read_prose`."""
    decoder = TextDecoder(path, encoding, errors)
    for data in read_prose(path, is_sure=is_sure):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def read_prose(path: Path, should_stop: Callable[[], bool] | None = None, *, is_sure: bool = False) -> Generator[bytes]:
    """The bytes of plain text; what begins like something else is refused unless somebody `is_sure`."""
    with closing(read_chunks(path, should_stop=should_stop)) as chunks:
        first = next(chunks, b"")
        if not is_sure:
            refuse_other_formats(first, path)
        if first:
            yield first
        yield from chunks


def refuse_other_formats(head: bytes, path: Path) -> None:
    """Raise if what begins like this is no plain text, but documents, a page, an archive."""
    found = format_of_head(head, path)
    if not found.is_prose:
        raise InputError(f"this looks like the format {found.name}, not like plain text", path, remedy=Remedy.READ_AS)


def is_regular(path: Path) -> bool:
    """Whether it is a file that can be read more than once, and not a pipe."""
    return path != STANDARD and path.is_file()
