"""Mixed precision: the forward pass in a shorter float type; weights, gradients and losses stay float32."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import torch
from torch import Tensor, nn

from streamcoref._cpu_trial import cpu_trouble
from streamcoref.errors import StreamcorefError

TrainingPrecision = Literal["float32", "bfloat16", "float16"]
# A document's loss is a sum over its spans: torch's own first scale, 65536, would cost the first dozen steps.
FIRST_SCALE = 1024.0


class Precision:
    """How a step is computed: forward inside `forward()`, backward by `backward(loss)` outside of it.

    float16 has no number between 0 and 6e-8, where many gradients lie, so losses are scaled up by `scaler` before they
    go backward, and gradients down before they are used. If one of them is not finite then, the scale was too large:
    the step is skipped and the scale halved. The other types need no scaling, and the scaler lets everything pass.
    """

    def __init__(self, name: TrainingPrecision, device: torch.device) -> None:
        self.name, self.device = name, device
        self.scaler = torch.amp.GradScaler(device.type, init_scale=FIRST_SCALE, enabled=name == "float16")
        # It has no scale before its first loss, but a worker's first step may come without a document.
        self.scaler.scale(torch.zeros((), device=device))

    def forward(self) -> AbstractContextManager[Any]:
        if self.name == "float32":
            return nullcontext()
        # No cache of shortened weights: in earlier versions of torch one that was put there without gradients, as an
        # incremental model decides, came back without them when they were needed, and learnt nothing.
        return torch.autocast(self.device.type, getattr(torch, self.name), cache_enabled=False)

    def backward(self, loss: Tensor) -> None:
        self.scaler.scale(loss).backward()  # type: ignore[no-untyped-call]

    def clip(self, parameters: Sequence[nn.Parameter], norm: float) -> None:
        """Clip gradients before they have been scaled down, as the norm is after it."""
        torch.nn.utils.clip_grad_norm_(parameters, norm * self.scaler.get_scale())


FLOAT32 = Precision("float32", torch.device("cpu"))  # on any device


def choose_precision(name: TrainingPrecision, device: torch.device) -> Precision:
    """The precision of a run, if this machine can compute in it."""
    if name != "float32" and device.type == "cpu":
        trouble = cpu_trouble(name)
        if trouble is not None:
            raise StreamcorefError(f"run.precision: {trouble}")
    return Precision(name, device)
