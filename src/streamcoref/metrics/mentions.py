"""Mention detection: the official scorer's "Identification of Mentions"; only exact spans count."""

from __future__ import annotations

from streamcoref.metrics.counts import Counts
from streamcoref.metrics.overlap import Clusters, overlap


def count(key: Clusters, response: Clusters) -> Counts:
    """Mentions found of those in the key, and mentions right of those in the response."""
    table = overlap(key, response)
    common = table.shared.total()
    return Counts(common, sum(table.key_sizes), common, sum(table.response_sizes))
