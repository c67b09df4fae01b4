"""Errors that are the user's to mend: each is one sentence saying what was wrong, where, and what to do."""

from __future__ import annotations

from pathlib import Path


class StreamcorefError(Exception):
    """Base of every error we raise on purpose. The command line prints it and exits with status 2."""


class InputError(StreamcorefError):
    """Something wrong in a file: `path:line: message`."""

    def __init__(self, message: str, path: str | Path | None = None, line: int | None = None) -> None:
        place = "" if path is None else f"{path}: " if line is None else f"{path}:{line}: "
        super().__init__(f"{place}{message}")
        self.message, self.path, self.line = message, path, line
