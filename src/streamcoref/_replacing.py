"""Files that are there as a whole or not at all: written beside their place, and moved into it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(target: Path, part: Path | None = None) -> Iterator[Path]:
    """Where to write what is to take the target's place; after an error, SIGTERM or Ctrl-C it is gone again.

    Without a `part` of its own it has one name, so that what a killed process left is written over by the next.
    """
    part = target.with_name(f"{target.name}.part") if part is None else part
    try:
        yield part
        part.replace(target)
    finally:
        part.unlink(missing_ok=True)
