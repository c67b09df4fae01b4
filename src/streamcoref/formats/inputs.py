"""The documents of a file that somebody wants resolved, whatever its format."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from streamcoref.document import Document
from streamcoref.errors import InputError
from streamcoref.formats import Format, read_documents
from streamcoref.text.books.book import Decoding
from streamcoref.text.books.opening import book_document


def documents_of(path: Path, known: Format, encoding: str, errors: str) -> Iterator[Document]:
    """Those of a file of this format, which is not plain text; a book is one."""
    if not known.takes_encoding and (encoding, errors) != ("utf-8", "strict"):
        what = "are UTF-8" if known.extract is None else "have no encoding to be named"
        raise InputError(
            f"files of the format {known.name} {what}; an encoding and errors are for plain text and markup only", path
        )
    if known.extract is None:
        return read_documents(path, known.name)
    return iter([book_document(known.extract, known.endings, path, Decoding(encoding, errors))])
