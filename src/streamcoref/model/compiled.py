"""Kernels in C beside this module, where they were built: `hatch_build.py` compiles them when the package is."""

from __future__ import annotations

import ctypes
import zlib
from pathlib import Path

FOLDER = Path(__file__).parent


def library(name: str) -> ctypes.CDLL | None:
    """A kernel, if it was built, and of this very source. While it works, other threads may run Python, too."""
    try:
        found = ctypes.CDLL(str(FOLDER / f"{name}.so"))
        built_from = ctypes.c_uint32.in_dll(found, "built_from").value
    except (OSError, ValueError):
        return None
    return found if built_from == zlib.crc32((FOLDER / f"{name}.c").read_bytes()) else None
