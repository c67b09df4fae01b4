"""Short numbers on a CPU are tried by a child, which may die: what is said then, and what is remembered."""

from __future__ import annotations

import json
import platform
import sys
from pathlib import Path

import pytest

from streamcoref._cpu_trial import BOOT, FAULTS, ISA, WITHOUT_AMX, cpu_trouble

KEEPS = pytest.mark.skipif(not BOOT.exists(), reason="this system does not tell one boot from another")
REMEDY = f"set {ISA}={WITHOUT_AMX} before Python is started, or use float32"


def child(code: str) -> list[str]:
    """A command that stands for the trial."""
    return [sys.executable, "-c", f"import os, signal, sys, time; {code}"]


WORKS = child("pass")
DIES = child("os.kill(os.getpid(), signal.SIGILL)")
HANGS = child("time.sleep(600)")
NEVER = ["/no/such/program"]  # not to be started


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(ISA, raising=False)
    return tmp_path / "cache" / "streamcoref"


def test_a_child_that_lives_means_no_trouble() -> None:
    assert cpu_trouble("bfloat16", WORKS) is None


def test_the_type_is_the_childs_argument() -> None:
    assert cpu_trouble("float16", child("sys.exit(sys.argv[1] != 'float16')")) is None


@pytest.mark.parametrize("number", FAULTS)
def test_a_child_ended_by_a_signal_is_named_with_the_remedy(number: int) -> None:
    trouble = cpu_trouble("bfloat16", child(f"signal.signal({number}, signal.SIG_DFL); os.kill(os.getpid(), {number})"))
    assert trouble == (
        "bfloat16 does not work on this CPU: a process that tried a small product was ended by "
        f"{FAULTS[FAULTS.index(number)].name}; {REMEDY}"
    )


def test_the_remedy_is_not_recommended_where_it_has_not_helped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ISA, WITHOUT_AMX)
    trouble = cpu_trouble("bfloat16", DIES)
    assert trouble is not None
    assert trouble.endswith("was ended by SIGILL; use float32")


@KEEPS
@pytest.mark.parametrize("trial", [WORKS, DIES])
def test_the_second_question_needs_no_child(trial: list[str]) -> None:
    first = cpu_trouble("bfloat16", trial)
    assert cpu_trouble("bfloat16", NEVER) == first
    assert (first is None) == (trial is WORKS)


@KEEPS
def test_another_type_another_limit_or_another_boot_is_another_question(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cpu_trouble("bfloat16", WORKS) is None
    assert cpu_trouble("float16", DIES) is not None
    monkeypatch.setenv(ISA, WITHOUT_AMX)
    assert cpu_trouble("bfloat16", DIES) is not None
    assert cpu_trouble("float16", WORKS) is None
    monkeypatch.delenv(ISA)
    assert cpu_trouble("bfloat16", NEVER) is None
    (kept,) = cache.iterdir()
    values = json.loads(kept.read_text(encoding="utf-8"))
    kept.write_text(json.dumps({**values, "boot": "an earlier one"}), encoding="utf-8")
    assert cpu_trouble("bfloat16", DIES) is not None
    assert list(json.loads(kept.read_text(encoding="utf-8"))["answers"]) == [next(iter(values["answers"]))]


@pytest.mark.parametrize(
    ("trial", "said"),
    [
        (HANGS, "a small product was not done after 0.5 seconds"),
        (child("os.kill(os.getpid(), signal.SIGKILL)"), "was ended by SIGKILL"),  # as where memory is short
        (child("sys.exit('first line\\nno such type')"), "a process that tried a small product failed: no such type"),
        (child("sys.exit(3)"), "a process that tried a small product failed: status 3"),
        (NEVER, "the process that should try it cannot be started: No such file or directory"),
    ],
    ids=["hangs", "killed", "fails", "silent", "missing"],
)
def test_what_may_be_otherwise_next_time_is_said_and_asked_again(trial: list[str], said: str) -> None:
    trouble = cpu_trouble("bfloat16", trial, seconds=0.5 if trial is HANGS else 300)
    assert trouble is not None
    assert said in trouble
    assert "\n" not in trouble
    assert cpu_trouble("bfloat16", WORKS) is None


@pytest.mark.parametrize("content", ["", "[]", "{", '{"boot": "x"}', '{"boot": null, "answers": 3}', "\x00"])
def test_a_cache_that_is_not_ours_is_no_answer(cache: Path, content: str) -> None:
    assert cpu_trouble("bfloat16", WORKS) is None
    for path in cache.glob("*"):
        path.write_text(content, encoding="utf-8")
    assert cpu_trouble("bfloat16", DIES) is not None


def test_without_a_place_for_the_cache_every_question_is_asked(cache: Path) -> None:
    cache.parent.write_text("a file where a folder should be", encoding="utf-8")
    assert cpu_trouble("bfloat16", WORKS) is None
    assert cpu_trouble("bfloat16", DIES) is not None


def test_the_trial_itself_runs() -> None:
    """In a type that every CPU knows."""
    assert cpu_trouble("float32") is None


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the limit is one of x86")
def test_a_cpu_without_vnni_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its sums of 8-bit products are cut off, and nothing says so: where they are right, it has the instructions."""
    monkeypatch.setenv(ISA, "AVX2")
    assert cpu_trouble("int8") == (
        "int8 does not work on this CPU: a process that tried a small product failed: its sums of 8-bit products are "
        "wrong, as without the instructions of VNNI; use float32"
    )
