"""The progress bar of a text being read: words a second, entities alive, memory. Only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from streamcoref._process_memory import resident_bytes

if TYPE_CHECKING:
    from streamcoref.progress import ReadingProgress


@contextmanager
def reading_bar(name: str, length: int | None) -> Iterator[Callable[[ReadingProgress], None]]:
    """Show a bar until the block ends; `length` is that of the text, if it is known before the first progress."""
    if not sys.stderr.isatty():
        yield lambda _progress: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TextColumn("{task.fields[figures]}"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(name, total=length, figures="")
        began: tuple[float, int] | None = None

        def show(progress: ReadingProgress) -> None:
            nonlocal began
            words = progress.words
            # A run that goes on begins with the words of the runs before it, which are not to its credit.
            began = began or (monotonic(), words)
            seconds = monotonic() - began[0]
            speed = f"{(words - began[1]) / seconds:,.0f}" if seconds > 1 else "…"
            memory = f"{resident_bytes() / 1e6:,.0f} MB"
            figures = f"{words:,} words  {speed} words/s  {progress.entities:,} entities alive  {memory}"
            bar.update(task, completed=progress.characters, total=progress.characters_in_all or length, figures=figures)

        yield show
