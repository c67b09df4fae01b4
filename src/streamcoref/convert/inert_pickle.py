"""Pickles of PyTorch files, read so that nothing in them can run.

A pickle is a program that may call whatever it can name. This reader lets it name tensors, their storages and
dictionaries; any other name becomes a class that takes every argument and does nothing. What it gives for allowed
names are stand-ins of ours made for this one file, so that a pickle cannot change anything that outlives it either.

Nor may it cost more than a model does: its steps are counted, what it reads is bounded, its keys and the shapes of its
tensors are simple, and what it has made stays as it was made. A pair of a pair of a pair, sixty deep, is a few hundred
bytes, but to go over it, or to hash it, would take for ever.
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

LONGEST = 32 << 20  # bytes of a pickle; those of the largest models have some millions
MOST_STEPS = 1_000_000  # some forty a tensor
_MOST_BITS = 64  # of a number that is a key or a part of a shape; a pickle may have numbers of megabytes
_MOST_DIMENSIONS = 64  # of a tensor, as in PyTorch


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
    """A function that a pickle may call."""

    __slots__ = ("function",)

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *arguments: Any) -> Any:
        return self.function(*arguments)


class _Dictionary(dict[Any, Any]):
    """An OrderedDict without the attributes that PyTorch, or somebody else, hangs on it."""

    __slots__ = ()

    def __setstate__(self, _: Any) -> None: ...


class _Bounded:
    """A file of which a pickle may read so much and no more. A length in a pickle is a promise that costs nothing."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._left = file, LONGEST

    def read(self, size: int) -> bytes:
        self._left -= size
        if self._left < 0:
            raise pickle.UnpicklingError("a pickle longer than any")
        return self._file.read(size)

    def readline(self) -> bytes:
        line = self._file.readline(self._left + 1)
        self._left -= len(line)
        if self._left < 0:
            raise pickle.UnpicklingError("a pickle longer than any")
        return line


class _Counted(dict[int, Any]):
    """What to do for each code of a pickle, counted."""

    left = MOST_STEPS

    def __getitem__(self, code: int) -> Any:
        self.left -= 1
        if self.left < 0:
            raise pickle.UnpicklingError("a pickle of more steps than any")
        return super().__getitem__(code)


class InertUnpickler(pickle._Unpickler):
    """Gives containers of plain values, `StoredTensor` and `Inert`; `storages` are all that the pickle spoke of.

    It is the one of the standard library that is written in Python: its steps can be counted.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(_Bounded(file), encoding="utf-8")
        self.storages: dict[str, Storage] = {}
        self.dispatch = _Counted(_STEPS)  # type: ignore[misc]

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


def _with_simple_keys(step: Callable[[Any], None], places: Callable[[list[Any]], list[Any]]) -> Callable[[Any], None]:
    """A step that puts things into a dictionary or a set, which hashes them."""

    def checked(unpickler: Any) -> None:
        for key in places(unpickler.stack):
            _check_key(key)
        step(unpickler)

    return checked


def _check_key(key: Any) -> None:
    items = key if type(key) is tuple else [key]
    if not all(isinstance(item, str | int | float | bytes | None | Inert | StoredTensor | type) for item in items):
        raise pickle.UnpicklingError("a key that is no plain value")
    if any(isinstance(item, int) and item.bit_length() > _MOST_BITS for item in items):
        raise pickle.UnpicklingError("a key that is a number beyond all")


def _build(unpickler: Any) -> None:
    """Give something the state it had: only to what keeps none of it. Tensors and functions stay as they were made."""
    if not isinstance(unpickler.stack[-2], Inert | _Dictionary):
        raise pickle.UnpicklingError("the pickle tries to change what it has made")
    pickle._Unpickler.dispatch[pickle.BUILD[0]](unpickler)


# Where the keys are on the stack when a step is taken.
_KEYED: dict[bytes, Callable[[list[Any]], list[Any]]] = {
    pickle.SETITEM: lambda stack: stack[-2:-1],
    pickle.SETITEMS: lambda stack: stack[::2],
    pickle.DICT: lambda stack: stack[::2],
    pickle.ADDITEMS: lambda stack: stack,
    pickle.FROZENSET: lambda stack: stack,
}
_STEPS = {
    **pickle._Unpickler.dispatch,
    **{code[0]: _with_simple_keys(pickle._Unpickler.dispatch[code[0]], places) for code, places in _KEYED.items()},
    pickle.BUILD[0]: _build,
}
del _STEPS[pickle.BYTEARRAY8[0]]  # it makes room for all that it promises before it reads any of it; no model has one


@dataclass(frozen=True, slots=True)
class _StorageType:
    dtype: torch.dtype


def _dictionary(items: Any = ()) -> _Dictionary:
    pairs = [(key, value) for key, value in (items.items() if isinstance(items, dict) else items)]
    for key, _ in pairs:
        _check_key(key)
    return _Dictionary(pairs)


def _tensor(storage: Any, offset: Any, shape: Any, strides: Any, *_: Any) -> StoredTensor:
    if not isinstance(storage, Storage) or max(len(shape), len(strides)) > _MOST_DIMENSIONS:
        raise pickle.UnpicklingError("a tensor without numbers, or with too many")
    if not all(type(n) is int and n >= 0 and n.bit_length() <= _MOST_BITS for n in (offset, *shape, *strides)):
        raise pickle.UnpicklingError("a tensor of a shape that none has")
    return StoredTensor(storage, offset, tuple(shape), tuple(strides))


def _parameter(data: Any, *_: Any) -> Any:
    return data
