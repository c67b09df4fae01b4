"""Importing thousands of modules in less time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_collections() -> Iterator[None]:
    """Python's search for cycles put off: hardly anything that an import makes can be freed, and all of it is looked at
    again and again.

    torch and transformers make objects by the hundred thousand; without the search they are there a fifth sooner.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
