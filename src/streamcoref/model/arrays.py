"""Tensors as numpy arrays: what is small is computed with these, for an operation of torch costs several of numpy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

FloatArray = npt.NDArray[np.float32]


def numbers(tensor: Tensor) -> FloatArray:
    """Without gradients, as 32-bit floats on the CPU; where it is that already, the same memory."""
    if tensor.requires_grad:
        tensor = tensor.detach()
    if tensor.is_cuda or tensor.dtype != torch.float32:
        tensor = tensor.to("cpu", torch.float32)
    array: FloatArray = tensor.numpy()
    return array


def changeable(values: Tensor | FloatArray) -> Any:
    """The same memory as an array, where it is the CPU's; else the tensor itself, which knows the same operators."""
    return values.numpy() if isinstance(values, Tensor) and values.is_cpu else values


def blend(old: Any, new: Any, weight: float) -> None:
    """Make `old` a blend of the two, of which it is the share `weight` itself; if that is 0 or 1, exactly one of them.

    Both are arrays, or both tensors.
    """
    apart = old - new
    if weight < 0.5:
        old[...] = new + apart * weight
    else:
        old -= apart * (1.0 - weight)
