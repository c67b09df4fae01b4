"""Memory that is free is given back."""

from __future__ import annotations

import subprocess
import sys

import pytest

# Blocks are freed below one that is in use: glibc alone would keep their pages.
PROGRAM = """
from streamcoref.cli.process_memory import give_back, resident_bytes
import numpy as np
blocks = [np.ones(8000) for _ in range(2000)]  # 128 MB in blocks below the size that is mapped one by one
last = np.ones(8000)
full = resident_bytes()
blocks.clear()
give_back()
print((full - resident_bytes()) / 1e6)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems give memory back in ways of their own")
def test_freed_blocks_leave_the_process() -> None:
    output = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True).stdout
    assert float(output) > 100
