"""As much of the protocol buffer wire format as TensorFlow's index files use."""

from __future__ import annotations

from collections.abc import Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message as (number, value), in their order. Raises ValueError on anything malformed."""
    position = 0
    while position < len(data):
        tag, position = varint(data, position)
        kind = tag & 7
        if kind == VARINT:
            value, position = varint(data, position)
            yield tag >> 3, value
            continue
        if kind == BYTES:
            length, position = varint(data, position)
        elif kind in (FIXED32, FIXED64):
            length = 4 if kind == FIXED32 else 8
        else:
            raise ValueError(f"unknown wire type {kind}")
        content = take(data, position, length)
        position += length
        yield tag >> 3, content if kind == BYTES else int.from_bytes(content, "little")


def varint(data: bytes, position: int) -> tuple[int, int]:
    """A number of seven bits a byte and where it ends."""
    value = shift = 0
    while True:
        byte = take(data, position, 1)[0]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, position
        shift += 7
        if shift > 63:
            raise ValueError("a number has more than 64 bits")


def take(data: bytes, position: int, length: int) -> bytes:
    """Exactly `length` bytes."""
    if position + length > len(data):
        raise ValueError("it ends too early")
    return data[position : position + length]
