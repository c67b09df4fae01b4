"""Two processes and one store: who writes keeps it, whatever the other is told to do."""

from __future__ import annotations

import multiprocessing
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from multiprocessing.process import BaseProcess
from pathlib import Path

import pytest

from streamcoref import StreamcorefError
from streamcoref.store import Store, job
from tests import toy_resolver
from tests.cli.toy_resolving import rows
from tests.waiting import PATIENCE

SERVER = multiprocessing.get_context("forkserver")
SERVER.set_forkserver_preload(["tests.toy_resolver"])
TEXT = toy_resolver.plain_text(4, 400)
OTHER = toy_resolver.plain_text(5, 300)


def write(book: Path, store: Path, go_on: Path, said: Path) -> None:
    """Read a text into a store, saving always, but wait in the midst of it until there is a file `go_on`."""
    from streamcoref.formats import files

    job.SAVE_SECONDS = 0.0
    files.CHUNK_BYTES = 200
    parts = 0

    def wait(_: object) -> None:
        nonlocal parts
        parts += 1
        while parts == 4 and not go_on.exists():
            time.sleep(0.01)

    try:
        toy_resolver.resolver().resolve_file(book, store, on_progress=wait).close()
        said.write_text("complete")
    except StreamcorefError as error:
        said.write_text(str(error))


class Writer:
    """A process that writes, and waits."""

    def __init__(self, folder: Path) -> None:
        self.book, self.store = folder / "book.txt", folder / "book.sqlite"
        self.book.write_text(TEXT)
        self._go_on, self._said = folder / "go_on", folder / "said"
        self.process: BaseProcess = SERVER.Process(
            target=write, args=(self.book, self.store, self._go_on, self._said), daemon=True
        )
        self.process.start()
        wait_until(lambda: bytes_read(self.store) >= 400)

    def end(self) -> str:
        self._go_on.touch()
        self.process.join(PATIENCE)
        assert not self.process.is_alive()
        return self._said.read_text()


def wait_until(done: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end
        time.sleep(0.01)


def bytes_read(store: Path) -> int:
    try:
        with closing(sqlite3.connect(f"file:{store}?mode=ro", uri=True)) as connection:
            return int(connection.execute("SELECT bytes_read FROM input").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    return Writer(tmp_path)


@pytest.fixture
def other(tmp_path: Path) -> Path:
    path = tmp_path / "other.txt"
    path.write_text(OTHER)
    return path


def plain(store: Path) -> object:
    found = rows(store)
    return found["entities"], found["mentions"]


def test_a_running_writer_keeps_its_store(writer: Writer, other: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.sqlite"
    link.symlink_to(writer.store)
    for force in (True, False):
        for path in (writer.store, link):
            said = rf"{path.name}: another process is writing to this store \(process {writer.process.pid}\)"
            with pytest.raises(StreamcorefError, match=said):
                toy_resolver.resolver().resolve_file(other, path, force=force)
    assert bytes_read(writer.store) >= 400
    assert writer.end() == "complete"
    toy_resolver.resolver().resolve_file(writer.book, tmp_path / "whole.sqlite").close()
    assert plain(writer.store) == plain(tmp_path / "whole.sqlite")
    assert not list(tmp_path.glob("book.sqlite-*"))
    # and then it can be replaced
    toy_resolver.resolver().resolve_file(other, writer.store, force=True).close()
    toy_resolver.resolver().resolve_file(other, tmp_path / "other.sqlite").close()
    assert plain(writer.store) == plain(tmp_path / "other.sqlite")


def test_a_writer_that_was_killed_holds_nothing(writer: Writer, other: Path) -> None:
    writer.process.kill()
    writer.process.join()
    toy_resolver.resolver().resolve_file(other, writer.store, force=True).close()
    assert not list(writer.store.parent.glob("book.sqlite-*"))


def test_a_writer_whose_file_is_gone_says_so(writer: Writer) -> None:
    writer.store.unlink()
    assert "was removed or replaced while it was being written" in writer.end()


def test_and_one_whose_file_is_anothers_leaves_that_alone(writer: Writer, other: Path, tmp_path: Path) -> None:
    """As where there are no locks, or somebody takes them away: the files beside a store are the other's now."""
    toy_resolver.resolver().resolve_file(other, tmp_path / "new.sqlite").close()
    for file in tmp_path.glob("book.sqlite*"):
        file.unlink()
    (tmp_path / "new.sqlite").rename(writer.store)
    reader = sqlite3.connect(writer.store)
    reader.execute("PRAGMA journal_mode = WAL")
    reader.execute("UPDATE input SET path = 'changed'")
    reader.commit()
    beside = sorted(path.name for path in tmp_path.glob("book.sqlite-*"))
    assert "book.sqlite-wal" in beside
    assert "was removed or replaced while it was being written" in writer.end()
    assert sorted(path.name for path in tmp_path.glob("book.sqlite-*")) == beside
    assert reader.execute("SELECT path FROM input").fetchone() == ("changed",)
    assert reader.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    reader.close()


def test_who_reads_while_a_store_is_replaced_goes_on(other: Path, tmp_path: Path) -> None:
    book, path = tmp_path / "book.txt", tmp_path / "book.sqlite"
    book.write_text(TEXT)
    toy_resolver.resolver().resolve_file(book, path).close()
    before = path.stat()
    with Store.open(path) as reader:
        first = reader.entities()
        toy_resolver.resolver().resolve_file(other, path, force=True).close()
        assert reader.entities() != first
    assert os.path.samestat(before, path.stat())  # replaced inside SQLite, not beside it
