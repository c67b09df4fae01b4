"""`streamcoref experiment`: the paper's tables and figures on any corpus."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamcoref.cli.settings import check_settings

if TYPE_CHECKING:
    from streamcoref.experiments.base import Progress as CellProgress
    from streamcoref.experiments.results_file import Report
    from streamcoref.experiments.run import Begin


class Name(StrEnum):
    """What can be run; `experiments/catalogue.py` has the same names."""

    main = "main"
    length = "length"
    memory = "memory"
    clusters = "clusters"
    segments = "segments"
    eviction = "eviction"
    ablation = "ablation"
    books = "books"


def experiment(
    name: Annotated[Name, typer.Argument(metavar="NAME", help=f"One of {', '.join(n.value for n in Name)}.")],
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="Its config, such as recipes/experiments/main.toml.")
    ],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FOLDER", help="Where its results go.")],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a value: corpora.0.path=dev.ids. May be repeated."),
    ] = None,
) -> None:
    """Run an experiment of the paper on corpora and models of your own.

    Writes results.json, a page in Markdown, and plots as PNG and as
    interactive HTML. Each result is saved as soon as it is known: started
    again, a stopped or killed experiment goes on where it was. Needs the
    extra `plots`.
    """
    from streamcoref.experiments.run import run_experiment

    try:
        with _bars() as begin:
            files = run_experiment(name.value, config, output, check_settings(settings), begin)
    except KeyboardInterrupt:
        typer.echo(f"stopped; what was found is in {output}, and the same command goes on from there", err=True)
        raise typer.Exit(130) from None
    for file in files:
        typer.echo(str(file))


@contextmanager
def _bars() -> Iterator[Begin]:
    """Two bars on a terminal, nothing elsewhere: all cells, and the documents or steps of the present one."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        whole = progress.add_task("cells", total=None)
        part = progress.add_task("", total=None)

        def begin(count: int) -> Report:
            progress.update(whole, total=count)

            def report(number: int, cell: str) -> CellProgress:
                progress.update(whole, completed=number)
                progress.reset(part, description=cell, total=None)
                return lambda done, of: progress.update(part, completed=done, total=of)

            return report

        yield begin
