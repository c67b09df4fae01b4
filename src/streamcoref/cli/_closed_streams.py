"""Standard streams that were closed by whoever started the command, as in `streamcoref resolve <&-`."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer


class _Closed(io.RawIOBase):
    """Says that it is closed when somebody wants something of it, and not before."""

    def __init__(self, complaint: str) -> None:
        self._complaint = complaint

    def readable(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def readinto(self, _buffer: WriteableBuffer) -> NoReturn:
        raise StreamcorefError(self._complaint)

    def write(self, _data: ReadableBuffer) -> NoReturn:
        raise StreamcorefError(self._complaint)


def replace_closed_streams() -> None:
    """Python has None in their places. Their numbers are taken, too, or the next file that is opened would get them."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # the lowest number that is free
    if sys.stdin is None:
        sys.stdin = io.TextIOWrapper(_Closed("there is no standard input: it is closed; name a file"))
    if sys.stdout is None:
        sys.stdout = io.TextIOWrapper(_Closed("there is no standard output: it is closed"), write_through=True)
    if sys.stderr is None:
        sys.stderr = io.TextIOWrapper(io.FileIO(os.open(os.devnull, os.O_WRONLY), "w"))
