"""A stream's state as bytes: a mark, a checksum, plain values as JSON, and the model's memory as safetensors."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from streamcoref.errors import StreamcorefError

VERSION = 2
_MARK = b"streamcoref stream\n"
_DIGEST = 16  # bytes of the checksum
_LENGTH = 8  # bytes of the length of the JSON


def pack_state(values: dict[str, Any], memory: bytes) -> bytes:
    text = json.dumps({"version": VERSION, **values}, separators=(",", ":")).encode()
    content = len(text).to_bytes(_LENGTH, "little") + text + memory
    return _MARK + _checksum(content) + content


def unpack_state(data: bytes) -> tuple[dict[str, Any], bytes]:
    """The values and the model's memory; a state that is not whole, or of another version, is refused."""
    if not isinstance(data, bytes):
        raise StreamcorefError(f"a stream's state is bytes, as Stream.state() gives them, not {type(data).__name__}")
    begin = len(_MARK) + _DIGEST
    content = data[begin:]
    if not data.startswith(_MARK) or data[len(_MARK) : begin] != _checksum(content):
        raise StreamcorefError("this is not a saved stream, or it is damaged; begin the text again without a state")
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    values: dict[str, Any] = json.loads(content[_LENGTH:end])
    if values["version"] != VERSION:
        raise StreamcorefError(
            f"the stream was saved in version {values['version']}, this release reads version {VERSION}; "
            "go on with the release that saved it"
        )
    return values, content[end:]


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()
