"""What a model does while it predicts, seen from outside: its encoder's time, its pieces, its entities alive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock
from time import perf_counter
from typing import Any

import torch

from streamcoref.model.baseline import BaselineModel
from streamcoref.model.config import Model
from streamcoref.model.evict import BoolArray, EvictionPolicy
from streamcoref.model.memory import EntityMemory
from streamcoref.model.segments import Segment

_SPECIAL_PIECES = 2  # of a segment


@dataclass
class Watched:
    """Sums over what ran inside `watch`. `peak_entities` stays None for a whole-document baseline.

    Threads may encode while others link: `encoder_seconds` is the time in which any encoder was at work.
    """

    encoder_seconds: float = 0.0
    other_seconds: float = 0.0
    pieces: int = 0
    peak_entities: int | None = None


@contextmanager
def watch(model: Model) -> Iterator[Watched]:
    """Watch a model inside the block; afterwards it is as it was. All is complete when the block has ended."""
    seen = Watched()
    began, at_work, lock = 0.0, 0, Lock()

    def before(_: object, arguments: tuple[Sequence[Segment]]) -> None:
        nonlocal began, at_work
        with lock:
            seen.pieces += sum(len(segment) - _SPECIAL_PIECES for segment in arguments[0])
            if at_work == 0:
                began = now(model)
            at_work += 1

    def after(*_: object) -> None:
        nonlocal at_work
        with lock:
            at_work -= 1
            if at_work == 0:
                seen.encoder_seconds += now(model) - began

    hooks: list[Any] = [
        model.encoder.register_forward_pre_hook(before),
        model.encoder.register_forward_hook(after),
    ]
    policy = None if isinstance(model, BaselineModel) else model.evict
    if not isinstance(model, BaselineModel):
        seen.peak_entities = 0
        model.evict = _CountingPolicy(model.evict, seen)
    start = now(model)
    try:
        yield seen
    finally:
        seen.other_seconds = now(model) - start - seen.encoder_seconds
        for hook in hooks:
            hook.remove()
        if policy is not None:
            model.evict = policy


class _CountingPolicy(EvictionPolicy):
    """Eviction comes when a segment's entities are all there: their number is then the largest."""

    def __init__(self, policy: EvictionPolicy, seen: Watched) -> None:
        self.policy, self.seen = policy, seen

    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        self.seen.peak_entities = max(self.seen.peak_entities or 0, len(memory))
        return self.policy(memory, position)


def now(model: Model) -> float:
    """The time, when all that the model was told to do is done: a GPU works on after its orders are given."""
    device = device_of(model)
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return perf_counter()


def device_of(model: Model) -> torch.device:
    return next(model.parameters()).device
