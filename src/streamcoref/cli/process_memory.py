"""How much memory this process holds, and giving back what it does not need."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any


def resident_bytes() -> int:
    """RSS now; where the system does not tell that, its peak so far."""
    statm = Path("/proc/self/statm")
    if statm.is_file():
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # macOS counts bytes, others KB


def give_back() -> None:
    """Return free memory to the system, where the C library can (glibc).

    Segments have different lengths, so their tensors have different sizes, and glibc keeps the gaps between them: a
    process would grow by a tenth over a long book although it holds no more. This takes a millisecond or two.
    """
    if trim := _malloc_trim():
        trim(0)


@cache
def _malloc_trim() -> Any:
    try:
        return ctypes.CDLL(None).malloc_trim if sys.platform == "linux" else None
    except AttributeError:  # another C library
        return None
