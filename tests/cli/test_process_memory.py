"""Memory that is free is given back."""

from __future__ import annotations

import importlib
import platform
import subprocess
import sys
from pathlib import Path

import pytest

import streamcoref.resolver
from streamcoref.cli import process_memory
from tests.cli import toy_resolving

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


THREADS = """
import ctypes, sys, threading
from streamcoref.cli.process_memory import share_one_heap
if sys.argv[1] == "one":
    share_one_heap()
libc = ctypes.CDLL(None)
libc.malloc.restype = libc.fopen.restype = ctypes.c_void_p
together = threading.Barrier(4)
def take():
    libc.malloc(1000)
    together.wait()
threads = [threading.Thread(target=take) for _ in range(4)]
[t.start() for t in threads]
[t.join() for t in threads]
file = ctypes.c_void_p(libc.fopen(b"/dev/stdout", b"w"))
libc.malloc_info(0, file)
libc.fflush(file)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries share their memory as they like")
def test_threads_share_one_heap() -> None:
    heaps = {}
    for how in ("one", "many"):
        command = [sys.executable, "-c", THREADS, how]
        heaps[how] = subprocess.run(command, capture_output=True, text=True, check=True).stdout.count("<heap nr=")
    assert heaps["one"] == 1
    assert heaps["many"] > 1


def test_resolve_shares_one_heap_before_it_loads_a_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = toy_resolving.save_model(tmp_path / "model")
    (tmp_path / "story.txt").write_text(toy_resolving.text(50), encoding="utf-8")
    order: list[str] = []
    load = streamcoref.resolver.load
    monkeypatch.setattr(process_memory, "share_one_heap", lambda: order.append("heap"))
    monkeypatch.setattr(streamcoref.resolver, "load", lambda *a, **k: (order.append("load"), load(*a, **k))[1])
    assert toy_resolving.invoke("resolve", str(tmp_path / "story.txt"), "--model", model).exit_code == 0
    assert order == ["heap", "load"]


@pytest.mark.parametrize(
    ("module", "options"),
    [
        ("resolve_store", ["-o", "story.sqlite"]),
        ("resolve_documents", ["-o", "story.json"]),
        ("resolve_live", ["--live"]),
    ],
)
def test_every_way_to_resolve_gives_back_after_a_chunk(
    module: str, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = toy_resolving.save_model(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    text = toy_resolving.text(2_000)
    Path("story.txt").write_text(text, encoding="utf-8", newline="")
    calls: list[None] = []
    monkeypatch.setattr(importlib.import_module(f"streamcoref.cli.{module}"), "give_back", lambda: calls.append(None))
    result = toy_resolving.invoke("resolve", "story.txt", "--model", model, *options)
    assert result.exit_code == 0
    chunk = 65536 if module == "resolve_live" else 8192
    assert len(calls) >= len(text.encode()) // chunk
    assert calls
