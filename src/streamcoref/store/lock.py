"""Who writes to a store: one process at a time, for as long as it lives.

A writer holds an exclusive lock on a small file beside the store, which has its process number in it. The system lets
go of the lock when the process ends, however it ends. SQLite's own locks do not serve for this: they are held only
while it writes. Nor does a lock on the database itself: closing the file once more would undo SQLite's.
"""

from __future__ import annotations

import os
from pathlib import Path

from streamcoref.errors import StreamcorefError

try:
    import fcntl
except ImportError:  # Windows: there two writers are told apart only when the second one commits
    fcntl = None  # type: ignore[assignment]

ENDING = "-writer"


class WriterLock:
    """Held from when it is made until `release`; somebody else's is an error that names its process.

    It lies beside the file itself: links that lead there are no way around it.
    """

    def __init__(self, store: Path) -> None:
        file = store.resolve()
        self.path = file.with_name(file.name + ENDING)
        self._file: int | None = None
        try:
            while self._file is None and fcntl is not None:
                self._file = self._take(store)
        except OSError:
            raise StreamcorefError(
                f"{store}: the store cannot be opened here; is the folder there, and may you write to it?"
            ) from None

    def _take(self, store: Path) -> int | None:
        """The locked file; None if it was taken away meanwhile, by a writer that has just ended."""
        file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o666)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            number = os.read(file, 20).decode("ascii", "replace").strip()
            os.close(file)
            who = f" (process {number})" if number.isdigit() else ""
            raise StreamcorefError(
                f"{store}: another process is writing to this store{who}; let it finish first"
            ) from None
        if not is_same_file(file, self.path):
            os.close(file)
            return None
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())
        return file

    def release(self) -> None:
        if self._file is not None:
            if is_same_file(self._file, self.path):
                self.path.unlink(missing_ok=True)  # first: whoever opens it from now on makes a new one
            os.close(self._file)
            self._file = None


def is_same_file(file: int, path: Path) -> bool:
    """Whether an open file is the one that a path leads to."""
    try:
        return os.path.samestat(os.fstat(file), path.stat())
    except OSError:
        return False
