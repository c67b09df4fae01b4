"""PyTorch files (`torch.save`), read without running anything that is pickled in them."""

from __future__ import annotations

import struct
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import torch
from torch import Tensor

from streamcoref.convert.inert_pickle import InertUnpickler, StoredTensor
from streamcoref.errors import InputError

LEGACY_MAGIC = 0x1950A86A20F9469CFC6C  # the first pickle of a file from before PyTorch 1.6


def read_torch_file(path: Path) -> Any:
    """What was saved: containers with tensors; whatever is neither stands there as an `Inert`.

    Torch's own safe loader is asked first. It refuses files with pickled objects, such as optimizers; those are read
    by our restricted unpickler.
    """
    try:
        packed = zipfile.is_zipfile(path)
        return torch.load(path, map_location="cpu", weights_only=True, mmap=packed)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", path) from error
    except Exception:  # whatever it says, the other reader's answer decides
        return _read_inertly(path)


def _read_inertly(path: Path) -> Any:
    try:
        if zipfile.is_zipfile(path):
            value, places = _open_zip(path)
        else:
            value, places = _open_legacy(path)
        return _with_tensors(value, places, path)
    except InputError:
        raise
    except Exception as error:  # a crafted or damaged file can make a pickle fail in any way
        raise InputError("not a PyTorch file, or damaged; fetch it again", path) from error


def _open_zip(path: Path) -> tuple[Any, dict[str, tuple[int, int]]]:
    """The pickled value, and for each storage the byte where it begins and its number of bytes."""
    with zipfile.ZipFile(path) as archive, path.open("rb") as file:
        names = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(names) != 1:
            raise InputError("a zip file, but not of PyTorch: it has no data.pkl", path)
        folder = names[0].removesuffix("data.pkl")
        if f"{folder}byteorder" in archive.namelist() and archive.read(f"{folder}byteorder") != b"little":
            raise InputError("written by a big-endian machine; save it again on a little-endian one", path)
        places = {}
        for entry in archive.infolist():
            if entry.filename.startswith(f"{folder}data/"):
                if entry.compress_type != zipfile.ZIP_STORED:
                    raise InputError("its tensors are compressed, which PyTorch's own never are", path)
                # The local header has fields of its own length before the data: 26: of the name, 28: of the extra
                file.seek(entry.header_offset + 26)
                name, extra = struct.unpack("<HH", file.read(4))
                begin = entry.header_offset + 30 + name + extra
                places[entry.filename.removeprefix(f"{folder}data/")] = (begin, entry.file_size)
        with archive.open(names[0]) as pickled:
            return InertUnpickler(pickled).load(), places


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
        for key in _next(file):
            (count,) = struct.unpack("<q", file.read(8))
            size = count * unpickler.storages[key].dtype.itemsize
            places[key] = (file.tell(), size)
            file.seek(size, 1)
        if file.tell() > path.stat().st_size:  # also where the last storage belongs to an object we leave unread
            raise InputError("cut off; fetch it again", path)
    return value, places


def _next(file: IO[bytes]) -> Any:
    return InertUnpickler(file).load()


def _with_tensors(value: Any, places: dict[str, tuple[int, int]], path: Path) -> Any:
    """The value with each stored tensor as a view of the memory-mapped file."""
    if isinstance(value, StoredTensor):
        return _tensor(value, places, path)
    if isinstance(value, dict):
        return {key: _with_tensors(item, places, path) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_with_tensors(item, places, path) for item in value]
    return value


def _tensor(stored: StoredTensor, places: dict[str, tuple[int, int]], path: Path) -> Tensor:
    storage = stored.storage
    begin, size = places[storage.key]
    if begin + size > path.stat().st_size or size != storage.count * storage.dtype.itemsize:
        raise InputError("cut off or damaged; fetch it again", path)
    if size == 0:
        return torch.empty(stored.shape, dtype=storage.dtype)
    if begin % storage.dtype.itemsize:  # only files from before PyTorch 1.6 are not aligned
        data = np.fromfile(path, dtype=np.uint8, offset=begin, count=size)
    else:  # copy on write: the tensors may be written to without the file ever changing
        data = np.memmap(path, mode="c", offset=begin, shape=(size,))
    numbers = torch.from_numpy(data).view(storage.dtype)
    return numbers.as_strided(stored.shape, stored.strides, stored.offset)  # refuses to reach outside
