"""Whether this CPU computes in bfloat16, float16 or int8: a child process tries it, so that nobody else dies of it.

A virtual machine may announce AMX, the matrix instructions of newer CPUs, while its hypervisor traps them. torch
believes the announcement, and the first larger product ends the process by SIGILL, which no Python code can catch.
A CPU without VNNI has only an instruction for products of 8-bit integers that cuts off large sums without a word.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch

from streamcoref._replacing import replacing

_FLOATS = """
import sys, torch
kind = getattr(torch, sys.argv[1])
square = torch.ones(64, 64, dtype=kind)
square @ square
layer = torch.nn.Linear(64, 64)
with torch.autocast("cpu", kind):
    loss = layer(torch.ones(64, 64)).float().sum()
loss.backward()
"""
# As Int8Linear multiplies: the largest numbers there are, of few rows and of many, with one size that is no power of 2.
_INT8 = """
import sys, torch
if not hasattr(torch, "_int_mm"):
    sys.exit("this torch has no product of 8-bit integers")
for rows, inner, columns in (1, 384, 384), (7, 50, 33), (64, 64, 64), (384, 1536, 384):
    left, right = (254 * torch.randint(2, shape) - 127 for shape in ((rows, inner), (inner, columns)))
    left[0], right[:, 0] = 127, 127
    product = torch._int_mm(left.to(torch.int8), right.to(torch.int8))
    if not torch.equal(product.double(), left.double() @ right.double()):
        sys.exit("its sums of 8-bit products are wrong, as without the instructions of VNNI")
"""


def trial_of(kind: str) -> tuple[str, ...]:
    """What the child runs, with the name of the type; -P: files in the current folder are not mistaken for modules."""
    return sys.executable, "-P", "-c", _INT8 if kind == "int8" else _FLOATS


SECONDS = 300.0  # a child needs two of them, most to import torch; on a busy machine more
ISA = "ONEDNN_MAX_CPU_ISA"  # up to which instructions torch's products go
WITHOUT_AMX = "AVX512_CORE_BF16"
BOOT = Path("/proc/sys/kernel/random/boot_id")
# How a CPU, and not a user or a lack of memory, ends a process: these come again until another boot.
FAULTS = (signal.SIGILL, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE)


def cpu_trouble(kind: str, trial: Sequence[str] | None = None, seconds: float = SECONDS) -> str | None:
    """What is wrong with `bfloat16`, `float16` or `int8` on this CPU, and what to do; None if they work.

    The answer is kept for as long as the machine runs, for this torch and this value of ONEDNN_MAX_CPU_ISA.
    """
    key = f"{kind}, torch {torch.__version__}, {ISA}={os.environ.get(ISA, '')}"
    known = _read_answers()
    if key in known:
        return known[key] or None
    trouble, lasting = _try(kind, trial or trial_of(kind), seconds)
    if trouble is not None:
        trouble = f"{kind} does not work on this CPU: {trouble}; {_remedy(lasting)}"
    if lasting:
        _keep_answers({**known, key: trouble or ""})
    return trouble


def _try(kind: str, trial: Sequence[str], seconds: float) -> tuple[str | None, bool]:
    """What happened to the child, and whether it would happen again."""
    try:
        child = subprocess.run([*trial, kind], capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return f"a small product was not done after {seconds:g} seconds", False
    except OSError as error:
        return f"the process that should try it cannot be started: {error.strerror}", False
    if child.returncode == 0:
        return None, True
    if child.returncode < 0:
        number = -child.returncode
        name = signal.Signals(number).name if number in set(signal.Signals) else f"signal {number}"
        return f"a process that tried a small product was ended by {name}", number in FAULTS
    said = child.stderr.strip().splitlines()
    return f"a process that tried a small product failed: {said[-1] if said else f'status {child.returncode}'}", False


def _remedy(by_the_cpu: bool) -> str:
    """Other instructions help only where those that were tried ended the child."""
    if not by_the_cpu or os.environ.get(ISA) == WITHOUT_AMX:
        return "use float32"
    return f"set {ISA}={WITHOUT_AMX} before Python is started, or use float32"


def _answers_file() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "streamcoref" / "cpu-trials.json"


def _boot() -> str | None:
    """A name of the time since the machine was started; None where the system has none: then nothing is kept."""
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return None


def _read_answers() -> Mapping[str, str]:
    """The answers since the machine was started, "" where there is no trouble."""
    try:
        kept = json.loads(_answers_file().read_text(encoding="utf-8"))
        answers = kept["answers"] if kept["boot"] == _boot() else {}
        return {str(key): str(trouble) for key, trouble in answers.items()}
    except (OSError, RuntimeError, ValueError, TypeError, LookupError, AttributeError):
        return {}  # not there, not readable, or not ours: the child is asked again


def _keep_answers(answers: Mapping[str, str]) -> None:
    boot = _boot()
    if boot is None:
        return
    try:
        path = _answers_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, path.with_suffix(f".{os.getpid()}.part")) as part:
            part.write_text(json.dumps({"boot": boot, "answers": answers}, indent=2) + "\n", encoding="utf-8")
    except (OSError, RuntimeError):
        pass  # no folder to write to: the next run asks again
