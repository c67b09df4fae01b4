"""Sorted tables in LevelDB's format, which is that of the index of a TensorFlow checkpoint.

A file is a row of blocks, each with a compression byte and a checksum behind it, and a footer that says where the
block of blocks is. Keys in a block are stored without the beginning they share with the key before.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from streamcoref.convert.crc32c import crc32c, unmask
from streamcoref.convert.protobuf import take, varint
from streamcoref.errors import InputError

MAGIC = 0xDB4775248B80FB57.to_bytes(8, "little")
FOOTER = 48
TRAILER = 5  # behind each block: one byte of compression, four of checksum
_LARGEST = 64 << 20  # bytes of an index; the largest models' have some hundred thousands
_LONGEST_KEY = 1 << 12  # bytes; a key may share its beginning with the one before, so that a long one costs nothing


def read_table(path: Path) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values in order, checksums verified. The file is an index: small, and read whole."""
    try:
        if path.stat().st_size > _LARGEST:
            raise InputError(f"has more than {_LARGEST >> 20} megabytes, which no index needs", path)
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path) from error
    if len(data) < FOOTER or data[-8:] != MAGIC:
        raise InputError("not the index of a TensorFlow checkpoint, or cut off; fetch it again", path)
    try:
        _, position = _handle(data[-FOOTER:], 0)
        index, _ = _handle(data[-FOOTER:], position)
        left = len(data)  # each block is there once
        for _, handle in _entries(_block(data, *index, path)):
            (offset, size), _ = _handle(handle, 0)
            left -= size + TRAILER
            if left < 0:
                raise ValueError("its blocks are larger than itself")
            yield from _entries(_block(data, offset, size, path))
    except ValueError as error:
        raise InputError(f"the index is damaged: {error}; fetch it again", path) from error


def _handle(data: bytes, position: int) -> tuple[tuple[int, int], int]:
    """Offset and size of a block, and where they end."""
    offset, position = varint(data, position)
    size, position = varint(data, position)
    return (offset, size), position


def _block(data: bytes, offset: int, size: int, path: Path) -> bytes:
    block = take(data, offset, size + TRAILER)
    content, compression, stored = block[:size], block[size], block[size + 1 :]
    if crc32c(block[: size + 1]) != unmask(int.from_bytes(stored, "little")):
        raise InputError(f"the checksum of the index block at byte {offset} is wrong; fetch the file again", path)
    if compression:
        raise InputError(
            f"the index block at byte {offset} is compressed (type {compression}), which TensorFlow's own never are; "
            "save the checkpoint again with tf.compat.v1.train.Saver",
            path,
        )
    return content


def _entries(block: bytes) -> Iterator[tuple[bytes, bytes]]:
    restarts = int.from_bytes(take(block, len(block) - 4, 4), "little") if len(block) >= 4 else 0
    end = len(block) - 4 * (restarts + 1)
    if end < 0:
        raise ValueError("a block is too short")
    position, key = 0, b""
    while position < end:
        shared, position = varint(block, position)
        own, position = varint(block, position)
        length, position = varint(block, position)
        if shared > len(key):
            raise ValueError("a key shares more than there is")
        if shared + own > _LONGEST_KEY:
            raise ValueError("a name is longer than any")
        key = key[:shared] + take(block, position, own)
        position += own
        yield key, take(block, position, length)
        position += length
