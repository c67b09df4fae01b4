"""What tests of training share."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from streamcoref._cpu_trial import ISA, WITHOUT_AMX, cpu_trouble


@pytest.fixture(params=["bfloat16", "float16"])
def short_float(request: pytest.FixtureRequest) -> str:
    """A type of mixed precision. Where this CPU dies of it, a child runs the tests under the remedy, if that helps."""
    kind: str = request.param
    trouble = cpu_trouble(kind)
    if trouble is None:
        return kind
    if os.environ.get(ISA) == WITHOUT_AMX:
        pytest.skip(trouble)
    child = under_the_remedy(request.path)
    if child.returncode != 0:
        pytest.fail(f"under {ISA}={WITHOUT_AMX}:\n{child.stdout}{child.stderr}")
    pytest.skip(f"{trouble}; {request.path.name} under {ISA}={WITHOUT_AMX}: {child.stdout.strip().splitlines()[-1]}")


@cache
def under_the_remedy(file: Path) -> subprocess.CompletedProcess[str]:
    """All tests of a file, once, by a process that does without the instructions that this machine traps."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "", str(file)]
    environment = {**os.environ, ISA: WITHOUT_AMX}
    root = Path(__file__).parents[2]
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
