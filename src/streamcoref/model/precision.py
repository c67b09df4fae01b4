"""In which numbers a model reads: those that it was trained in, or shorter ones that cost less."""

from __future__ import annotations

import torch
from torch import nn

from streamcoref._cpu_trial import cpu_trouble
from streamcoref._precisions import FLOAT32, precision_named
from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder import Encoder


def check_precision(name: str, device: torch.device) -> None:
    """Raise unless this machine can read in it. For int8 a child process tries, once while the machine runs."""
    if precision_named(name) == FLOAT32:
        return
    if device.type != "cpu":
        raise StreamcorefError(f"{name} is for the CPU, not for {device.type}; use float32 there")
    trouble = cpu_trouble(name)
    if trouble is not None:
        raise StreamcorefError(trouble)


def use_precision(model: nn.Module, name: str) -> None:
    """Let all encoders of a model compute in it from now on. In int8 a model reads, but does not learn."""
    if name == FLOAT32:
        return
    check_precision(name, next(model.parameters()).device)
    for part in model.modules():
        if isinstance(part, Encoder):
            part.use_int8()
