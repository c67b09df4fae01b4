"""Formats: how documents come in and go out. One file each; this one knows them all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice
from pathlib import Path

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats import conll2012, conllu, jsonlines, litbank
from streamcoref.formats.base import Format, Writer
from streamcoref.formats.files import STANDARD, open_output, plain_name, read_lines

# In the order in which `detect` asks: what is more particular first.
FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        jsonlines.FORMAT,
        litbank.FORMAT,
        conll2012.FORMAT,
        conllu.FORMAT,
    )
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
    lines = read_lines(path)
    head: list[str] = []
    if format is None:
        head = _head(lines)
        format = _detect(path, head)  # noqa: A001
    reader = _known(format).read
    if reader is None:
        raise StreamcorefError(f"the format {format} can only be written; formats to read: {_names(readable=True)}")
    yield from reader(chain(head, lines), path)


def write_documents(
    documents: Iterable[Document],
    path: str | Path,
    format: str,  # noqa: A002
    *,
    force: bool = False,
) -> int:
    """Write documents as they come and return their number. The file appears complete or not at all."""
    writer = _known(format).write
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
