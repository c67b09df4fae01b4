"""How much memory this process holds."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def resident_bytes() -> int:
    """RSS now; where the system does not tell that, its peak so far."""
    statm = Path("/proc/self/statm")
    if statm.is_file():
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak  # macOS counts bytes, others KB
