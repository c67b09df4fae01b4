"""A book's file, open to be read at any place; and the book, taken out once while it is looked at and then read."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import BinaryIO, cast

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats.files import STANDARD, plain_name, read_chunks
from streamcoref.text.books.book import Book, Decoding, Extract

LARGEST_FILE = 1 << 30  # bytes, unpacked
_HELD = 1 << 20  # bytes in memory of what can be read only once; the rest is set aside on disk


def book_document(extract: Extract, endings: tuple[str, ...], path: Path, how: Decoding) -> Document:
    """The one document of a book's file, named after it."""
    name = plain_name(path)
    ending = next((ending for ending in endings if name.lower().endswith(ending)), "")
    return take_out(extract, path, how).document(name[: len(name) - len(ending)] or name)


def take_out(extract: Extract, path: Path, how: Decoding) -> Book:
    """The book in a file; `-` is standard input."""
    if path == STANDARD or not path.is_file():  # opening it says what is wrong
        return _taken_out(extract, path, how)
    state = path.stat()
    return _kept(extract, path, how, state.st_mtime_ns, state.st_size, state.st_ino)


# The latest one only: a file is looked at before the long work begins, and then read.
@lru_cache(maxsize=1)
def _kept(extract: Extract, path: Path, how: Decoding, *_state: int) -> Book:
    return _taken_out(extract, path, how)


def _taken_out(extract: Extract, path: Path, how: Decoding) -> Book:
    try:
        with _seekable(path) as stream:
            return extract(stream, path, how)
    except InputError:
        raise
    except StreamcorefError as error:  # a package that is missing: of several files each is spoken of
        raise InputError(error.problem, path) from error


@contextmanager
def _seekable(path: Path) -> Iterator[BinaryIO]:
    """What is packed by gzip, or comes through a pipe, is set aside first."""
    with tempfile.SpooledTemporaryFile(_HELD) as aside:
        size = 0
        try:
            for chunk in read_chunks(path):
                size += len(chunk)
                if size > LARGEST_FILE:
                    raise InputError(f"more than {LARGEST_FILE >> 20} megabytes, which is no book", path)
                aside.write(chunk)
            aside.seek(0)
        except OSError as error:
            raise InputError(f"cannot be set aside in {tempfile.gettempdir()}: {error.strerror}", path) from None
        yield cast(BinaryIO, aside)
