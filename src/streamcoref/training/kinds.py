"""How each kind of model takes a step: the only place that tells them apart."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from streamcoref.model.baseline import BaselineModel
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.config import ModelConfig
from streamcoref.model.encoder_service import Encode
from streamcoref.model.evict import EvictionOptions, EvictionPolicy, NoEviction
from streamcoref.model.incremental import IncrementalModel
from streamcoref.training.device import memory_in_use
from streamcoref.training.precision import Precision
from streamcoref.training.recipe import TrainingOptions
from streamcoref.training.steps import Example, IncrementalOptions, baseline_step, incremental_step

# Goes through a document: its gradients are added up, and its loss is returned.
Step = Callable[[Example, Encode, np.random.Generator, Precision], float]


def _baseline(checkpoint: Checkpoint, options: TrainingOptions) -> Step:
    model = checkpoint.model
    assert isinstance(model, BaselineModel)

    def step(example: Example, encode: Encode, random: np.random.Generator, precision: Precision) -> float:
        return baseline_step(model, example, options.crop, encode, random, precision)

    return step


def _incremental(checkpoint: Checkpoint, options: TrainingOptions) -> Step:
    model = checkpoint.model
    assert isinstance(model, IncrementalModel)
    policy, merge, revive = _leaving(checkpoint.config, options.evict)
    incremental = IncrementalOptions(
        options.objective,
        options.teacher_forcing,
        options.negative_rate,
        policy,
        options.backward_gb,
        options.clip if options.clip_after == "segment" else None,
        options.decide_by == "all",
        options.crop,
        merge,
        revive,
    )

    def step(example: Example, encode: Encode, random: np.random.Generator, precision: Precision) -> float:
        in_use = partial(memory_in_use, precision.device)
        return incremental_step(model, example, incremental, encode, random, in_use, precision)

    return step


def _leaving(config: ModelConfig, evict: bool | EvictionOptions) -> tuple[EvictionPolicy, int, int]:
    """Who leaves while training, and by `merge` and `revive` who is one and who comes back."""
    if evict is False:
        return NoEviction(), 0, 0
    policy = config.evict if evict is True else evict
    return policy.build(), config.merge, config.revive


STEPS: dict[str, Callable[[Checkpoint, TrainingOptions], Step]] = {"baseline": _baseline, "incremental": _incremental}


def step_of(checkpoint: Checkpoint, options: TrainingOptions) -> Step:
    return STEPS[checkpoint.config.kind](checkpoint, options)
