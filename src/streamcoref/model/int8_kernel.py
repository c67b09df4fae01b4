"""Digits of 8 bits by the compiled kernel, `int8_digits.c`, where it was built: the same numbers in a pass or two.

Elsewhere torch computes them, in a pass over memory for each operation.
"""

from __future__ import annotations

import ctypes
from functools import cache

import torch
from torch import Tensor

from streamcoref.model.compiled import library


class CompiledDigits:
    """`to_digits` and `to_floats` of `int8_linear.py`, which say what they do."""

    def __init__(self, kernel: ctypes.CDLL) -> None:
        pointer, number = ctypes.c_void_p, ctypes.c_int64
        self._to_digits, self._to_floats = kernel.to_digits, kernel.to_floats
        self._to_digits.argtypes = [pointer, number, number, number, pointer, pointer, pointer]
        self._to_floats.argtypes = [pointer, pointer, number, number, pointer, pointer, pointer, pointer]
        self._to_digits.restype = self._to_floats.restype = None

    def to_digits(self, rows: Tensor, digits: int) -> tuple[Tensor, Tensor]:
        if rows.stride(1) != 1:
            rows = rows.contiguous()
        n, inputs = rows.shape
        result = torch.empty(digits * n, inputs, dtype=torch.int8)
        scale = torch.empty(n, 1)
        first = result.data_ptr()
        second = first + n * inputs if digits == 2 else None
        self._to_digits(rows.data_ptr(), rows.stride(0), n, inputs, scale.data_ptr(), first, second)
        return result, scale

    def to_floats(self, products: Tensor, row_scale: Tensor, scale: Tensor, bias: Tensor | None) -> Tensor:
        n, outputs = len(row_scale), len(scale)
        result = torch.empty(n, outputs)
        first = products.data_ptr()
        second = first + products.element_size() * n * outputs if len(products) > n else None
        added = None if bias is None else bias.data_ptr()
        self._to_floats(first, second, n, outputs, row_scale.data_ptr(), scale.data_ptr(), added, result.data_ptr())
        return result


@cache
def compiled_digits() -> CompiledDigits | None:
    """None where it was not built."""
    kernel = library("int8_digits")
    return None if kernel is None else CompiledDigits(kernel)
