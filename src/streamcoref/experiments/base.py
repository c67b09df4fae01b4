"""What every experiment is to the rest: options, cells that are computed one by one, a page, plots."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from streamcoref.checked import Options
from streamcoref.experiments.plot import Plot

NONE = "–"  # in a table, where there is nothing to say
Progress = Callable[[int, int], None]  # so many documents or steps done, of so many
Values = dict[str, Any]  # what JSON can hold
Found = Mapping[str, Values]  # what each cell found, by its key


def _nothing() -> None: ...


@dataclass(frozen=True, slots=True)
class Cell:
    """One figure or a few that are computed together and never again: one model x corpus x setting.

    `tidy` runs when what `work` returned is safely on disk, and again whenever the experiment is started again.
    """

    key: str
    work: Callable[[Progress], Values]
    tidy: Callable[[], None] = _nothing


@dataclass(frozen=True, slots=True)
class Experiment:
    """An experiment as plain functions of its options, which are of the type `options`.

    `identity` holds all that the figures depend on, for a folder holds one experiment of one config; `inputs` are
    the files and folders whose content they depend on. `cells` may write to the folder it is given.
    """

    name: str
    options: type[Options]
    identity: Callable[[Any], Values]
    inputs: Callable[[Any], list[Path]]
    cells: Callable[[Any, Path], list[Cell]]
    page: Callable[[Any, Found], str]
    plots: Callable[[Any, Found], list[Plot]]


def key(*parts: str) -> str:
    """The key of a cell."""
    return " | ".join(parts)
