"""Markdown in. See `text/books/markdown.py`."""

from __future__ import annotations

from streamcoref.formats.base import Format
from streamcoref.formats.books import book_reader
from streamcoref.text.books.markdown import extract

_ENDINGS = (".md", ".markdown")

FORMAT = Format(
    name="markdown",
    description="a text in Markdown, its headings as chapters",
    endings=_ENDINGS,
    read=book_reader(extract, _ENDINGS),
    extract=extract,
    takes_encoding=True,
    precedence=70,
)
