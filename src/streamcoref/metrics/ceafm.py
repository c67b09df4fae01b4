"""CEAF-m (Luo 2005, phi 3): mentions in common under the best one-to-one alignment of clusters."""

from __future__ import annotations

from streamcoref.metrics.alignment import best_alignment
from streamcoref.metrics.counts import Counts
from streamcoref.metrics.overlap import Clusters, overlap


def count(key: Clusters, response: Clusters) -> Counts:
    """Below the line are the mentions of each side."""
    table = overlap(key, response)
    common = best_alignment(table.shared)
    return Counts(common, sum(table.key_sizes), common, sum(table.response_sizes))
