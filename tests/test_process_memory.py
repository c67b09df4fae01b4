"""Memory that is free is given back."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from types import FrameType

import pytest

from streamcoref._process_memory import give_back
from streamcoref.formats import write_documents
from streamcoref.text import document_from_text
from tests.cli import toy_resolving

# Blocks are freed below one that is in use: glibc alone would keep their pages.
PROGRAM = """
from streamcoref._process_memory import give_back, resident_bytes
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


PLAIN = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}  # nobody's own settings

THREADS = """
import ctypes, sys, threading
from streamcoref._process_memory import share_one_heap
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
        shown = subprocess.run(command, env=PLAIN, capture_output=True, text=True, check=True).stdout
        heaps[how] = shown.count("<heap nr=")
    assert heaps["one"] == 1
    assert heaps["many"] > 1


# The command first, with two threads, whose heaps would be seen if it shared one only after they had begun.
AFTER_RESOLVE = """
import sys
from streamcoref.cli import app
story, model = sys.argv.pop(), sys.argv.pop()
app(["resolve", story, "--model", model, "--threads", "2"], standalone_mode=False)
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries share their memory as they like")
def test_resolve_shares_one_heap_before_it_loads_a_model(tmp_path: Path) -> None:
    model = toy_resolving.save_model(tmp_path / "model")
    story = tmp_path / "story.txt"
    story.write_text(toy_resolving.text(2000), encoding="utf-8")
    command = [sys.executable, "-c", AFTER_RESOLVE + THREADS, "many", model, story]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert shown.count("<heap nr=") == 1


@pytest.mark.parametrize("options", [["-o", "story.sqlite"], ["-o", "story.json"], ["--format", "events"], ["--live"]])
@pytest.mark.parametrize("name", ["story.txt", "story.jsonl"])
def test_every_way_to_resolve_gives_back_after_a_chunk(
    options: list[str], name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = toy_resolving.save_model(tmp_path / "model")
    monkeypatch.chdir(tmp_path)
    text = toy_resolving.text(6_000)
    Path("story.txt").write_text(text, encoding="utf-8", newline="")
    write_documents([document_from_text("story", text)], "story.jsonl", "jsonlines")
    calls = 0

    def watch(frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is give_back.__code__

    sys.setprofile(watch)  # whoever calls it, and under whatever name
    try:
        result = toy_resolving.invoke("resolve", name, "--model", model, *options)
    finally:
        sys.setprofile(None)
    assert result.exit_code == 0, result.stderr
    assert calls >= (1 if options == ["--live"] and name == "story.txt" else 4)
