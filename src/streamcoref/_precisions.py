"""The names of the precisions that a model reads in. Without torch: the command line knows them before it is there."""

from __future__ import annotations

from typing import Literal, get_args

from streamcoref.errors import StreamcorefError

PrecisionName = Literal["float32", "int8"]
FLOAT32: PrecisionName = "float32"
PRECISIONS: tuple[PrecisionName, ...] = get_args(PrecisionName)


def precision_named(name: str) -> PrecisionName:
    for known in PRECISIONS:
        if name == known:
            return known
    raise StreamcorefError(f"there is no precision {name!r}; it is one of {', '.join(PRECISIONS)}")
