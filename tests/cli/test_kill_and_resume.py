"""A run that is killed with SIGKILL, again and again, ends with the same rows as one that was never killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sqlite3
import threading
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.cli.toy_resolving import Rows, invoke, rows, save_model, start, text

# A server that has torch loaded and forks: a process that takes seconds to start cannot be killed often in a test.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.cli.warm_start"])
KILLS = 6
# Of a model whose people soon leave the memory, and come back from the store's register.
NAMES: dict[str, Any] = {
    "pair_score": {"name": "feed_forward", "hidden": 24, "features": ["distance", "exact_match", "identity"]},
    "evict": {"name": "one_distance", "distance": 60},
    "revive": 2,
    "merge": 2,
}


def resolve(book: Path, store: Path, model: Path, precision: str, beyond: int | None, wait: float) -> None:
    """The command, in a process of its own, that reads little at a time and always saves.

    Once it has read further than `beyond`, and a moment after, it is killed, by a thread of its own: another process
    might look too late on a busy machine.
    """
    from streamcoref import _document_events as document_events
    from streamcoref.formats import files
    from streamcoref.store import job

    def watch(beyond: int) -> None:
        while position(store) <= beyond:
            time.sleep(0.001)
        time.sleep(wait)
        os.kill(os.getpid(), signal.SIGKILL)

    job.SAVE_SECONDS = 0.0
    files.CHUNK_BYTES = 500
    document_events.WORDS_AT_ONCE = 80
    if beyond is not None:
        threading.Thread(target=watch, args=(beyond,), daemon=True).start()
    os._exit(invoke("resolve", book, "-o", store, "--model", model, "--precision", precision).exit_code)


def run(*arguments: object) -> int:
    """The exit status; below 0 if it was killed."""
    process = SERVER.Process(target=resolve, args=arguments)
    process.start()
    process.join()
    assert process.exitcode is not None
    return process.exitcode


def never_killed(book: Path, model: Path, folder: Path, precision: str = "float32") -> Rows:
    store = folder / "whole.sqlite"
    assert invoke("resolve", book, "-o", store, "--model", model, "--precision", precision).exit_code == 0
    return rows(store)


def position(store: Path) -> int:
    """Bytes read so far; none while the store is being made."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT bytes_read FROM input").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def registered(store: Path) -> int:
    with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
        return int(connection.execute("SELECT count(*) FROM register").fetchone()[0])


@pytest.mark.parametrize(
    ("name", "precision", "people"),
    [
        ("book.txt", "float32", False),
        ("book.md", "float32", False),
        ("book.txt", "int8", False),
        ("book.txt", "float32", True),
    ],
)
def test_killed_at_random_moments_it_ends_the_same(
    name: str, precision: str, people: bool, tmp_path: Path, model: Path, request: pytest.FixtureRequest
) -> None:
    """Also a book whose text is taken out of its file again each time, in 8-bit integers, and with people who left the
    memory."""
    if precision == "int8":
        request.getfixturevalue("needs_int8")
    if name == "book.md":
        pytest.importorskip("lxml", reason="the extra books is not installed")
    if people:
        model = save_model(tmp_path / "names", **NAMES)
    book, store = tmp_path / name, tmp_path / "book.sqlite"
    book.write_text(text(2500), encoding="utf-8", newline="")
    whole = never_killed(book, model, tmp_path, precision)
    choose = random.Random(7)
    places, most = [0], 0
    while len(places) <= KILLS and run(book, store, model, precision, places[-1], choose.uniform(0, 0.05)) < 0:
        assert position(store) > places[-1]  # it had gone on by something
        places.append(position(store))
        most = max(most, registered(store))
    assert run(book, store, model, precision, None, 0.0) == 0
    assert len(places) > KILLS // 2
    assert rows(store) == whole
    assert (most > NAMES["revive"]) == people


@pytest.mark.slow
def test_killed_many_times_it_ends_the_same(tmp_path: Path, model: Path) -> None:
    """The real command, its own saving, kills from its very beginning on; and a reader that looks in between."""
    book, store = tmp_path / "book.txt", tmp_path / "book.sqlite"
    book.write_text(text(40_000), encoding="utf-8", newline="")
    began = time.monotonic()
    whole = never_killed(book, model, tmp_path)
    took = time.monotonic() - began  # kills come at any moment of a run, on a quick machine and on a slow one
    choose = random.Random(11)
    for _ in range(12):
        process = start("resolve", book, "-o", store, "--model", model)
        time.sleep(choose.uniform(0, min(took, 10)))
        process.kill()
        process.communicate()
        if position(store):
            found = rows(store)
            # What is committed belongs together: sizes and mentions agree at any moment.
            assert sum(row[3] for row in found["entities"]) == len(found["mentions"])
            assert found["mentions"] == whole["mentions"][: len(found["mentions"])]
    process = start("resolve", book, "-o", store, "--model", model)
    _, said = process.communicate()
    assert process.returncode == 0, said
    assert rows(store) == whole
