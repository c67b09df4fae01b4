"""How the numbers of a model are stored: what becomes of each tensor on its way to a file, and how many bytes it takes.

In `int8` a matrix is stored under its name and its scales under that name with `.scale`; everything else is float16.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Literal

import torch
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.model.int8_rows import from_rows, to_rows, worth_it

Storage = Literal["float32", "float16", "int8"]
SCALE = ".scale"  # after the name of a matrix; no module can have a parameter and a part of one name
INT8_ROWS = "int8-rows"  # what a file with such matrices says of itself under "storage"
_SMALLER: tuple[Storage, ...] = ("int8", "float16")


def stored(tensors: Mapping[str, Tensor], storage: Storage) -> dict[str, Tensor]:
    """What is written for these; an error names a tensor that cannot be stored so."""
    written: dict[str, Tensor] = {}
    for name, given in tensors.items():
        tensor = given.detach().cpu().contiguous()
        if not tensor.is_floating_point():
            written[name] = tensor
        elif storage == "int8" and worth_it(tensor.shape):
            written[name], written[name + SCALE] = _rows(name, tensor)
        else:
            written[name] = tensor.float() if storage == "float32" else _sixteen(name, tensor)
    return written


def metadata(storage: Storage) -> dict[str, str]:
    """What the header of a file says of it: one thing, for safetensors writes several in any order."""
    return {"storage": INT8_ROWS} if storage == "int8" else {"format": "pt"}


def stored_bytes(shapes: Mapping[str, Sequence[int]], storage: Storage) -> dict[str, int]:
    """Of tensors that may not be there yet: how many bytes each will take."""
    sizes = {name: math.prod(shape) * (4 if storage == "float32" else 2) for name, shape in shapes.items()}
    if storage == "int8":
        for name, shape in shapes.items():
            if worth_it(shape):
                sizes[name], sizes[name + SCALE] = math.prod(shape), 2 * shape[0]
    return sizes


def lossless(tensors: Mapping[str, Tensor]) -> Storage:
    """The smallest storage that holds every number: that which weights were stored in, if nothing changed them."""
    return next((storage for storage in _SMALLER if all(_holds(t, storage) for t in tensors.values())), "float32")


def _holds(tensor: Tensor, storage: Storage) -> bool:
    if not tensor.is_floating_point():
        return True
    if storage == "int8" and worth_it(tensor.shape):
        return torch.equal(from_rows(*to_rows(tensor)), tensor.float())
    return torch.equal(tensor.half().to(tensor.dtype), tensor)


def _rows(name: str, matrix: Tensor) -> tuple[Tensor, Tensor]:
    numbers, scale = to_rows(matrix)
    if not scale.isfinite().all():
        raise StreamcorefError(
            f"the tensor {name} has numbers that are not finite, or too large for int8; store the weights as float32"
        )
    return numbers, scale


def _sixteen(name: str, tensor: Tensor) -> Tensor:
    half = tensor.half()
    if not torch.equal(half.isinf(), tensor.isinf()):
        raise StreamcorefError(f"the tensor {name} has numbers too large for 16 bits; store the weights as float32")
    return half
