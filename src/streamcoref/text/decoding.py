"""Bytes to characters, chunk by chunk, with a position by which the same place is known again later."""

from __future__ import annotations

import codecs
import json
from dataclasses import dataclass
from pathlib import Path

from streamcoref.errors import InputError, Remedy, StreamcorefError

ERRORS = ("strict", "replace", "ignore")
# Text may hold control characters, NUL too. Data that is no text has many, or many bytes that are no characters.
_CONTROLS = frozenset(map(chr, range(32))) - frozenset("\b\t\n\v\f\r\x1b")
_MANY_CONTROLS = 64
_BINARY_SHARE = 0.4
_MANY_BAD = 8  # bytes that are no characters, and their share: nothing that can be replaced without losing the text
_BAD_SHARE = 0.1
# UTF-16 without a byte order mark: so many bytes are looked at, if there are so many characters; the shares of zeros.
_WIDE_HEAD, _WIDE_FEWEST = 4096, 8
_WIDE_ZEROS, _WIDE_OTHERS = 0.7, 0.05
# Characters that every encoding of text has. They must come back however their bytes are cut.
_SAMPLE = "It was ... Anna.\r\n"


@dataclass(frozen=True, slots=True)
class DecoderPosition:
    """How much has been decoded. `decoder` is what the decoder remembers, such as the first half of a character."""

    bytes_read: int = 0
    lines: int = 0
    characters: int = 0
    decoder: str = ""


class TextDecoder:
    """Bytes in, as they come, and characters out, as they are: no line end is changed, no mark left out."""

    def __init__(self, path: Path, encoding: str, errors: str) -> None:
        self.path, self.encoding, self.errors = path, encoding, errors
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)
        self.bytes_read, self.lines, self.characters = 0, 1, 0

    @property
    def position(self) -> DecoderPosition:
        held, flags = self._decoder.getstate()
        return DecoderPosition(self.bytes_read, self.lines, self.characters, json.dumps([held.hex(), flags]))

    def decode(self, data: bytes, *, final: bool = False) -> str:
        if self.bytes_read == 0:
            self._refuse_binary(data)
        held, _ = self._decoder.getstate()
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            bad = error.object[error.start]
            raise InputError(
                f"not valid {self.encoding}: byte 0x{bad:02x} at offset {self.bytes_read - len(held) + error.start}",
                self.path,
                self.lines + error.object.count(b"\n", 0, error.start),
                self._remedy(error.object[error.start :]),
            ) from None
        except UnicodeError as error:  # no byte is to blame, such as when UTF-16 has no byte order mark
            raise InputError(f"not valid {self.encoding}: {error}", self.path, remedy=Remedy.ENCODING) from None
        self.bytes_read += len(data)
        self.lines += text.count("\n")
        self.characters += len(text)
        return text

    def _remedy(self, data: bytes) -> Remedy:
        """A text may have a byte that went wrong, and be read without it. What has many is no text in this encoding."""
        rest = data.decode(self.encoding, "replace")
        bad = rest.count("\ufffd") + sum(character in _CONTROLS for character in rest)
        return Remedy.ENCODING if bad >= _MANY_BAD and bad >= _BAD_SHARE * len(rest) else Remedy.BAD_BYTES

    def _refuse_binary(self, data: bytes) -> None:
        if (wide := _wide(data)) and not self.encoding.startswith(("utf-16", "utf-32")):
            raise InputError(f"this is UTF-16, not {self.encoding}", self.path, remedy=wide)
        head = data.decode(self.encoding, "replace")
        controls = sum(character in _CONTROLS for character in head)
        if controls >= _MANY_CONTROLS and controls + head.count("\ufffd") >= _BINARY_SHARE * len(head):
            raise InputError("this is binary data, not text", self.path, remedy=Remedy.ENCODING)


def _wide(data: bytes) -> Remedy | None:
    """How to read what is UTF-16, by its mark, or because every other byte of its Latin letters is zero.

    Without a look at this, short ones would be read as letters with NULs between them.
    """
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return None
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return Remedy.UTF_16
    first, second = data[:_WIDE_HEAD:2], data[1:_WIDE_HEAD:2]
    if len(second) < _WIDE_FEWEST:
        return None
    zeros = first.count(0) / len(first), second.count(0) / len(second)
    if min(zeros) > _WIDE_OTHERS or max(zeros) < _WIDE_ZEROS:
        return None
    return Remedy.UTF_16_LE if zeros[1] > zeros[0] else Remedy.UTF_16_BE


def check_encoding(encoding: str, errors: str) -> str:
    """The usual name of an encoding of text, if it is one that can be read chunk by chunk."""
    if errors not in ERRORS:
        raise StreamcorefError(
            f"errors {errors!r}: there is no such way to treat bad bytes; one of {', '.join(ERRORS)}"
        )
    try:
        known = codecs.lookup(encoding).name
    except (LookupError, ValueError):  # ValueError: a NUL in the name
        raise StreamcorefError(f"there is no encoding {encoding!r}", Remedy.KNOWN_ENCODING) from None
    if not _is_text_encoding(known):
        raise StreamcorefError(f"{encoding!r} is not an encoding of text", Remedy.KNOWN_ENCODING)
    return known


def _is_text_encoding(encoding: str) -> bool:
    """Python also calls encodings what packs bytes (base64), writes host names (idna) or knows only whole texts."""
    try:
        data = _SAMPLE.encode(encoding)
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        parts = [decoder.decode(data[i : i + 1]) for i in range(len(data))]
        return "".join(parts) + decoder.decode(b"", True) == _SAMPLE
    except (LookupError, UnicodeError):
        return False
