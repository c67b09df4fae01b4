"""Books as documents: what every format has in common whose text must be taken out of its file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from streamcoref.document import Document
from streamcoref.formats.base import Reader
from streamcoref.text.books.book import Decoding, Extract
from streamcoref.text.books.opening import book_document


def book_reader(extract: Extract, endings: tuple[str, ...]) -> Reader:
    """A reader that opens the file itself: what is in it are no lines."""

    def read(_lines: Iterable[str], path: Path) -> Iterator[Document]:
        yield book_document(extract, endings, path, Decoding())

    return read
