"""LEA (Moosavi and Strube 2016): each entity, weighted by its size, times the share of its links that is resolved."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb, fsum

from streamcoref.metrics.counts import Counts
from streamcoref.metrics.overlap import Clusters, Overlap, overlap


def count(key: Clusters, response: Clusters) -> Counts:
    """A singleton has one link, to itself, which only a singleton on the other side resolves."""
    table = overlap(key, response)
    return Counts(fsum(_resolved(table, 0)), sum(table.key_sizes), fsum(_resolved(table, 1)), sum(table.response_sizes))


def _resolved(table: Overlap, side: int) -> Iterator[float]:
    """Size times resolved share, overlap by overlap, for the clusters of the key (side 0) or the response (1)."""
    for (k, r), n in table.shared.items():
        key_size, response_size = table.key_sizes[k], table.response_sizes[r]
        size = (key_size, response_size)[side]
        if size > 1:
            yield size * comb(n, 2) / comb(size, 2)
        elif key_size == response_size:
            yield 1.0
