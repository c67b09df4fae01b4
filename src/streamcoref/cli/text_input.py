"""The text of a file or of standard input, decoded chunk by chunk, with a position from which to go on later."""

from __future__ import annotations

import codecs
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats.files import STANDARD, read_chunks

ERRORS = ("strict", "replace", "ignore")
# Text may hold control characters, NUL too. Data that is no text has many, or many bytes that are no characters.
_CONTROLS = frozenset(map(chr, range(32))) - frozenset("\b\t\n\v\f\r\x1b")
_MANY_CONTROLS = 64
_BINARY_SHARE = 0.4


@dataclass(frozen=True, slots=True)
class Position:
    """How much has been decoded. `decoder` is what the decoder remembers, such as the first half of a character."""

    bytes_read: int = 0
    lines: int = 0
    characters: int = 0
    decoder: str = ""


@dataclass(frozen=True, slots=True)
class Examined:
    """A whole input file: its unpacked bytes and their hash, its characters, and when it was written."""

    size: int
    sha256: str
    characters: int
    modified: int


class TextDecoder:
    """Bytes in, as they come, and characters out, as they are: no line end is changed, no mark left out."""

    def __init__(self, path: Path, encoding: str, errors: str, position: Position | None = None) -> None:
        self.path, self.encoding, self.errors = path, encoding, errors
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self.bytes_read, self.lines, self.characters = 0, 1, 0
        if position is not None and position.decoder:
            self.bytes_read, self.lines, self.characters = position.bytes_read, position.lines, position.characters
            held, flags = json.loads(position.decoder)
            self._decoder.setstate((bytes.fromhex(held), flags))

    @property
    def position(self) -> Position:
        held, flags = self._decoder.getstate()
        return Position(self.bytes_read, self.lines, self.characters, json.dumps([held.hex(), flags]))

    def decode(self, data: bytes, *, final: bool = False) -> str:
        if self.bytes_read == 0:
            self._refuse_binary(data)
        held, _ = self._decoder.getstate()
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            bad = error.object[error.start]
            raise InputError(
                f"not valid {self.encoding}: byte 0x{bad:02x} at offset {self.bytes_read - len(held) + error.start}; "
                "name the encoding with --encoding, or go on with --errors replace",
                self.path,
                self.lines + error.object.count(b"\n", 0, error.start),
            ) from None
        self.bytes_read += len(data)
        self.lines += text.count("\n")
        self.characters += len(text)
        return text

    def _refuse_binary(self, data: bytes) -> None:
        head = data.decode(self.encoding, "replace")
        controls = sum(character in _CONTROLS for character in head)
        if controls >= _MANY_CONTROLS and controls + head.count("\ufffd") >= _BINARY_SHARE * len(head):
            wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
            todo = "if it is UTF-16, add --encoding utf-16" if wide else "if it is text, name its --encoding"
            raise InputError(f"this is binary data, not text; {todo}", self.path)


def check_encoding(encoding: str, errors: str) -> str:
    """The usual name of an encoding of text, if it is one."""
    if errors not in ERRORS:
        raise StreamcorefError(
            f"--errors {errors}: there is no such way to treat bad bytes; one of {', '.join(ERRORS)}"
        )
    try:
        codecs.getincrementaldecoder(encoding)
        "a".encode(encoding)  # refuses codecs that are no text encodings, such as base64
        return codecs.lookup(encoding).name
    except (LookupError, UnicodeError):
        raise StreamcorefError(
            f"--encoding {encoding}: there is no such encoding; try utf-8, utf-16, latin-1 or cp1252"
        ) from None


def examine(path: Path, encoding: str, errors: str) -> Examined:
    """Read a whole file once, without holding it: what is wrong with it shows before the long work begins."""
    modified = _modified(path)
    decoder, sha256 = TextDecoder(path, encoding, errors), hashlib.sha256()
    for data in read_chunks(path):
        sha256.update(data)
        decoder.decode(data)
    decoder.decode(b"", final=True)
    return Examined(decoder.bytes_read, sha256.hexdigest(), decoder.characters, modified)


def refuse_change(path: Path, examined: Examined) -> None:
    """Raise if a file was written to after it was examined."""
    if _modified(path) != examined.modified:
        raise InputError("the file changed while it was read; let it be finished and start over with --force", path)


def _modified(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except FileNotFoundError:
        raise InputError("no such file", path) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from None


def read_text(path: Path, encoding: str, errors: str) -> Iterator[str]:
    """Yield the text chunk by chunk."""
    decoder = TextDecoder(path, encoding, errors)
    for data in read_chunks(path):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def is_regular(path: Path) -> bool:
    """Whether it is a file that can be read more than once, and not a pipe."""
    return path != STANDARD and path.is_file()
