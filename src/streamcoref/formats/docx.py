"""Word in: a .docx file. See `text/books/docx.py`."""

from __future__ import annotations

from streamcoref.formats.base import Format
from streamcoref.formats.books import book_reader
from streamcoref.text.books.docx import extract

_ENDINGS = (".docx", ".docm")

FORMAT = Format(
    name="docx",
    description="a Word file: its text, and its headings as chapters",
    endings=_ENDINGS,
    read=book_reader(extract, _ENDINGS),
    extract=extract,
    precedence=70,
)
