"""Which format a file has: by its first lines, or else by its name."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import islice
from pathlib import Path

from streamcoref.errors import InputError, Remedy, StreamcorefError
from streamcoref.formats.base import Format
from streamcoref.formats.files import LONGEST_LINE, STANDARD, plain_name, read_chunks, read_lines, too_long
from streamcoref.formats.foreign import as_text, foreign, is_json
from streamcoref.formats.table import FORMATS, names

_HEAD_LINES, _HEAD_CHARACTERS = 200, 65536  # enough to know a format by


def detect(path: str | Path) -> str:
    """The name of the format of a file with documents, known by its content, or else by its name."""
    path = Path(path)
    if path == STANDARD:
        raise StreamcorefError("standard input can be read only once; name its format instead of asking for it")
    return (book_in(path) or recognised(path, first_lines(read_lines(path)))).name


def book_in(path: Path) -> Format | None:
    """The format of a file whose text must be taken out of it, if it is one; what is read only once is not asked."""
    if path == STANDARD or not path.is_file():
        return None
    with closing(read_chunks(path)) as chunks:
        return _book(_head(chunks), path)


def first_lines(lines: Iterator[str]) -> list[str]:
    """The head of a file, taken from the iterator."""
    head: list[str] = []
    size = 0
    for line in islice(lines, _HEAD_LINES):
        head.append(line)
        size += len(line)
        if size > _HEAD_CHARACTERS:
            break
    return head


def recognised(path: Path, head: list[str]) -> Format:
    """The format of a file with documents that begins with these lines."""
    known = [found for found in FORMATS.working() if found.read]
    found = _by_content(path, head, known) or _by_name(path, known)
    if found is None:
        raise InputError(f"not a format we know; name it, one of {names(known)}", path)
    return found


def format_of_input(path: str | Path) -> Format:
    """The format of a file to be resolved: one with documents, or `text`, which is any text that is nothing else.

    Only the beginning is looked at. What is known to be no prose, by its content or its name, is an error.
    """
    path = Path(path)
    if path == STANDARD:
        raise StreamcorefError("standard input can be read only once; look at what comes with format_of_head")
    with closing(read_chunks(path)) as chunks:
        head = bytearray(_head(chunks))
        # A document of JSON is one line, which may be long; its last keys tell pieces from words.
        begin = head.removeprefix(codecs.BOM_UTF8).lstrip()
        if begin.startswith(b"{") and b"\n" not in begin:
            for chunk in chunks:
                head += chunk
                if len(head) > LONGEST_LINE:
                    raise too_long(path, 1)
                if b"\n" in chunk:
                    break
    return format_of_head(bytes(head), path)


def _head(chunks: Iterator[bytes]) -> bytes:
    """The first bytes, taken from the iterator."""
    head = bytearray()
    for chunk in chunks:
        head += chunk
        if len(head) >= _HEAD_CHARACTERS:
            break
    return bytes(head)


def format_of_head(head: bytes, path: str | Path) -> Format:
    """`format_of_input` for what can be read only once: its first bytes, unpacked, and its path, or `-`."""
    path = Path(path)
    if (book := _book(head, path)) is not None:
        return book
    everything = FORMATS.working()
    prose = next(known for known in everything if known.is_prose)
    text = as_text(head)
    lines = first_lines(iter(io.StringIO(text, newline="\n")))
    found = _by_content(path, lines, [known for known in everything if known.read]) or _by_name(path, everything)
    if found is not None and found.read and not found.is_prose:
        return found  # where only the name says so, the reader tells what is wrong with the content
    if found is not None and not plain_name(path).lower().endswith(prose.endings):
        raise InputError(
            f"named like the format {found.name} ({found.description}), which is written and never read",
            path,
            remedy=Remedy.READ_AS,
        )
    if is_json(text):
        raise InputError(
            "this is JSON, not plain text, and its first line is no document that we can read",
            path,
            remedy=Remedy.READ_AS,
        )
    return prose


def _book(head: bytes, path: Path) -> Format | None:
    """The format whose text is taken out of a file that begins like this; an error if there is none for what it is."""
    found = foreign(head)
    if found is None:
        return None
    if found.format is not None:
        return FORMATS[found.format]
    named = readable_by_name(path)
    if named is not None and named.name in found.perhaps:
        return named
    raise InputError(f"this is {found.what}, not plain text; {found.advice}", path)


def readable_by_name(path: Path) -> Format | None:
    """The format to read that a file's name, without a look at its content, is that of."""
    return _by_name(path, [known for known in FORMATS.working() if known.read])


def format_of_output(path: str | Path) -> Format:
    """The format to write, told by the file's name."""
    path = Path(path)
    written = [known for known in FORMATS.working() if known.write or known.write_event or known.is_store]
    found = _by_name(path, [*written, *(known for known in FORMATS.working() if known.needs_tokenizer)])
    if found is None or (found.is_store and plain_name(path) != path.name):  # a store cannot be packed
        raise StreamcorefError(
            f"{path}: the name does not tell the format to write (one of {names(written)})", Remedy.FORMAT
        )
    return found


def _by_content(path: Path, head: list[str], known: Iterable[Format]) -> Format | None:
    return next((found for found in known if found.matches(plain_name(path), head)), None)


def _by_name(path: Path, known: Iterable[Format]) -> Format | None:
    """The format of the longest ending that the name has."""
    name = plain_name(path).lower()
    fitting = [(len(ending), found) for found in known for ending in found.endings if name.endswith(ending)]
    return max(fitting, key=lambda pair: pair[0])[1] if fitting else None
