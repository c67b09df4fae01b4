"""Plain text in: one file is one document, named after the file, its text kept as it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from streamcoref.document import Document
from streamcoref.formats.base import Format
from streamcoref.text import document_from_text


def read(lines: Iterable[str], path: Path) -> Iterator[Document]:
    """Yield the one document. Its text has the file's own line ends, so offsets are offsets into the file's text."""
    name = path.name.removesuffix(".gz")
    yield document_from_text(name.removesuffix(".txt") or name, "".join(lines))


FORMAT = Format(
    name="text",
    description="plain text, one document a file",
    endings=(".txt",),
    read=read,
    precedence=60,
    is_prose=True,
)
