"""Tensors as numpy arrays: what is small is computed with these, for an operation of torch costs several of numpy's."""

from __future__ import annotations

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
