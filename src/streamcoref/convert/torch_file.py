"""PyTorch files (`torch.save`), read without running anything that is pickled in them."""

from __future__ import annotations

import io
import math
import struct
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from torch import Tensor

from streamcoref.convert.inert_pickle import LONGEST, InertUnpickler, StoredTensor
from streamcoref.errors import InputError

_DEEPEST = 100  # containers inside each other
_MOST = 1_000_000  # values that one comes across in all of them
LEGACY_MAGIC = 0x1950A86A20F9469CFC6C  # the first pickle of a file from before PyTorch 1.6


def read_torch_file(path: Path) -> Any:
    """What was saved: containers with tensors; whatever is neither stands there as an `Inert`.

    By our restricted unpickler alone: torch's own safe loader refuses files with pickled objects, such as optimizers,
    and has no bounds.
    """
    try:
        if zipfile.is_zipfile(path):
            value, places = _open_zip(path)
        else:
            value, places = _open_legacy(path)
        return _Reader(path, places).read(value)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from error
    except Exception as error:  # a crafted or damaged file can make a pickle fail in any way
        raise InputError("not a PyTorch file, or damaged; fetch it again", path) from error


def _open_zip(path: Path) -> tuple[Any, dict[str, tuple[int, int]]]:
    """The pickled value, and for each storage the byte where it begins and its number of bytes."""
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        names = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(names) != 1:
            raise InputError("a zip file, but not of PyTorch: it has no data.pkl", path)
        folder = names[0].removesuffix("data.pkl")
        if f"{folder}byteorder" in archive.namelist() and _unpacked(archive, f"{folder}byteorder", 16) != b"little":
            raise InputError("written by a big-endian machine; save it again on a little-endian one", path)
        places: dict[str, tuple[int, int]] = {}
        for entry in archive.infolist():
            if entry.filename.startswith(f"{folder}data/"):
                if entry.compress_type != zipfile.ZIP_STORED:
                    raise InputError("its tensors are compressed, which PyTorch's own never are", path)
                # The local header has fields of its own length before the data: 26: of the name, 28: of the extra
                file.seek(entry.header_offset + 26)
                name, extra = struct.unpack("<HH", file.read(4))
                begin = entry.header_offset + 30 + name + extra
                places[entry.filename.removeprefix(f"{folder}data/")] = (begin, entry.file_size)
        if sum(size for _, size in places.values()) > path.stat().st_size:
            raise InputError("its tensors say that they are larger than the file; fetch it again", path)
        return InertUnpickler(io.BytesIO(_unpacked(archive, names[0], LONGEST))).load(), places


def _unpacked(archive: zipfile.ZipFile, name: str, longest: int) -> bytes:
    """A member of a zip file, of which no more is unpacked than that, whatever it says of its own size."""
    entry = archive.getinfo(name)
    if entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise zipfile.BadZipFile("a kind of compression that PyTorch never uses")
    with archive.open(entry) as member:
        data = member.read(longest + 1)
    if len(data) > longest:
        raise InputError(f"its {name} is larger than {longest} bytes, as no model's is", archive.filename)
    return data


def _open_legacy(path: Path) -> tuple[Any, dict[str, tuple[int, int]]]:
    """Five pickles: magic number, version, system, value, keys of the storages; then each storage with its length."""
    with path.open("rb") as file:
        if _next(file) != LEGACY_MAGIC:
            raise InputError("not a PyTorch file", path)
        _version, system = _next(file), _next(file)
        if not system.get("little_endian", True):
            raise InputError("written by a big-endian machine; save it again on a little-endian one", path)
        unpickler = InertUnpickler(file)
        value = unpickler.load()
        places = {}
        for key in map(_checked_key, _next(file)):
            (count,) = struct.unpack("<q", file.read(8))
            size = count * unpickler.storages[key].dtype.itemsize
            if count < 0:
                raise InputError("damaged; fetch it again", path)
            places[key] = (file.tell(), size)
            file.seek(size, 1)
        if file.tell() > path.stat().st_size:  # also where the last storage belongs to an object we leave unread
            raise InputError("cut off; fetch it again", path)
    return value, places


def _next(file: IO[bytes]) -> Any:
    return InertUnpickler(file).load()


def _checked_key(key: object) -> str:
    """Of a storage. Anything else may take for ever to be looked up."""
    if not isinstance(key, str):
        raise ValueError("a storage has a name")
    return key


class _Reader:
    """Puts tensors, views of the memory-mapped file, where they are stored. What is shared stays shared."""

    def __init__(self, path: Path, places: dict[str, tuple[int, int]]) -> None:
        self.path, self.places = path, places
        self._read: dict[int, tuple[Any, int]] = {}  # by the id of what was unpickled, with how much is in it
        self._open: set[int] = set()

    def read(self, value: Any) -> Any:
        return self._value(value, 0)[0]

    def _value(self, value: Any, depth: int) -> tuple[Any, int]:
        """A value, and in how many others one comes when one goes over it: what is shared counts each time."""
        if isinstance(value, StoredTensor):
            return _tensor(value, self.places, self.path), 1
        if not isinstance(value, dict | list | tuple):
            return value, 1
        if id(value) in self._read:
            return self._read[id(value)]
        if id(value) in self._open or depth > _DEEPEST:
            raise InputError("its values are nested without end, as no model's are", self.path)
        self._open.add(id(value))
        inner = [self._value(item, depth + 1) for item in (value.values() if isinstance(value, dict) else value)]
        self._open.discard(id(value))
        count = 1 + sum(size for _, size in inner)
        if count > _MOST:
            raise InputError(f"holds more than {_MOST} values, as no model does", self.path)
        items = [item for item, _ in inner]
        read = dict(zip(value, items, strict=True)) if isinstance(value, dict) else items
        self._read[id(value)] = read, count
        return read, count


def _tensor(stored: StoredTensor, places: dict[str, tuple[int, int]], path: Path) -> Tensor:
    storage = stored.storage
    begin, size = places[storage.key]
    if begin + size > path.stat().st_size or size != storage.count * storage.dtype.itemsize:
        raise InputError("cut off or damaged; fetch it again", path)
    if math.prod(stored.shape) > storage.count:  # numbers told many times over
        raise InputError(f"damaged: a tensor of shape {list(stored.shape)} has {storage.count} numbers only", path)
    if size == 0:
        return torch.empty(stored.shape, dtype=storage.dtype)
    if begin % storage.dtype.itemsize:  # only files from before PyTorch 1.6 are not aligned
        data = np.fromfile(path, dtype=np.uint8, offset=begin, count=size)
    else:  # copy on write: the tensors may be written to without the file ever changing
        data = np.memmap(path, mode="c", offset=begin, shape=(size,))
    numbers = torch.from_numpy(data).view(storage.dtype)
    return numbers.as_strided(stored.shape, stored.strides, stored.offset)  # refuses to reach outside
