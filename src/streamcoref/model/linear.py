"""Linear layers of 32-bit floats by the library that has the widest instructions of this CPU.

torch multiplies with MKL, which leaves AVX-512 to Intel's CPUs and takes instructions of half the width on others.
oneDNN, which torch brings as well, takes what the CPU has, which on AMD's Zen 5 is twice as fast.
"""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

CPU_INFO = Path("/proc/cpuinfo")
# oneDNN compiles a product for each number of rows and keeps up to 1,024 of them, half a megabyte each. So it is given
# multiples of ROWS only, the rest of them empty, and of more than FEW rows multiples of twice as many.
ROWS = 16
LEAST = 1 << 15  # numbers of a weight: a call of oneDNN takes some 10 us longer, which smaller ones do not win back
FEW = 64  # fewer rows do not win back, either, that a part of a larger weight has to be copied


class Linear(nn.Linear):
    """The same layer, the same weights."""

    def forward(self, x: Tensor) -> Tensor:
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """[..., in] by a weight [out, in] to [..., out]."""
    floats = x.is_cpu and x.dtype == weight.dtype == torch.float32 and not torch.is_autocast_enabled("cpu")
    copied = not (weight.is_contiguous() or weight.t().is_contiguous())
    if not floats or weight.numel() < LEAST or (copied and x.numel() < FEW * x.shape[-1]) or not by_onednn():
        return F.linear(x, weight, bias)
    if torch.is_grad_enabled() and any(part.requires_grad for part in (x, weight, bias) if part is not None):
        result: Tensor = _Linear.apply(x, weight, bias)  # type: ignore[no-untyped-call]
        return result
    return _rows_by(x, weight, bias)


def use_wide_products(model: nn.Module) -> None:
    """For linear layers that others have made."""
    for part in model.modules():
        if type(part) is nn.Linear:
            part.__class__ = Linear


@cache
def by_onednn() -> bool:
    """Whether MKL would leave half of this CPU unused."""
    wide = torch.backends.cpu.get_cpu_capability() == "AVX512"
    libraries = torch.backends.mkl.is_available() and torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return wide and libraries and hasattr(torch.ops.mkldnn, "_linear_pointwise") and not _made_by_intel()


def _made_by_intel() -> bool:
    try:
        return "GenuineIntel" in CPU_INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "AuthenticAMD" not in platform.processor()  # as Windows has it


class _Linear(torch.autograd.Function):
    """With gradients, which are products of the same kind."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)  # as they are: what they are filled up with is not worth keeping
        return _rows_by(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
        (gradient,) = gradients  # [..., out]
        x, weight = ctx.saved_tensors
        to_x, to_weight, to_bias = ctx.needs_input_grad
        return (
            _rows_by(gradient, weight.t()) if to_x else None,
            _product(_filled_up(_rows(gradient)).t(), _filled_up(_rows(x)).t()) if to_weight else None,
            _rows(gradient).sum(0) if to_bias else None,
        )


def _rows_by(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """[..., in] by a weight [out, in], without gradients."""
    rows = _rows(x)
    y = _product(_filled_up(rows), weight, bias)
    return (y if len(y) == len(rows) else y[: len(rows)]).view(*x.shape[:-1], len(weight))


def _product(rows: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Rows [n, in] by a weight [out, in]; both may be transposed."""
    if weight.stride() != (1, len(weight)):
        weight = weight.contiguous()  # a slice of another: for these oneDNN is a thousand times slower
    product: Tensor = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")
    return product


def _rows(x: Tensor) -> Tensor:
    """[..., size] to [n, size]."""
    return x.reshape(-1, x.shape[-1])


def _filled_up(rows: Tensor) -> Tensor:
    """Rows [n, size] and as many empty ones as are to be seen, at least ROWS in all."""
    count = len(rows)
    surplus = max(ROWS - count, -count % (ROWS if count <= FEW else 2 * ROWS))
    return torch.cat([rows, rows.new_zeros(surplus, rows.shape[1])]) if surplus else rows.contiguous()
