"""The paper's ten buckets of a distance or a count."""

from __future__ import annotations

import numpy as np

from streamcoref.model.notes import Array, IntArray

BUCKETS = 10
# 0, 1, 2, 3, 4, 5-7, 8-15, 16-31, 32-63, 64+: the bucket of every number up to 64
_BUCKET_OF = np.array([0, 1, 2, 3, 4, *[5] * 3, *[6] * 8, *[7] * 16, *[8] * 32, 9])


_OF_HALF = _BUCKET_OF.repeat(2)


def bucket(numbers: Array) -> IntArray:
    """Negative numbers go to the first."""
    return _BUCKET_OF.take(numbers, mode="clip")


def bucket_of_half(numbers: Array) -> IntArray:
    """Of numbers halved, and rounded down."""
    return _OF_HALF.take(numbers, mode="clip")
