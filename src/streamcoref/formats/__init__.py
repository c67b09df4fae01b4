"""Formats: how documents come in and go out. One file each; `FORMATS` is the table of them all. See docs/formats.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.formats.base import Format, Reader, Writer
from streamcoref.formats.csv_out import writer as csv_writer
from streamcoref.formats.files import open_output, read_lines
from streamcoref.formats.piece_jsonlines import writer as piece_writer
from streamcoref.formats.quotations_out import writer as quotations_writer
from streamcoref.formats.raw import RawDocument, to_raw
from streamcoref.formats.recognising import (
    book_in,
    detect,
    first_lines,
    format_of_head,
    format_of_input,
    format_of_output,
    recognised,
)
from streamcoref.formats.table import FORMATS, format_named, names, readable, writable

__all__ = [
    "FORMATS",
    "Format",
    "RawDocument",
    "Reader",
    "Writer",
    "csv_writer",
    "detect",
    "format_named",
    "format_of_head",
    "format_of_input",
    "format_of_output",
    "open_raw_documents",
    "piece_writer",
    "quotations_writer",
    "read_documents",
    "read_raw_documents",
    "readable",
    "writable",
    "write_documents",
    "write_with",
    "writer_of",
]


def read_documents(path: str | Path, format: str | None = None) -> Iterator[Document]:  # noqa: A002
    """Yield the documents of a file one by one; `-` is standard input. Without `format` it is recognised."""
    path = Path(path)
    found, lines = _open(path, format)
    yield from _reader(found)(lines, path)


def read_raw_documents(path: str | Path, format: str | None = None) -> Iterator[RawDocument]:  # noqa: A002
    """Like `read_documents`, but as the file has them: clusters that share a mention are not merged."""
    yield from open_raw_documents(path, format)[1]


def open_raw_documents(
    path: str | Path,
    format: str | None = None,  # noqa: A002
) -> tuple[Format, Iterator[RawDocument]]:
    """`read_raw_documents` with the format, which a pipe can be asked for only while it is read."""
    path = Path(path)
    found, lines = _open(path, format)
    if found.read_raw is not None:
        return found, found.read_raw(lines, path)
    return found, map(to_raw, _reader(found)(lines, path))


def _open(path: Path, name: str | None) -> tuple[Format, Iterator[str]]:
    """The format and the lines, of which none is read before somebody asks for it."""
    lines = read_lines(path)
    if name is not None:
        return format_named(name), lines
    if (book := book_in(path)) is not None:
        return book, lines
    head = first_lines(lines)
    return recognised(path, head), chain(head, lines)


def _reader(found: Format) -> Reader:
    if found.read is None:
        known = [other for other in FORMATS.working() if other.read]
        raise StreamcorefError(f"the format {found.name} can only be written; formats to read: {names(known)}")
    return found.read


def write_documents(
    documents: Iterable[Document],
    path: str | Path,
    format: str,  # noqa: A002
    *,
    force: bool = False,
) -> int:
    """Write documents as they come and return their number. The file appears complete or not at all."""
    return write_with(writer_of(format_named(format)), documents, path, force=force)


def writer_of(found: Format) -> Writer:
    """The writer of a format that documents can be written in."""
    if found.write is not None:
        return found.write
    if found.needs_tokenizer:
        raise StreamcorefError(f"writing the format {found.name} needs a tokenizer and a segment length; give both")
    if found.write_event is not None or found.is_store:
        raise StreamcorefError(f"the format {found.name} is written while a text is resolved, not from documents")
    known = [other for other in FORMATS.working() if other.write]
    raise StreamcorefError(f"the format {found.name} can only be read; formats to write: {names(known)}")


def write_with(writer: Writer, documents: Iterable[Document], path: str | Path, *, force: bool = False) -> int:
    """`write_documents` for a writer that needs more than a name, such as that of `piece_writer` or `csv_writer`."""
    count = 0

    def counted() -> Iterator[Document]:
        nonlocal count
        for count, document in enumerate(documents, start=1):  # noqa: B007
            yield document

    with open_output(Path(path), force=force) as stream:
        writer(counted(), stream)
    return count
