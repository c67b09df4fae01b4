"""The optimizer, its learning rates, and its steps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch
from torch import nn

from streamcoref.errors import StreamcorefError
from streamcoref.model.base import CorefModel
from streamcoref.model.encoder import Encoder, layers_above
from streamcoref.training.adam import TensorFlowAdam
from streamcoref.training.precision import Precision
from streamcoref.training.recipe import Schedule, TrainingOptions


def encoders(model: CorefModel) -> list[Encoder]:
    """The model's encoder, and those of its parts that read text with one of their own."""
    return [module for module in model.modules() if isinstance(module, Encoder)]


def learning(model: CorefModel, only: Sequence[str]) -> list[nn.Parameter]:
    """The parameters that learn; with `only`, those whose names begin with one of these."""
    names = {name: p for name, p in model.named_parameters() if p.requires_grad}
    for beginning in only:
        if not any(_is_part(name, beginning) for name in names):
            raise StreamcorefError(f"training.only: no parameter that learns has a name that begins with {beginning}")
    return [p for name, p in names.items() if not only or any(_is_part(name, beginning) for beginning in only)]


def check_rates(model: CorefModel, rates: Iterable[str]) -> None:
    """Raise if one of the names is no head's that learns."""
    inside = {id(p) for module in encoders(model) for p in module.model.parameters()}
    heads = [name for name, p in model.named_parameters() if p.requires_grad and id(p) not in inside]
    for beginning in rates:
        if not any(_is_part(name, beginning) for name in heads):
            raise StreamcorefError(f"training.rates: no head that learns has a name that begins with {beginning}")


def _is_part(name: str, beginning: str) -> bool:
    return name == beginning or name.startswith(f"{beginning}.")


def make_optimizer(model: CorefModel, options: TrainingOptions) -> torch.optim.Optimizer:
    """Encoders and heads have rates of their own, in the groups' `base_rate`, and only encoders decay.

    Some heads may have others than the rest, by their names (`rates`). An encoder's rate is multiplied by `layer_decay`
    for each layer that lies above; how it mixes its layers is learnt as heads are. `part` tells the two apart: by it
    rates rise and gradients are clipped.
    """
    groups: dict[tuple[float, bool], list[nn.Parameter]] = {}  # by the share of the rate, and whether it does not decay
    for module in encoders(model):
        above = layers_above(module.model)
        for name, p in module.model.named_parameters():
            if p.requires_grad:
                share = options.layer_decay ** above.get(p, 0)
                fixed = options.decay_of == "matrices" and not _decays(name, p)
                groups.setdefault((share, fixed), []).append(p)
    inside = {id(p) for group in groups.values() for p in group}
    heads: dict[float, list[nn.Parameter]] = {options.head_rate: []}  # by their rates
    for name, p in model.named_parameters():
        if p.requires_grad and id(p) not in inside:
            own = [rate for beginning, rate in options.rates.items() if _is_part(name, beginning)]
            heads.setdefault(own[-1] if own else options.head_rate, []).append(p)
    whole: dict[str, Any] = {"part": "encoder", "eps": options.encoder_eps}
    if options.adam == "tensorflow":
        whole["corrected"] = False
    every: list[dict[str, Any]] = [
        {"params": heads[rate], "part": "heads", "base_rate": rate, "weight_decay": 0.0} for rate in heads
    ]
    for share, fixed in sorted(groups, key=lambda key: (-key[0], key[1])):
        rate, decay = share * options.encoder_rate, 0.0 if fixed else options.encoder_decay
        every.append({"params": groups[share, fixed], "base_rate": rate, "weight_decay": decay, **whole})
    if options.adam == "tensorflow":
        return TensorFlowAdam(every, lr=options.head_rate)
    return torch.optim.AdamW(every, lr=options.head_rate, fused=True)  # in one go over each parameter


def _decays(name: str, parameter: nn.Parameter) -> bool:
    """Whether it is a matrix: neither a bias nor the scale of a LayerNorm, which are all vectors."""
    return parameter.dim() > 1 and not name.endswith("bias")


def rate_factor(step: int, total: int, schedule: Schedule, warm_up: float) -> float:
    """The learning rate's share: up over the warm-up, then constant or down to zero.

    `linear` goes down from the end of the warm-up; its first step has a rate already. `linear_from_start` is BERT's:
    the line down begins at the first step, whatever the warm-up, and what rises, rises from zero.
    """
    if schedule == "linear_from_start":
        warm = int(warm_up * total)
        return step / warm if step < warm else max(0.0, 1 - step / total)
    warm_steps = warm_up * total
    if step < warm_steps:
        return (step + 1) / (warm_steps + 1)
    return 1.0 if schedule == "constant" else max(0.0, (total - step) / max(1.0, total - warm_steps))


def take_step(
    optimizer: torch.optim.Optimizer, precision: Precision, options: TrainingOptions, step: int, total: int
) -> float:
    """Move the parameters by their gradients, clipped, each group at its base rate times its share of this step.

    Returns the norm before clipping. If it is not finite, nothing moves.
    """
    precision.scaler.unscale_(optimizer)
    norms = [nn.utils.clip_grad_norm_(parameters, options.clip) for parameters in _clipped(optimizer, options)]
    norm = torch.stack(norms).norm()
    if torch.isfinite(norm):
        for group in optimizer.param_groups:
            rises = options.warm_up_of == "all" or group["part"] == "encoder"
            factor = rate_factor(step, total, options.schedule, options.warm_up if rises else 0.0)
            group["lr"] = group["base_rate"] * factor
        precision.scaler.step(optimizer)
    precision.scaler.update()
    return float(norm)


def _clipped(optimizer: torch.optim.Optimizer, options: TrainingOptions) -> list[list[nn.Parameter]]:
    """The parameters whose gradients are clipped together."""
    parts: dict[str, list[nn.Parameter]] = {}
    for group in optimizer.param_groups:
        name = group["part"] if options.clip_groups == "apart" else "all"
        parts.setdefault(name, []).extend(group["params"])
    return list(parts.values())
