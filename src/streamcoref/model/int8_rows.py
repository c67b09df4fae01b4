"""Matrices of weights in 8 bits: whole numbers from -127 to 127, and a 16-bit scale for each row."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

LARGEST = 127
SMALLEST = 32  # rows and columns: tables of features and single rows cost next to nothing in 16 bits
_SMALLEST_NORMAL = torch.finfo(torch.float16).smallest_normal


def worth_it(shape: Sequence[int]) -> bool:
    """Whether a tensor is a matrix of some size: an embedding or a linear layer."""
    return len(shape) == 2 and min(shape) >= SMALLEST


def to_rows(matrix: Tensor) -> tuple[Tensor, Tensor]:
    """[rows, columns] as int8 and the float16 scale of each row, which is not finite if one of its numbers is not.

    A row's scale is rounded before its numbers are divided by it. What `from_rows` gives has these very rows again.
    """
    scale = _rounded_up(matrix.float().abs().amax(dim=1) / LARGEST)  # [rows]
    usable = torch.where((scale > 0) & scale.isfinite(), scale.float(), 1)
    return (matrix.float() / usable[:, None]).round().nan_to_num().to(torch.int8), scale


def from_rows(numbers: Tensor, scale: Tensor) -> Tensor:
    """In 32 bits."""
    return restore(torch.empty(numbers.shape), numbers, scale)


def restore(matrix: Tensor, numbers: Tensor, scale: Tensor) -> Tensor:
    """Into a matrix of 32 bits, which hold every product: of 7 bits and 11. So a model is the same on every machine."""
    return matrix.copy_(numbers).mul_(scale.float()[:, None])


def _rounded_up(scale: Tensor) -> Tensor:
    """The next float16, so that no row has a number beyond 127 and every row has one of 127.

    Below the normal ones, where float16 gets coarse, the next power of two: a row's largest number is from 64 to 127
    then, and leads to the same power again.
    """
    half = scale.half()
    above = (half.view(torch.int16) + 1).view(torch.float16)  # as whole numbers, positive floats are in order
    half = torch.where(half.float() < scale, above, half)
    fraction, exponent = torch.frexp(half.float())  # the fraction of a power of two is a half
    power = torch.ldexp(torch.ones_like(fraction), exponent - (fraction == 0.5).int()).half()
    return torch.where((half > 0) & (half < _SMALLEST_NORMAL), power, half)
