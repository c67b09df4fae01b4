"""Encoding ahead of linking: in threads, some segments at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import chain, islice

import torch
from torch import Tensor

from streamcoref.model.encoder import Encoder
from streamcoref.model.segments import Segment


class ReadAhead:
    """Segments with their piece vectors, in order, `batch` of them encoded together in one padded batch.

    On a CPU with several threads each thread encodes a segment of its own instead, while the caller links what came
    before: linking is one small step after another, which would leave the other cores idle, and a layer of a small
    encoder is not worth dividing. At most one segment more than there are threads is held. A single segment is divided
    nevertheless.
    """

    def __init__(self, encoder: Encoder, segments: Iterable[Segment], batch: int = 1) -> None:
        self.encoder = encoder
        self.threads = torch.get_num_threads() if next(encoder.parameters()).device.type == "cpu" else 1
        self.groups = _groups(segments, batch if self.threads == 1 else 1)
        self.running = False  # whether threads encode ahead

    def __iter__(self) -> Iterator[tuple[Segment, Tensor]]:
        first = list(islice(self.groups, 2)) if self.threads > 1 else []
        self.running = len(first) > 1
        if not self.running:
            for group in chain(first, self.groups):
                yield from zip(group, self.encoder(group), strict=True)
            return
        waiting: deque[tuple[list[Segment], Future[list[Tensor]]]] = deque()
        pool = ThreadPoolExecutor(self.threads, "encoder", initializer=torch.set_num_threads, initargs=(1,))
        try:
            for group in chain(first, self.groups):
                waiting.append((group, pool.submit(self._encode, group)))
                if len(waiting) > self.threads:
                    yield from _take(waiting)
            while waiting:
                yield from _take(waiting)
        finally:
            pool.shutdown(cancel_futures=True)

    @torch.inference_mode()
    def _encode(self, group: Sequence[Segment]) -> list[Tensor]:
        vectors: list[Tensor] = self.encoder(group)
        return vectors

    @contextmanager
    def beside(self) -> Iterator[None]:
        """The caller's own work: in one thread, while others encode."""
        if not self.running:
            yield
            return
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(self.threads)


def _take(waiting: deque[tuple[list[Segment], Future[list[Tensor]]]]) -> Iterator[tuple[Segment, Tensor]]:
    group, vectors = waiting.popleft()
    yield from zip(group, vectors.result(), strict=True)


def _groups(segments: Iterable[Segment], size: int) -> Iterator[list[Segment]]:
    rest = iter(segments)
    while group := list(islice(rest, size)):
        yield group
