"""EPUB in: an e-book, as it is read. See `text/books/epub.py`."""

from __future__ import annotations

from streamcoref.formats.base import Format
from streamcoref.formats.books import book_reader
from streamcoref.text.books.epub import extract

_ENDINGS = (".epub",)

FORMAT = Format(
    name="epub",
    description="an e-book: its text and its chapters",
    endings=_ENDINGS,
    read=book_reader(extract, _ENDINGS),
    extract=extract,
    takes_encoding=True,
    precedence=70,
)
