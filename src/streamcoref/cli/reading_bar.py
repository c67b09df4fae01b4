"""The progress bar of a text being read: words a second, entities alive, memory. Only on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic

from streamcoref.cli.process_memory import resident_bytes

# characters fed, words read, entities alive
Report = Callable[[int, int, int], None]


@contextmanager
def reading_bar(name: str, characters: int | None) -> Iterator[Report]:
    """Show a bar until the block ends; `characters` is the length of the text, if it is known."""
    if not sys.stderr.isatty():
        yield lambda _characters, _words, _alive: None
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
        task = bar.add_task(name, total=characters, figures="")
        began: tuple[float, int] | None = None

        def report(fed: int, words: int, alive: int) -> None:
            nonlocal began
            # A run that goes on begins with the words of the runs before it, which are not to its credit.
            began = began or (monotonic(), words)
            seconds = monotonic() - began[0]
            speed = f"{(words - began[1]) / seconds:,.0f}" if seconds > 1 else "…"
            memory = f"{resident_bytes() / 1e6:,.0f} MB"
            figures = f"{words:,} words  {speed} words/s  {alive:,} entities alive  {memory}"
            bar.update(task, completed=fed, figures=figures)

        yield report
