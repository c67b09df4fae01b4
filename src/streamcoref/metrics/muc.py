"""MUC (Vilain et al. 1995): the links needed to tie a cluster together."""

from __future__ import annotations

from streamcoref.metrics.counts import Counts
from streamcoref.metrics.overlap import Clusters, overlap


def count(key: Clusters, response: Clusters) -> Counts:
    """A cluster of n mentions needs n - 1 links; m of them found together in a response cluster hold m - 1."""
    table = overlap(key, response)
    correct = sum(n - 1 for n in table.shared.values())
    return Counts(
        correct,
        sum(size - 1 for size in table.key_sizes),
        correct,
        sum(size - 1 for size in table.response_sizes),
    )
