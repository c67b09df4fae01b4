"""PDF in: the text layer. See `text/books/pdf.py`."""

from __future__ import annotations

from streamcoref.formats.base import Format
from streamcoref.formats.books import book_reader
from streamcoref.text.books.pdf import extract

_ENDINGS = (".pdf",)

FORMAT = Format(
    name="pdf",
    description="the text layer of a PDF, its outline as chapters",
    endings=_ENDINGS,
    read=book_reader(extract, _ENDINGS),
    extract=extract,
    precedence=70,
)
