"""TensorFlow checkpoints made by hand, to hold what real ones rarely do. The real ones are in data/."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from streamcoref.convert.crc32c import crc32c

MAGIC = bytes.fromhex("57fb808b247547db")


def varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def masked(data: bytes) -> bytes:
    checksum = crc32c(data)
    return (((checksum >> 15 | checksum << 17) + 0xA282EAD8) & 0xFFFFFFFF).to_bytes(4, "little")


def block(entries: Sequence[tuple[bytes, bytes]]) -> bytes:
    out, before = b"", b""
    for key, value in entries:
        longest = min(len(key), len(before))
        shared = bisect_left(range(1, longest + 1), 1, key=lambda end, key=key, old=before: key[:end] != old[:end])
        out += varint(shared) + varint(len(key) - shared) + varint(len(value)) + key[shared:] + value
        before = key
    return out + (0).to_bytes(4, "little") + (1).to_bytes(4, "little")  # one restart, at 0


def write_table(
    path: Path, blocks: Sequence[Sequence[tuple[bytes, bytes]]], compression: int = 0, again: int = 1
) -> None:
    """Blocks, of which the index tells; `again` and again, if it is not an honest one."""
    out, handles = b"", []

    def add(content: bytes) -> bytes:
        nonlocal out
        handle = varint(len(out)) + varint(len(content))
        kind = bytes([compression])
        out += content + kind + masked(content + kind)
        return handle

    handles = [(entries[-1][0], add(block(entries))) for entries in blocks]
    footer = add(block([])) + add(block(handles * again))
    path.write_bytes(out + footer.ljust(40, b"\0") + MAGIC)


def header(shards: int = 1, big_endian: bool = False) -> bytes:
    return b"\x08" + varint(shards) + (b"\x10\x01" if big_endian else b"")


def entry(array: np.ndarray[Any, Any], offset: int) -> bytes:
    shape = b"".join(b"\x12" + varint(len(d)) + d for d in (b"\x08" + varint(side) for side in array.shape))
    data = array.tobytes()
    return b"".join(
        [
            b"\x08" + varint({"float32": 1, "int64": 9}[array.dtype.name]),
            b"\x12" + varint(len(shape)) + shape,
            b"\x20" + varint(offset),
            b"\x28" + varint(len(data)),
            b"\x35" + masked(data),
        ]
    )


def write_bundle(prefix: Path, arrays: Mapping[str, np.ndarray[Any, Any]], in_a_block: int = 20) -> None:
    """A checkpoint whose index has several blocks."""
    entries, data = [(b"", header())], b""
    for name, array in sorted(arrays.items()):
        entries.append((name.encode(), entry(array, len(data))))
        data += array.tobytes()
    blocks = [entries[i : i + in_a_block] for i in range(0, len(entries), in_a_block)]
    write_table(Path(f"{prefix}.index"), blocks)
    Path(f"{prefix}.data-00000-of-00001").write_bytes(data)
