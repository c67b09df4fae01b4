"""HTML in: a page, its headings by their levels."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

from streamcoref.errors import InputError
from streamcoref.text.books.book import Book, BookText, Decoding
from streamcoref.text.books.charsets import decoded
from streamcoref.text.books.markup import add_page

LARGEST_PAGE = 128 << 20  # bytes


def extract(stream: BinaryIO, path: Path, how: Decoding) -> Book:
    text = BookText(path)
    add_page(decoded(read_bounded(stream, path, LARGEST_PAGE), path, how), text, path)
    return text.book()


def read_bounded(stream: BinaryIO, path: Path, most: int) -> bytes:
    data = stream.read(most + 1)
    if len(data) > most:
        raise InputError(f"more than {most >> 20} megabytes, too many for a file that is read as a whole", path)
    return data
