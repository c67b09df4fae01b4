"""Memory that is free is given back."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

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
