"""Pickles of PyTorch files, read so that nothing in them can run.

A pickle is a program that may call whatever it can name. This reader lets it name tensors, their storages and
dictionaries; any other name becomes a class that takes every argument and does nothing. What it gives for allowed
names are stand-ins of ours made for this one file, so that a pickle cannot change anything that outlives it either.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Any

import torch

# How a storage is named in a pickle, and what its numbers are.
STORAGES = {
    "FloatStorage": torch.float32,
    "DoubleStorage": torch.float64,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "ShortStorage": torch.int16,
    "CharStorage": torch.int8,
    "ByteStorage": torch.uint8,
    "BoolStorage": torch.bool,
}


@dataclass(frozen=True, slots=True)
class Storage:
    """Numbers that lie elsewhere in the file under `key`."""

    key: str
    dtype: torch.dtype
    count: int


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """A view of a storage, in numbers, not bytes."""

    storage: Storage
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]


class Inert:
    """Stands for anything a pickle may name and we do not want: it takes whatever it is given and keeps nothing."""

    def __new__(cls, *_: Any, **__: Any) -> Inert:
        return super().__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __setstate__(self, _: Any) -> None: ...

    def __setitem__(self, _: Any, __: Any) -> None: ...

    def append(self, _: Any) -> None: ...

    def extend(self, _: Any) -> None: ...

    def add(self, _: Any) -> None: ...


class _Call:
    """A function that a pickle may call, but not change."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)

    def __setstate__(self, _: Any) -> None:
        raise pickle.UnpicklingError("the pickle tries to change a function")


class _Dictionary(dict[Any, Any]):
    """An OrderedDict without the attributes that PyTorch, or somebody else, hangs on it."""

    __slots__ = ()

    def __setstate__(self, _: Any) -> None: ...


class InertUnpickler(pickle.Unpickler):
    """Gives containers of plain values, `StoredTensor` and `Inert`; `storages` are all that the pickle spoke of."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(file, encoding="utf-8")
        self.storages: dict[str, Storage] = {}

    def find_class(self, module: str, name: str, /) -> Any:
        if module in ("torch", "torch.storage") and name in STORAGES:
            return _StorageType(STORAGES[name])
        known: dict[tuple[str, str], Callable[..., Any]] = {
            ("collections", "OrderedDict"): _dictionary,
            ("torch._utils", "_rebuild_tensor_v2"): _tensor,
            ("torch._utils", "_rebuild_tensor"): _tensor,
            ("torch._utils", "_rebuild_parameter"): _parameter,
        }
        if (module, name) in known:
            return _Call(known[module, name])
        return type(Inert.__name__, (Inert,), {})

    def persistent_load(self, pid: Any, /) -> Storage:
        match pid:
            case ("storage", _StorageType(dtype=dtype), str(key), str(), int(count), *_):
                return self.storages.setdefault(key, Storage(key, dtype, count))
        raise pickle.UnpicklingError("an unknown kind of storage")


@dataclass(frozen=True, slots=True)
class _StorageType:
    dtype: torch.dtype


def _dictionary(items: Any = ()) -> _Dictionary:
    return _Dictionary(items)


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> StoredTensor:
    numbers = [offset, *shape, *strides]
    if not isinstance(storage, Storage) or not all(type(n) is int and n >= 0 for n in numbers):
        raise pickle.UnpicklingError("a tensor without numbers")
    return StoredTensor(storage, offset, tuple(shape), tuple(strides))


def _parameter(data: Any, *_: Any) -> Any:
    return data
