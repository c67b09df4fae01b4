"""Where a run computes, and how much memory it uses there."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import torch

from streamcoref.errors import StreamcorefError


def choose_device(name: str) -> torch.device:
    """Each of several processes on a machine takes a GPU of its own."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name == "cuda" and "LOCAL_RANK" in os.environ:
        name = f"cuda:{os.environ['LOCAL_RANK']}"
    try:
        device = torch.device(name)
        torch.empty(0, device=device)  # an AssertionError, if torch was built without it
        if device.type == "cuda":
            torch.cuda.set_device(device)
        return device
    except (RuntimeError, AssertionError) as error:
        raise StreamcorefError(f"run.device: {str(error).splitlines()[0]}") from error


def memory_in_use(device: torch.device) -> float:
    """GB: allocated on a GPU, resident for the process on a CPU."""
    if device.type == "cuda":
        return torch.cuda.memory_allocated(device) / 1e9
    statm = Path("/proc/self/statm")
    if not statm.exists():  # not on Linux: the peak so far is the nearest there is
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e9
    return int(statm.read_text(encoding="ascii").split()[1]) * resource.getpagesize() / 1e9
