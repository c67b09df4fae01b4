"""Several processes, as `torchrun` starts them: documents are shared out, gradients averaged."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import torch
import torch.distributed as dist
from torch import nn


class Workers:
    """This process among its peers; alone, if nobody started any."""

    def __init__(self) -> None:
        self.count = int(os.environ.get("WORLD_SIZE", "1"))
        self.rank = int(os.environ.get("RANK", "0"))

    def join(self, device: torch.device) -> None:
        """Wait for the others; what they tell each other lies on `device`."""
        self.device = device
        if self.count > 1 and not dist.is_initialized():
            dist.init_process_group("nccl" if device.type == "cuda" else "gloo")

    @property
    def is_first(self) -> bool:
        return self.rank == 0

    def average_gradients(self, parameters: Iterable[nn.Parameter], documents: int) -> None:
        """The mean over the documents of this step; a worker without one has added nothing."""
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            if self.count > 1:
                dist.all_reduce(parameter.grad)
            if documents > 1:
                parameter.grad /= documents

    def sum(self, value: float) -> float:
        if self.count == 1:
            return value
        tensor = torch.tensor(value, dtype=torch.float64, device=self.device)
        dist.all_reduce(tensor)
        return float(tensor)

    def share(self, value: Any) -> Any:
        """What the first worker has, to all."""
        if self.count == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box)
        return box[0]

    def close(self) -> None:
        if self.count > 1 and dist.is_initialized():
            dist.destroy_process_group()
