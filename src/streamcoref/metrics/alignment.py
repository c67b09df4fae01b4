"""The best one-to-one alignment of key clusters with response clusters, for both kinds of CEAF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import fsum

Edges = Mapping[tuple[int, int], float]


def best_alignment(similarity: Edges) -> float:
    """The largest total similarity of an alignment. Pairs not in `similarity` are worth nothing.

    Clusters that no chain of overlaps joins cannot compete for a partner, so each connected component of the
    overlap graph is solved alone, and no matrix is ever larger than a component.
    """
    return fsum(_best_of_component(component) for component in _components(similarity))


def _best_of_component(edges: Edges) -> float:
    rows = {k: i for i, k in enumerate(sorted({k for k, _ in edges}))}
    columns = {r: j for j, r in enumerate(sorted({r for _, r in edges}))}
    if len(rows) == 1 or len(columns) == 1:
        return max(edges.values())
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    matrix = np.zeros((len(rows), len(columns)))
    for (k, r), value in edges.items():
        matrix[rows[k], columns[r]] = value
    return fsum(matrix[linear_sum_assignment(matrix, maximize=True)])


def _components(edges: Edges) -> Iterator[dict[tuple[int, int], float]]:
    """Split a bipartite graph into connected parts, each given by its edges."""
    of_row: dict[int, list[int]] = {}
    of_column: dict[int, list[int]] = {}
    for k, r in edges:
        of_row.setdefault(k, []).append(r)
        of_column.setdefault(r, []).append(k)
    while of_row:
        component: dict[tuple[int, int], float] = {}
        rows = [next(iter(of_row))]
        while rows:
            k = rows.pop()
            for r in of_row.pop(k, ()):
                component[k, r] = edges[k, r]
                rows.extend(of_column.pop(r, ()))
        yield component
