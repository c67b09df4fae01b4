"""How the clusters of key and response overlap: all that any of the metrics needs to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

Clusters = Iterable[Iterable[Hashable]]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Sizes of the clusters, and `shared[k, r]`: mentions common to key cluster k and response cluster r, if any."""

    key_sizes: list[int]
    response_sizes: list[int]
    shared: Counter[tuple[int, int]]

    def shared_by_key(self) -> Counter[int]:
        """For each key cluster, how many of its mentions are anywhere in the response."""
        totals: Counter[int] = Counter()
        for (k, _), count in self.shared.items():
            totals[k] += count
        return totals

    def shared_by_response(self) -> Counter[int]:
        """For each response cluster, how many of its mentions are anywhere in the key."""
        totals: Counter[int] = Counter()
        for (_, r), count in self.shared.items():
            totals[r] += count
        return totals


def overlap(key: Clusters, response: Clusters) -> Overlap:
    """Compare two lists of clusters; a mention given more than once counts where it came first."""
    key, response = distinct(key), distinct(response)
    key_cluster = {mention: k for k, cluster in enumerate(key) for mention in cluster}
    shared = Counter(
        (key_cluster[mention], r) for r, cluster in enumerate(response) for mention in cluster if mention in key_cluster
    )
    return Overlap([len(cluster) for cluster in key], [len(cluster) for cluster in response], shared)


def distinct(clusters: Clusters) -> list[list[Hashable]]:
    """Keep the first of each repeated mention, as the official scorer does; clusters left empty vanish."""
    seen: set[Hashable] = set()
    result: list[list[Hashable]] = []
    for cluster in clusters:
        kept: list[Hashable] = []
        for mention in cluster:
            if mention not in seen:
                seen.add(mention)
                kept.append(mention)
        if kept:
            result.append(kept)
    return result
