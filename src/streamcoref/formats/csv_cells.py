"""What the tables that are written as CSV have in common: rows, and cells that no spreadsheet may run."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TextIO

# A cell that begins so is a formula to spreadsheet programs, which may run what a stranger's text says.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")


def row_writer(stream: TextIO, *, defuse: bool) -> Callable[[Iterable[Sequence[Any]]], None]:
    """What writes rows; with `defuse`, cells that a spreadsheet would take for formulas begin with a '."""
    write = csv.writer(stream, lineterminator="\n").writerows
    if not defuse:
        return write
    return lambda rows: write(map(_defused, row) for row in rows)


def _defused(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and value.startswith(_FORMULA) else value
