"""Adam as TensorFlow has it: the optimizer of the baseline's authors, which torch does not have."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Literal, overload

import torch

Adam = Literal["torch", "tensorflow"]


class TensorFlowAdam(torch.optim.Optimizer):
    """Two kinds of Adam, by a group's `corrected`.

    With it, `tf.train.AdamOptimizer`: as torch's, but epsilon is added to the root of the second moment before that is
    corrected for its beginning at zero, not after. Without, the `AdamWeightDecayOptimizer` of BERT: no moment is
    corrected. Weights decay by their own size times the rate, as in AdamW.
    """

    def __init__(self, groups: Iterable[dict[str, Any]], lr: float, betas: tuple[float, float] = (0.9, 0.999)) -> None:
        super().__init__(groups, {"lr": lr, "betas": betas, "eps": 1e-8, "weight_decay": 0.0, "corrected": True})

    @overload
    def step(self, closure: None = None) -> None: ...
    @overload
    def step(self, closure: Callable[[], float]) -> float: ...
    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            first, second = group["betas"]
            for parameter in group["params"]:
                if parameter.grad is None:
                    continue
                state = self.state[parameter]
                if not state:
                    state |= {"step": 0, "mean": torch.zeros_like(parameter), "square": torch.zeros_like(parameter)}
                state["step"] += 1
                state["mean"].lerp_(parameter.grad, 1 - first)
                state["square"].mul_(second).addcmul_(parameter.grad, parameter.grad, value=1 - second)
                rate = group["lr"]
                parameter.mul_(1 - rate * group["weight_decay"])
                if group["corrected"]:
                    rate *= (1 - second ** state["step"]) ** 0.5 / (1 - first ** state["step"])
                parameter.addcdiv_(state["mean"], state["square"].sqrt().add_(group["eps"]), value=-rate)
        return loss
