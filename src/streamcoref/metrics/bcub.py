"""B-cubed (Bagga and Baldwin 1998): for each mention, how much of its cluster is right."""

from __future__ import annotations

from math import fsum

from streamcoref.metrics.counts import Counts
from streamcoref.metrics.overlap import Clusters, overlap


def count(key: Clusters, response: Clusters) -> Counts:
    """A mention that only one side has adds nothing above the line and one below it, on its own side."""
    table = overlap(key, response)
    return Counts(
        fsum(n * n / table.key_sizes[k] for (k, _), n in table.shared.items()),
        sum(table.key_sizes),
        fsum(n * n / table.response_sizes[r] for (_, r), n in table.shared.items()),
        sum(table.response_sizes),
    )
