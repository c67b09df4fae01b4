"""The whole-document baseline's pruning: the best spans of which no two cross."""

from __future__ import annotations

import numpy as np

from streamcoref.model.notes import IntArray


def best_without_crossing(order: IntArray, starts: IntArray, ends: IntArray, keep: int) -> IntArray:
    """Go through spans in `order`, best first, and take each that crosses none taken, until `keep` are taken.

    Two spans cross if they overlap and neither holds the other. Positions are inclusive. Returns the taken rows,
    sorted by (start, end).
    """
    length = int(ends.max()) + 1 if len(ends) else 0
    latest_end = np.full(length, -1)  # of the taken spans that start here
    earliest_start = np.full(length, length)  # of the taken spans that end here
    taken: list[int] = []
    for row in order.tolist():
        if len(taken) == keep:
            break
        start, end = int(starts[row]), int(ends[row])
        if start < end and (latest_end[start + 1 : end + 1].max() > end or earliest_start[start:end].min() < start):
            continue
        taken.append(row)
        latest_end[start] = max(latest_end[start], end)
        earliest_start[end] = min(earliest_start[end], start)
    rows = np.array(taken, dtype=np.int64)
    return rows[np.lexsort((ends[rows], starts[rows]))]
