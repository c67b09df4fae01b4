"""Plots as plain values; `draw.py` makes pictures and pages of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple


class Mark(NamedTuple):
    """A horizontal line with a name, such as a figure of the paper."""

    y: float
    name: str


@dataclass(frozen=True, slots=True)
class Series:
    """Points that belong together. `x` are numbers, or names that stand side by side in the order of the first series.

    `hover` is shown when the pointer is on a point, `labels` are written beside the points of a picture; both may be
    empty. `errors` are drawn up and down from a point. Series of the same `colour` look alike; None is light grey.
    """

    name: str
    x: Sequence[float] | Sequence[str]
    y: Sequence[float]
    kind: Literal["points", "line", "bars"] = "points"
    hover: Sequence[str] = ()
    labels: Sequence[str] = ()
    errors: Sequence[float] = ()
    colour: int | None = 0


@dataclass(frozen=True, slots=True)
class Plot:
    """`name` is the name of its files without suffix."""

    name: str
    title: str
    x: str
    y: str
    series: Sequence[Series]
    mark: Mark | None = None
