"""A progress bar for `on_progress`: in notebooks as HTML that is replaced, on terminals as the command line has it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from time import monotonic
from typing import Any

from streamcoref._bars import reading_bar
from streamcoref.progress import OnProgress, ReadingProgress

_SECONDS = 0.2  # between two pictures of a bar: each is a message to the browser


@contextmanager
def progress_bar(name: str = "reading") -> Iterator[OnProgress]:
    """Show how far a text has been read until the block ends:

        with progress_bar("book.txt") as show:
            resolver.resolve(text, on_progress=show)

    It takes no package of widgets, and where there is neither a notebook nor a terminal it shows nothing.
    """
    if in_notebook():
        bar = _NotebookBar(name)
        yield bar.show
        bar.end()
        return
    with reading_bar(name, None) as show:
        yield show


def in_notebook() -> bool:
    """Whether what is displayed is shown by a kernel's client, which is so for every kind of notebook."""
    ipython = sys.modules.get("IPython")  # if nobody has imported it, this is no notebook
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


class _NotebookBar:
    """One place in the output of a cell, whose content is replaced."""

    def __init__(self, name: str) -> None:
        from IPython.display import HTML, display

        self._html, self._name = HTML, name
        self._handle: Any = display(HTML(_bar(name, None)), display_id=True)
        self._last: ReadingProgress | None = None
        self._shown = 0.0

    def show(self, progress: ReadingProgress) -> None:
        self._last = progress
        if monotonic() - self._shown >= _SECONDS:
            self._handle.update(self._html(_bar(self._name, progress)))
            self._shown = monotonic()

    def end(self) -> None:
        """The whole bar, with the last figures; there are none if there was nothing to do, as with a complete store."""
        self._handle.update(self._html(_bar(self._name, self._last, done=True)))


def _bar(name: str, progress: ReadingProgress | None, done: bool = False) -> str:
    length, figures = "", ""
    if progress is not None:
        figures = f" {progress.words:,} words · {progress.entities:,} entities alive"
        if progress.characters_in_all:
            length = f' value="{progress.characters}" max="{progress.characters_in_all}"'
    if done:
        length = ' value="1" max="1"'
    return f"<div>{escape(name)} <progress{length}></progress>{figures}</div>"
