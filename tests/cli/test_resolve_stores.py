"""`streamcoref resolve -o STORE`: goes on after Ctrl-C, refuses what has changed, says what is there."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from streamcoref._stream_text import StreamText
from streamcoref.formats import files
from streamcoref.model.segments import Segment
from streamcoref.store import Store, job
from tests.cli.toy_resolving import COMMAND, ENVIRONMENT, invoke, rows, run, save_model, text

STORY = text(150)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("story.txt").write_text(STORY, encoding="utf-8", newline="")
    return tmp_path


def test_a_finished_store_stays_as_it_is(model: Path) -> None:
    run(model, "story.txt", "-o", "story.sqlite")
    content, written = Path("story.sqlite").read_bytes(), Path("story.sqlite").stat().st_mtime_ns
    result = invoke("resolve", "--model", model, "story.txt", "-o", "story.sqlite")
    assert result.exit_code == 0
    assert "story.sqlite: complete already, nothing to do" in result.stderr
    assert (Path("story.sqlite").read_bytes(), Path("story.sqlite").stat().st_mtime_ns) == (content, written)


def test_what_has_changed_is_said_and_refused(place: Path, model: Path) -> None:
    other = save_model(place / "other", update={"name": "mean"})
    run(model, "story.txt", "-o", "story.sqlite")
    before = rows(Path("story.sqlite"))
    assert "another model" in run(other, "story.txt", "-o", "story.sqlite", status=2)
    said = run(model, "story.txt", "-o", "story.sqlite", "--singletons", "--min-score", 0.25, status=2)
    assert "another min_score (0.0; now 0.25) and another singletons (false; now true); give the command" in said
    assert "another evict (the model's; now none)" in run(
        model, "story.txt", "-o", "story.sqlite", "--no-evict", status=2
    )
    Path("story.txt").write_text(STORY[:-1] + "!", encoding="utf-8", newline="")
    assert "the content of" in (said := run(model, "story.txt", "-o", "story.sqlite", status=2))
    assert "start over with --force" in said
    assert rows(Path("story.sqlite")) == before
    run(model, "story.txt", "-o", "story.sqlite", "--force")
    assert rows(Path("story.sqlite"))["input"] != before["input"]


def test_a_text_may_be_moved_while_its_store_waits(place: Path, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after(3, monkeypatch)
    assert "stopped and saved" in run(model, "story.txt", "-o", "story.sqlite", status=130)
    Path("story.txt").rename("moved.txt")
    monkeypatch.undo()
    os.chdir(place)
    run(model, "moved.txt", "-o", "story.sqlite")
    (record,) = rows(Path("story.sqlite"))["input"]
    assert str(place / "moved.txt") in record


def stop_after(chunks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short chunks, and a Ctrl-C that comes while one of them is being read by the model."""
    plain, fed = StreamText.feed, 0

    def feed(self: StreamText, *arguments: Any) -> Iterator[Segment]:
        nonlocal fed
        fed += 1
        if fed == chunks:
            signal.raise_signal(signal.SIGINT)  # to this thread, at once
        return plain(self, *arguments)

    monkeypatch.setattr(files, "CHUNK_BYTES", 100)
    monkeypatch.setattr(StreamText, "feed", feed)


def test_ctrl_c_saves_and_the_same_command_goes_on(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGINT)
    run(model, "story.txt", "-o", "whole.sqlite")
    with monkeypatch.context() as patch:
        stop_after(5, patch)
        said = run(model, "story.txt", "-o", "story.sqlite", status=130)
    assert said == "streamcoref: story.sqlite: stopped and saved; give the same command again to go on\n"
    (record,) = rows(Path("story.sqlite"))["input"]
    assert record[8] in (300, 400, 500)  # bytes read, and not only taken ahead
    assert signal.getsignal(signal.SIGINT) is before
    run(model, "story.txt", "-o", "story.sqlite")
    assert rows(Path("story.sqlite")) == rows(Path("whole.sqlite"))


def test_a_text_from_a_pipe_goes_on_too(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = STORY.encode()
    run(model, "-", "-o", "whole.sqlite", given=content)
    with monkeypatch.context() as patch:
        stop_after(5, patch)
        run(model, "-", "-o", "story.sqlite", status=130, given=content)
    assert "another text" in run(model, "-", "-o", "story.sqlite", status=2, given=b"But " + content)
    assert "another text" in run(model, "-", "-o", "story.sqlite", status=2, given=content[:300])
    run(model, "-", "-o", "story.sqlite", given=content)
    assert rows(Path("story.sqlite")) == rows(Path("whole.sqlite"))
    assert "goes on" in run(model, "-", "-o", "story.sqlite", status=2, given=content + b"More.")
    run(model, "-", "-o", "story.sqlite", given=content)


@pytest.mark.slow
def test_a_full_disk_loses_nothing_that_was_saved(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("story.txt").write_text(text(4000), encoding="utf-8", newline="")
    run(model, "story.txt", "-o", "whole.sqlite")
    monkeypatch.setattr(job, "SAVE_SECONDS", 0.0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (400_000, before[1]))  # no file may be longer
    try:
        said = run(model, "story.txt", "-o", "story.sqlite", status=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "story.sqlite: the store cannot be used: " in said
    assert "give the same command again" in said
    (record,) = rows(Path("story.sqlite"))["input"]
    assert record[8] > 0
    run(model, "story.txt", "-o", "story.sqlite")
    assert rows(Path("story.sqlite")) == rows(Path("whole.sqlite"))


def test_a_full_disk_is_a_sentence_for_other_formats_too(model: Path) -> None:
    assert "/dev/full: cannot be written: No space left on device" in run(
        model, "story.txt", "-o", "/dev/full", "--format", "json", status=2
    )


def test_a_store_is_readable_while_it_is_written(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    plain = Store.commit

    def commit(self: Store, *arguments: Any, **named: Any) -> None:
        with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as reader:
            reader.execute("BEGIN")
            seen.append(reader.execute("SELECT count(*), coalesce(sum(size), 0) FROM entities").fetchone())
            plain(self, *arguments, **named)
            # a reader keeps what it sees
            assert reader.execute("SELECT count(*) FROM mentions").fetchone()[0] == seen[-1][1]

    monkeypatch.setattr(Store, "commit", commit)
    monkeypatch.setattr(job, "SAVE_SECONDS", 0.0)
    Path("story.txt").write_text(text(4000), encoding="utf-8", newline="")
    run(model, "story.txt", "-o", "story.sqlite")
    assert seen[0] == (0, 0) < seen[1] < seen[-1]


@pytest.mark.slow
def test_the_command_stops_quietly_on_a_terminal_and_shows_a_bar(model: Path) -> None:
    import pty

    Path("story.txt").write_text(text(60_000), encoding="utf-8", newline="")
    ours, theirs = pty.openpty()
    arguments = [COMMAND, "resolve", "story.txt", "--model", model, "-o", "story.sqlite"]
    process = subprocess.Popen(arguments, env=ENVIRONMENT | {"TERM": "xterm", "COLUMNS": "150"}, stderr=theirs)
    os.close(theirs)
    shown = b""
    while b"words/s" not in shown:
        shown += os.read(ours, 10_000)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    with suppress(OSError):  # a terminal whose last user has gone
        while data := os.read(ours, 10_000):
            shown += data
    os.close(ours)
    process.wait()
    assert process.returncode == 130
    for part in (b"words/s", b"entities alive", b" MB", b"stopped and saved; give the same command again"):
        assert part in shown
    assert b"Traceback" not in shown
    assert 0 < rows(Path("story.sqlite"))["input"][0][8] < Path("story.txt").stat().st_size
