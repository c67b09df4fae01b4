"""A stream's state as bytes: a mark, a checksum or a seal, plain values as JSON, and the model's memory as safetensors.

The checksum finds damage. Whoever can change a state can compute it anew, so everything is checked besides, and a
server that hands states to its clients seals them with a key that only it has.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from typing import Any

from pydantic import ValidationError

from streamcoref._saved_stream import SavedStream
from streamcoref.errors import StreamcorefError

VERSION = 4
_MARK = b"streamcoref stream\n"
_SEALED = b"streamcoref sealed\n"  # of the same length
_DIGEST = 16  # bytes of the checksum
_SEAL = 32  # bytes of the seal
_LENGTH = 8  # bytes of the length of the JSON
_DAMAGED = "this is not a saved stream, or it is damaged; begin the text again without a state"


def pack_state(values: dict[str, Any], memory: bytes, key: bytes | None = None) -> bytes:
    # Halves of characters stay halves: written as escapes, two that happen to be neighbours would be read as one.
    said = json.dumps({"version": VERSION, **values}, separators=(",", ":"), ensure_ascii=False)
    text = said.encode("utf-8", "surrogatepass")
    content = len(text).to_bytes(_LENGTH, "little") + text + memory
    if key is None:
        return _MARK + _checksum(content) + content
    return _SEALED + _seal(content, key) + content


def unpack_state(data: bytes, key: bytes | None = None) -> tuple[dict[str, Any], bytes]:
    """The values and the model's memory; a state that is not whole, of another version or seal, is refused."""
    if not isinstance(data, bytes):
        raise StreamcorefError(f"a stream's state is bytes, as Stream.state() gives them, not {type(data).__name__}")
    content = _content(data, key)
    end = _LENGTH + int.from_bytes(content[:_LENGTH], "little")
    try:
        values: dict[str, Any] = json.loads(content[_LENGTH:end])
        version = values["version"]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise StreamcorefError(_DAMAGED) from None
    if version != VERSION:
        raise StreamcorefError(
            f"the stream was saved in version {str(version)[:20]}, this release reads version {VERSION}; "
            "go on with the release that saved it"
        )
    try:
        SavedStream.model_validate(values)
    except ValidationError:  # which value it was helps nobody
        raise StreamcorefError(_DAMAGED) from None
    return values, content[end:]


def _content(data: bytes, key: bytes | None) -> bytes:
    """What stands behind the mark and the checksum, or the seal, if that is right."""
    begin = len(_MARK) + (_DIGEST if key is None else _SEAL)
    given, content = data[len(_MARK) : begin], data[begin:]
    if key is None:
        if data.startswith(_SEALED):
            raise StreamcorefError("this stream was saved with a key; give the same key to go on")
        if not data.startswith(_MARK) or given != _checksum(content):
            raise StreamcorefError(_DAMAGED)
    else:
        if data.startswith(_MARK):
            raise StreamcorefError("this stream was saved without a key, so anybody may have changed it")
        if not data.startswith(_SEALED) or not hmac.compare_digest(given, _seal(content, key)):
            raise StreamcorefError("this is not a stream that was saved with this key, or it was changed since")
    return content


def _checksum(content: bytes) -> bytes:
    return hashlib.blake2b(content, digest_size=_DIGEST).digest()


def _seal(content: bytes, key: bytes) -> bytes:
    if not isinstance(key, bytes) or not key:
        raise StreamcorefError("a key is bytes, at least one; 32 random ones, as secrets.token_bytes() gives, are best")
    return hmac.digest(key, content, hashlib.sha256)
