"""Formats: how documents come in and go out. One file each; this one knows them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats import (
    conll2012,
    conllu,
    csv_out,
    html_out,
    json_out,
    jsonlines,
    litbank,
    piece_jsonlines,
    text,
)
from streamcoref.formats.base import Format, Reader, Writer
from streamcoref.formats.files import STANDARD, open_output, plain_name, read_lines
from streamcoref.formats.raw import RawDocument, to_raw

# In the order in which `detect` asks: what is more particular first.
FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        piece_jsonlines.FORMAT,
        jsonlines.FORMAT,
        litbank.FORMAT,
        conll2012.FORMAT,
        conllu.FORMAT,
        text.FORMAT,
        json_out.FORMAT,
        csv_out.FORMAT,
        html_out.FORMAT,
    )
}
_RAW_READERS = {
    module.FORMAT.name: module.read_raw for module in (piece_jsonlines, jsonlines, litbank, conll2012, conllu)
}
_HEAD_LINES, _HEAD_CHARACTERS = 200, 65536  # enough to know a format by


def detect(path: str | Path) -> str:
    """The name of a file's format, known by its content, or else by its name."""
    path = Path(path)
    if path == STANDARD:
        raise StreamcorefError("standard input can be read only once; name its format instead of asking for it")
    return _detect(path, _head(read_lines(path)))


def read_documents(path: str | Path, format: str | None = None) -> Iterator[Document]:  # noqa: A002
    """Yield the documents of a file one by one; `-` is standard input. Without `format` it is recognised."""
    path = Path(path)
    name, lines = _open(path, format)
    yield from _reader(name)(lines, path)


def read_raw_documents(path: str | Path, format: str | None = None) -> Iterator[RawDocument]:  # noqa: A002
    """Like `read_documents`, but as the file has them: clusters that share a mention are not merged."""
    path = Path(path)
    name, lines = _open(path, format)
    if name in _RAW_READERS:
        yield from _RAW_READERS[name](lines, path)
    else:
        yield from map(to_raw, _reader(name)(lines, path))


def _reader(name: str) -> Reader:
    reader = FORMATS[name].read
    if reader is None:
        raise StreamcorefError(f"the format {name} can only be written; formats to read: {_names(readable=True)}")
    return reader


def _open(path: Path, name: str | None) -> tuple[str, Iterator[str]]:
    """The name of the format and the lines."""
    lines = read_lines(path)
    if name is not None:
        return _known(name).name, lines
    head = _head(lines)
    return _detect(path, head), chain(head, lines)


def write_documents(
    documents: Iterable[Document],
    path: str | Path,
    format: str,  # noqa: A002
    *,
    force: bool = False,
) -> int:
    """Write documents as they come and return their number. The file appears complete or not at all."""
    writer = _known(format).write
    if format == piece_jsonlines.FORMAT.name:
        raise StreamcorefError(f"writing the format {format} needs a tokenizer and a segment length; give both")
    if writer is None:
        raise StreamcorefError(f"the format {format} can only be read; formats to write: {_names(readable=False)}")
    return write_with(writer, documents, path, force=force)


def write_with(writer: Writer, documents: Iterable[Document], path: str | Path, *, force: bool = False) -> int:
    """`write_documents` for a writer that needs more than a name, such as `piece_jsonlines.writer(...)`."""
    count = 0

    def counted() -> Iterator[Document]:
        nonlocal count
        for count, document in enumerate(documents, start=1):  # noqa: B007
            yield document

    with open_output(Path(path), force=force) as stream:
        writer(counted(), stream)
    return count


def _head(lines: Iterator[str]) -> list[str]:
    """The first lines, taken from the iterator."""
    head: list[str] = []
    size = 0
    for line in islice(lines, _HEAD_LINES):
        head.append(line)
        size += len(line)
        if size > _HEAD_CHARACTERS:
            break
    return head


def _detect(path: Path, head: list[str]) -> str:
    for name, lines in (("", head), (plain_name(path), [])):
        for known in FORMATS.values():
            if known.read and known.matches(name, lines):
                return known.name
    raise InputError(f"not a format we know; name it, one of {_names(readable=True)}", path)


def _known(name: str) -> Format:
    if name not in FORMATS:
        raise StreamcorefError(f"there is no format {name!r}; known formats: {', '.join(FORMATS)}")
    return FORMATS[name]


def _names(*, readable: bool) -> str:
    return ", ".join(f.name for f in FORMATS.values() if (f.read if readable else f.write) is not None)
