"""What is noted of spans and of entities: a column for each thing, and in it a number (or a few) for each row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

# Of every span: its first piece (position in the text), twice the middle of it, and its mention score.
SPAN = np.dtype([("start", np.int64), ("place", np.int64), ("score", np.float64)])
# Of every entity: its number, its mentions so far, where the latest one is, and the best mention score among them.
ENTITY = np.dtype(
    [("id", np.int64), ("size", np.int64), ("start", np.int64), ("place", np.int64), ("score", np.float64)]
)


def some(values: Array) -> bool:
    """Whether any of them is not 0, or the only one; numpy's own `any` takes ten times as long for one number."""
    return bool(values if values.ndim == 0 else np.count_nonzero(values))


class Notes:
    """Columns by name, whose first dimensions are the same: [rows], or whatever an index makes of them.

    They are declared as structured types but kept apart, each with its rows side by side, since one number of a span is
    compared with those of all entities at once.
    """

    __slots__ = ("columns",)

    def __init__(self, columns: dict[str, Array]) -> None:
        self.columns = columns

    @classmethod
    def empty(cls, kinds: Iterable[np.dtype[Any]], rows: int) -> Notes:
        """So many rows of zeros, with the columns of all these types."""
        columns: dict[str, Array] = {}
        for kind in kinds:
            for name in kind.names or ():
                if name in columns:
                    raise TypeError(
                        f"two pair features have a column {name!r}, or all spans and entities; call it otherwise"
                    )
                field = kind[name]
                columns[name] = _side_by_side(np.zeros((rows, *field.shape), dtype=field.base))
        return cls(columns)

    @classmethod
    def joined(cls, parts: Sequence[Notes]) -> Notes:
        """The rows of all parts, one after the other."""
        return cls({name: np.concatenate([part.columns[name] for part in parts]) for name in parts[0].columns})

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __len__(self) -> int:
        return len(self.columns["place"])

    @property
    def dimensions(self) -> int:
        """How many dimensions there are before those of the columns themselves: 1 for rows, 0 for one of them."""
        return self.columns["place"].ndim

    @property
    def nbytes(self) -> int:
        return sum(column.nbytes for column in self.columns.values())

    def at(self, rows: Any) -> Notes:
        """Any of numpy's indices, applied to all columns alike."""
        return Notes({name: column[rows] for name, column in self.columns.items()})

    def copy(self) -> Notes:
        return Notes({name: _side_by_side(column) for name, column in self.columns.items()})

    def replaced(self, **columns: Array) -> Notes:
        return Notes(self.columns | columns)

    def resized(self, rows: int, used: int) -> Notes:
        """Room for so many rows, the first `used` of which are kept."""
        columns = {}
        for name, old in self.columns.items():
            columns[name] = _side_by_side(np.zeros((rows, *old.shape[1:]), dtype=old.dtype))
            columns[name][:used] = old[:used]
        return Notes(columns)

    def set(self, row: int, other: Notes, place: int) -> None:
        """Make a row what a row of others is."""
        for name, column in self.columns.items():
            column[row] = other.columns[name][place]

    def clear(self, row: int) -> None:
        for column in self.columns.values():
            column[row] = 0

    def close_gaps(self, first: int, rows: IntArray) -> None:
        """Move these rows, in their order, to where the first gap is; along memory, as they lie side by side there."""
        for column in self.columns.values():
            column.T[..., first : first + len(rows)] = column.T.take(rows, axis=-1)

    def values(self, rows: Sequence[int]) -> list[dict[str, Any]]:
        """Each of these rows as plain numbers and lists of them."""
        index = np.array(rows, dtype=np.int64)
        columns = [column[index].tolist() for column in self.columns.values()]
        return [dict(zip(self.columns, values, strict=True)) for values in zip(*columns, strict=True)]

    def same_columns(self, other: Mapping[str, Array]) -> bool:
        """Whether others have the same names, types and shapes, whatever their number of rows."""
        return self.columns.keys() == other.keys() and all(
            column.dtype == other[name].dtype and column.shape[1:] == other[name].shape[1:]
            for name, column in self.columns.items()
        )


def _side_by_side(array: Array) -> Array:
    """A copy, laid out with the rows side by side."""
    return np.moveaxis(np.array(np.moveaxis(array, 0, -1), order="C"), -1, 0)
