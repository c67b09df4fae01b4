"""CEAF-e (Luo 2005, phi 4): the Dice similarity of clusters under the best one-to-one alignment."""

from __future__ import annotations

from streamcoref.metrics.alignment import best_alignment
from streamcoref.metrics.counts import Counts
from streamcoref.metrics.overlap import Clusters, overlap


def count(key: Clusters, response: Clusters) -> Counts:
    """Below the line are the clusters of each side."""
    table = overlap(key, response)
    similarity = best_alignment(
        {(k, r): 2 * n / (table.key_sizes[k] + table.response_sizes[r]) for (k, r), n in table.shared.items()}
    )
    return Counts(similarity, len(table.key_sizes), similarity, len(table.response_sizes))
