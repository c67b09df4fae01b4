"""A run that is killed with SIGKILL, again and again, ends with the same rows as one that was never killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import sqlite3
import time
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from tests.cli.toy_resolving import Rows, invoke, rows, save_model, start, text

# A server that has torch loaded and forks: a process that takes seconds to start cannot be killed often in a test.
SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.cli.warm_start"])
KILLS = 6


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_model(tmp_path_factory.mktemp("killed") / "model")


def resolve(book: Path, store: Path, model: Path) -> None:
    """The command, in a process of its own, that reads little at a time and always saves."""
    from streamcoref.cli import resolve_store
    from streamcoref.formats import files

    resolve_store.SAVE_SECONDS = 0.0
    files._CHUNK = 500
    os._exit(invoke("resolve", book, "-o", store, "--model", model).exit_code)


def begin(*arguments: object) -> BaseProcess:
    process = SERVER.Process(target=resolve, args=arguments)
    process.start()
    return process


def never_killed(book: Path, model: Path, folder: Path) -> Rows:
    store = folder / "whole.sqlite"
    assert invoke("resolve", book, "-o", store, "--model", model).exit_code == 0
    return rows(store)


def position(store: Path) -> int:
    """Bytes read so far; none while the store is being made."""
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT bytes_read FROM input").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def test_killed_at_random_moments_it_ends_the_same(tmp_path: Path, model: Path) -> None:
    book, store = tmp_path / "book.txt", tmp_path / "book.sqlite"
    book.write_text(text(2500), encoding="utf-8", newline="")
    whole = never_killed(book, model, tmp_path)
    choose = random.Random(7)
    places = [0]
    process = begin(book, store, model)
    while process.is_alive() and len(places) <= KILLS:
        time.sleep(0.01)
        if position(store) > places[-1]:  # it has gone on by something
            process.join(choose.uniform(0, 0.05))
            process.kill()
            process.join()
            places.append(position(store))
            process = begin(book, store, model)
    process.join()
    assert process.exitcode == 0
    assert len(places) > KILLS // 2
    assert rows(store) == whole


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
