"""Test tiers: a test whose needs are not met is skipped with the reason, never silently."""

from __future__ import annotations

import os
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from tqdm import tqdm

# One thread: the models of the tests are too small to gain by more, and lose much on a busy machine.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# A busy machine is slow, and the first example of a test may import scipy or torch: time proves nothing here.
# Continuous integration tries the same examples each time; by hand, each run tries new ones.
settings.register_profile(
    "streamcoref", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize="CI" in os.environ
)
settings.load_profile("streamcoref")

# The progress bars of other libraries would leave a thread behind that makes objects now and then, which tests of
# constant memory count.
tqdm.monitor_interval = 0

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("STREAMCOREF_SHARED", ROOT.parent / "shared"))
DEFAULT_MODEL = ROOT / "src/streamcoref/models/default/model.safetensors"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    needs = {
        "corpus": (
            (SHARED / "corpora").is_dir(),
            f"no corpora in {SHARED}; set STREAMCOREF_SHARED to their folder",
        ),
        "model": (DEFAULT_MODEL.is_file(), "no bundled model in src/streamcoref/models/default yet"),
        "browser": (
            shutil.which("chromium") is not None and find_spec("playwright") is not None,
            "chromium or playwright is not installed",
        ),
    }
    for item in items:
        for marker, (met, reason) in needs.items():
            if item.get_closest_marker(marker) and not met:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with corpora and scorer cases, for tests marked `corpus`."""
    return SHARED


@pytest.fixture(scope="session")
def needs_int8() -> None:
    """Skips, with the reason, where the CPU does not compute in 8-bit integers."""
    from streamcoref._cpu_trial import cpu_trouble

    trouble = cpu_trouble("int8")
    if trouble is not None:
        pytest.skip(trouble)
