"""TensorFlow checkpoints ("tensor bundles") without TensorFlow: an index of small messages, and raw data in shards."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from streamcoref.convert.crc32c import crc32c, unmask
from streamcoref.convert.protobuf import fields
from streamcoref.convert.table_file import read_table
from streamcoref.errors import InputError

# Of TensorFlow's types, those that weights and counters have; by the numbers of its DataType.
TYPES = {1: "<f4", 2: "<f8", 3: "<i4", 9: "<i8", 19: "<f2"}
_MOST_DIMENSIONS = 254  # as in TensorFlow
_MOST_SHARDS = 99_999  # their files are numbered by five digits


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a variable lies: `size` bytes from `offset` of shard `shard`."""

    type: int
    shape: tuple[int, ...]
    shard: int
    offset: int
    size: int
    checksum: int


class TensorBundle:
    """The variables of a checkpoint `PREFIX.index`, `PREFIX.data-00000-of-00001`, each read when it is asked for."""

    def __init__(self, prefix: Path) -> None:
        self.index = Path(f"{prefix}.index")
        table = read_table(self.index)
        key, header = next(table, (b"", b""))
        try:
            if key != b"" or not header:
                raise ValueError("it has no header")
            self.shards = self._shards(prefix, header)
            messages = {key: dict(fields(value)) for key, value in table}
            self._refuse_slices(messages)
            self.entries = {key.decode(): self._entry(values) for key, values in messages.items()}
        except ValueError as error:
            raise InputError(f"the index is damaged: {error}; fetch it again", self.index) from error
        for name, entry in self.entries.items():
            if entry.offset + entry.size > self.shards[entry.shard].stat().st_size:
                raise InputError(f"cut off before the end of the variable {name}; fetch it again", self._shard(name))

    def read(self, name: str) -> npt.NDArray[Any]:
        """The values of a variable, checksum verified: a read-only view of the file."""
        entry = self.entries[name]
        path = self._shard(name)
        if entry.type not in TYPES:
            raise InputError(f"the variable {name} has TensorFlow's type {entry.type}, which no weight has", path)
        dtype = np.dtype(TYPES[entry.type])
        if entry.size != dtype.itemsize * math.prod(entry.shape):
            raise InputError(f"the variable {name} of shape {list(entry.shape)} has {entry.size} bytes", path)
        data = np.memmap(path, mode="r", offset=entry.offset, shape=(entry.size,)) if entry.size else np.zeros(0, "u1")
        if crc32c(data) != entry.checksum:
            raise InputError(f"the checksum of the variable {name} is wrong; fetch the file again", path)
        return data.view(dtype).reshape(entry.shape)

    def _shard(self, name: str) -> Path:
        return self.shards[self.entries[name].shard]

    def _shards(self, prefix: Path, header: bytes) -> list[Path]:
        values = dict(fields(header))  # 1: shards, 2: endianness, 3: version
        if values.get(2, 0) != 0:
            raise InputError("written by a big-endian machine; save it again on a little-endian one", self.index)
        count = _number(values.get(1, 0))
        if not 0 < count <= _MOST_SHARDS:
            raise ValueError(f"it names {count} shards")
        paths = [Path(f"{prefix}.data-{number:05d}-of-{count:05d}") for number in range(count)]
        for path in paths:
            if not path.is_file():
                raise InputError(f"the file is missing; {self.index.name} needs it beside it", path)
        return paths

    def _refuse_slices(self, messages: dict[bytes, dict[int, int | bytes]]) -> None:
        names = [key.decode(errors="replace") for key, values in messages.items() if 7 in values]
        if names:
            raise InputError(
                f"{', '.join(names[:5])} is stored in slices (a partitioned variable), which is not read; "
                "save it whole with tf.compat.v1.train.Saver",
                self.index,
            )

    def _entry(self, values: dict[int, int | bytes]) -> Entry:
        """From a message of 1: type, 2: shape, 3: shard, 4: offset, 5: size, 6: masked checksum, 7: slices."""
        entry = Entry(
            type=_number(values.get(1, 0)),
            shape=_shape(_message(values.get(2, b""))),
            shard=_number(values.get(3, 0)),
            offset=_number(values.get(4, 0)),
            size=_number(values.get(5, 0)),
            checksum=unmask(_number(values.get(6, 0))),
        )
        if entry.shard >= len(self.shards):
            raise ValueError(f"it names a shard {entry.shard} of {len(self.shards)}")
        return entry


def _shape(message: bytes) -> tuple[int, ...]:
    dimensions = [_message(value) for number, value in fields(message) if number == 2]
    if len(dimensions) > _MOST_DIMENSIONS:
        raise ValueError(f"a variable has {len(dimensions)} dimensions")
    return tuple(_number(dict(fields(dimension)).get(1, 0)) for dimension in dimensions)


def _number(value: int | bytes) -> int:
    if not isinstance(value, int):
        raise ValueError("a number is missing")
    return value


def _message(value: int | bytes) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("a message is missing")
    return value
