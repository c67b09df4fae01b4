"""Segments through the encoder in groups, the next group while the caller still works on this one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from torch import Tensor

from streamcoref.model.encoder import Encoder
from streamcoref.model.segments import Segment

Group = list[Segment]


def encode_ahead(encoder: Encoder, segments: Iterable[Segment], size: int) -> Iterator[tuple[Segment, Tensor]]:
    """Each segment with its piece vectors, `size` segments encoded at a time.

    Linking goes one decision after another and keeps one core busy. With groups of more than one segment, and more
    than one thread, the encoder works on the next group meanwhile, so up to two groups are read ahead. With a size
    of 1 nothing is read ahead, as a live stream needs it.
    """
    if size == 1 or torch.get_num_threads() == 1:
        for group in _groups(segments, size):
            yield from zip(group, encoder(group), strict=True)
        return
    with ThreadPoolExecutor(1, thread_name_prefix="streamcoref-encoder") as worker:
        waiting: tuple[Group, Future[list[Tensor]]] | None = None
        for group in _groups(segments, size):
            following = (group, worker.submit(_encode, encoder, group))
            if waiting is not None:
                yield from zip(waiting[0], waiting[1].result(), strict=True)
            waiting = following
        if waiting is not None:
            yield from zip(waiting[0], waiting[1].result(), strict=True)


@torch.inference_mode()
def _encode(encoder: Encoder, group: Group) -> list[Tensor]:
    vectors: list[Tensor] = encoder(group)
    return vectors


def _groups(segments: Iterable[Segment], size: int) -> Iterator[Group]:
    group: Group = []
    for segment in segments:
        group.append(segment)
        if len(group) == size:
            yield group
            group = []
    if group:
        yield group
