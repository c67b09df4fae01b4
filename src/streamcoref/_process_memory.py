"""How much memory this process holds, and giving back what it does not need."""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

_M_ARENA_MAX = -8  # of malloc.h


def resident_bytes() -> int:
    """RSS now; where the system does not tell that, its peak so far."""
    statm = Path("/proc/self/statm")
    if statm.is_file():
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # macOS counts bytes, others KB


def share_one_heap() -> None:
    """Let all threads take memory from one heap, where the C library can (glibc); to be called before there are any.

    glibc gives each thread its own, and so each keeps gaps of its own. One has fewer. Threads here take large blocks,
    and few, so they hardly wait for each other.
    """
    if mallopt := _of_glibc("mallopt"):
        mallopt(_M_ARENA_MAX, 1)


def give_back() -> None:
    """Return free memory to the system, where the C library can (glibc).

    Segments have different lengths, so their tensors have different sizes, and glibc keeps the gaps between them: a
    process would grow by a tenth over a long book although it holds no more. This takes a millisecond or two.
    """
    if trim := _of_glibc("malloc_trim"):
        trim(0)


@cache
def _of_glibc(name: str) -> Any:
    try:
        return getattr(ctypes.CDLL(None), name) if sys.platform == "linux" else None
    except AttributeError:  # another C library
        return None
