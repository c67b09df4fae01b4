"""What a model does while it predicts: its encoder's time, its pieces, its entities alive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from time import perf_counter

import torch
from torch import Tensor

from streamcoref.model.encoder_service import Encode
from streamcoref.model.reading import SegmentResult
from streamcoref.model.segments import Segment

_SPECIAL_PIECES = 2  # of a segment


@dataclass
class Watched:
    """Sums over one document. `peak_entities` stays None for a whole-document baseline, which holds none.

    Threads may encode while others link: `encoder_seconds` is the time in which any encoder was at work.
    """

    encoder_seconds: float = 0.0
    pieces: int = 0
    peak_entities: int | None = None

    def note(self, result: SegmentResult) -> None:
        if result.alive is not None:
            self.peak_entities = max(self.peak_entities or 0, result.alive)


@dataclass
class WatchedEncoder:
    """An encoder whose time and pieces are counted into `seen`, which is replaced for each document."""

    encode: Encode
    device: torch.device
    seen: Watched = field(default_factory=Watched)
    _began: float = 0.0
    _at_work: int = 0
    _lock: Lock = field(default_factory=Lock)

    def __call__(self, segments: Sequence[Segment]) -> list[Tensor]:
        with self._lock:
            self.seen.pieces += sum(len(segment) - _SPECIAL_PIECES for segment in segments)
            if self._at_work == 0:
                self._began = now(self.device)
            self._at_work += 1
        try:
            return self.encode(segments)
        finally:
            with self._lock:
                self._at_work -= 1
                if self._at_work == 0:
                    self.seen.encoder_seconds += now(self.device) - self._began


def now(device: torch.device) -> float:
    """The time, when all that the device was told to do is done: a GPU works on after its orders are given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    return perf_counter()
