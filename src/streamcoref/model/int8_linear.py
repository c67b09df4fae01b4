"""Linear layers in 8-bit integers: a quarter of the time on CPUs that multiply these in one instruction (VNNI)."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from streamcoref.errors import StreamcorefError
from streamcoref.model.int8_kernel import compiled_digits
from streamcoref.model.linear import Linear

# The kernel has one thread and takes less than a third of the time of torch's passes, which all threads divide.
MOST_THREADS = 3
LARGEST = 127  # of both signs: -128 has no counterpart
_FINER = 2 * LARGEST  # steps of the second digit in one of the first: its rest is at most half a step
_TINY = 1e-30  # a scale above 0 for rows that are all 0


class Int8Linear(nn.Module):
    """y = s_x s_w (q_x q_w) + b, with one scale s_w for each output and one s_x for each row of the input.

    A row's scale is that of its own largest number, so its answer depends on no other row, whoever shares the batch.
    The sums of q_x q_w are integers and exact: in whatever order, by however many threads, they are the same.

    Layers that narrow read what a GELU gave: a few numbers of a row are large, and the many small ones, most of what
    such a layer adds up, would share what is left of 8 bits. There q_x has two digits of 8 bits, multiplied in one go.
    """

    weight: Tensor  # [in, out], int8
    scale: Tensor  # [out]
    bias: Tensor | None  # [out]

    def __init__(self, layer: nn.Linear) -> None:
        super().__init__()
        given = layer.weight.detach().float()  # [out, in]
        scale = (given.abs().amax(1) / LARGEST).clamp_min(_TINY)
        weight = torch.round(given / scale[:, None]).to(torch.int8)
        self.register_buffer("weight", weight.t().contiguous())
        self.register_buffer("scale", scale)
        self.register_buffer("bias", None if layer.bias is None else layer.bias.detach().float())

    def forward(self, x: Tensor) -> Tensor:
        """[..., in] to [..., out]."""
        rows = x.reshape(-1, x.shape[-1])
        inputs, outputs = self.weight.shape
        floats = rows.is_cpu and rows.dtype == self.scale.dtype == torch.float32
        kernel = compiled_digits() if floats and torch.get_num_threads() <= MOST_THREADS else None
        read, write = (to_digits, to_floats) if kernel is None else (kernel.to_digits, kernel.to_floats)
        digits, scale = read(rows, 1 if inputs <= outputs else 2)
        y = write(torch._int_mm(digits, self.weight), scale, self.scale, self.bias)
        return y.view(*x.shape[:-1], outputs)


def to_digits(rows: Tensor, digits: int) -> tuple[Tensor, Tensor]:
    """Rows [n, in] as int8 [digits * n, in], all first digits before the second ones, and the rows' scales [n, 1]."""
    scale = rows.abs().amax(1, keepdim=True).div_(LARGEST).clamp_min_(_TINY)
    numbers = rows.div(scale)  # from -127 to 127
    if digits == 1:
        return numbers.round_().to(torch.int8), scale
    count = len(rows)
    result = torch.empty(digits * count, rows.shape[1], dtype=torch.int8)
    first = numbers.round()
    result[:count] = first
    result[count:] = numbers.sub_(first).mul_(_FINER).round_()
    return result, scale


def to_floats(products: Tensor, row_scale: Tensor, scale: Tensor, bias: Tensor | None) -> Tensor:
    """Products [digits * n, out] of digits and a weight, times the scales of rows and outputs: [n, out]."""
    count = len(row_scale)
    y = products.float()
    if len(products) > count:
        # Not by add_'s alpha, which is rounded once or twice, as the CPU has it.
        y = y[:count].add_(y[count:].mul_(1 / _FINER))
    y.mul_(row_scale).mul_(scale)
    return y if bias is None else y.add_(bias)


def use_int8_layers(model: Any) -> None:
    """Every linear layer of an encoder becomes one in 8-bit integers. Embeddings, norms and attention stay as they are.

    Kinds of linear layers that a model has made for itself stay too: who knows what they do.
    """
    places = [
        (part, name, child)
        for part in model.modules()
        for name, child in part.named_children()
        if type(child) in (nn.Linear, Linear)
    ]
    if not places:
        raise StreamcorefError(f"a {model.config.model_type} encoder has no linear layers that int8 knows; use float32")
    made: dict[nn.Linear, Int8Linear] = {}  # layers may share one
    for part, name, child in places:
        if child not in made:
            made[child] = Int8Linear(child)
        setattr(part, name, made[child])
