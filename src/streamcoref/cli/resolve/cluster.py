"""`streamcoref resolve --ray ADDRESS`: a folder of texts by a whole cluster, or stores whose texts it encodes."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from streamcoref._wording import counted, escaped
from streamcoref.cli.remedies import sentence
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats.sqlite import FORMAT as STORE

if TYPE_CHECKING:
    from streamcoref.cli.resolve.job import ResolveJob
    from streamcoref.integrations.ray_folder import FolderProgress, FolderReport

FORMATS = ("jsonlines", "parquet")
_SHOWN = 20  # errors; a file has them all


def makes_stores(output: str | None, format_name: str | None) -> bool:
    """Whether a command with --ray makes stores, and not a folder of parts; raises if it is neither."""
    if format_name == STORE.name or (output is not None and Path(output).suffix in STORE.endings):
        return True
    if output is None or not (_is_address(output) or output.endswith("/") or Path(output).is_dir()):
        raise StreamcorefError("--ray writes a folder, as in -o answers/, or a store, as in -o book.sqlite")
    if format_name not in (None, *FORMATS):
        raise StreamcorefError(
            f"--ray writes {', '.join(FORMATS)} or sqlite, not {format_name}; convert: streamcoref corpus convert"
        )
    return False


def on_cluster(job: ResolveJob, address: str) -> ResolveJob:
    """The same job with texts that the cluster encodes."""
    from streamcoref.integrations import ray_cluster, ray_encoders

    return replace(job, resolver=ray_encoders.on_cluster(job.resolver, ray_cluster.connect(address)))


def folder_of_texts(given: Sequence[Path]) -> str:
    """The folder that is to be resolved, here or elsewhere."""
    if len(given) != 1:
        raise StreamcorefError("--ray resolves one folder of texts into another; name one")
    source = _address(given[0])
    if not _is_address(source) and not Path(source).is_dir():
        what = "this is a file; name its folder" if Path(source).exists() else "no such folder"
        raise InputError(what, source)
    return source


def resolve_folder(
    source: str, output: str, job: ResolveJob, address: str, format_name: str | None, source_format: str | None
) -> FolderReport:
    """A folder to a folder; what was done is said at the end, and what went wrong with single files."""
    from streamcoref.integrations.ray_folder import resolve_folder
    from streamcoref.integrations.ray_target import ERRORS

    _quiet()
    with _bar(source) as show:
        report = resolve_folder(
            source,
            output,
            format="parquet" if format_name == "parquet" else "jsonlines",
            model=job.resolver,
            address=address,
            read_as=source_format,
            encoding=job.encoding,
            errors=job.errors,
            force=job.force,
            on_progress=show,
            **job.options,
        )
    for error in list(report.errors.values())[:_SHOWN]:
        typer.echo(f"streamcoref: {sentence(error)}", err=True)
    if len(report.errors) > _SHOWN:
        typer.echo(f"streamcoref: and {len(report.errors) - _SHOWN} more, in {ERRORS}", err=True)
    for key in report.foreign[:_SHOWN]:
        typer.echo(f"streamcoref: {escaped(key)}: this does not look like English", err=True)
    before = f", {counted(report.before, 'file', 'files')} done before" if report.before else ""
    said = f"{counted(report.texts, 'text', 'texts')}, {counted(report.words, 'word', 'words')}{before}"
    typer.echo(f"{escaped(output)}: {'not complete' if report.errors else 'complete'}: {said}", err=True)
    return report


def _quiet() -> None:
    """Let Ray Data say on the terminal what goes wrong, and no more; its own log has the rest."""
    from streamcoref.integrations.extras import import_extra

    import_extra("pyarrow", "ray")
    import_extra("ray", "ray")
    import_extra("ray.data", "ray")
    for handler in logging.getLogger("ray.data").handlers:
        if not isinstance(handler, logging.FileHandler):
            handler.setLevel(logging.ERROR)


def _is_address(name: str) -> bool:
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", name) is not None


def _address(given: Path) -> str:
    """What was given: a path makes one slash of the two in s3://bucket."""
    return re.sub(r"^([A-Za-z][A-Za-z0-9+.-]+):/(?=[^/])", r"\1://", str(given))


@contextmanager
def _bar(name: str) -> Iterator[Callable[[FolderProgress], None] | None]:
    """How far a folder has been resolved, on a terminal."""
    if not sys.stderr.isatty():
        yield None
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
        task = bar.add_task(name, total=None, figures="")

        def show(progress: FolderProgress) -> None:
            speed = bar.tasks[0].elapsed or 0.0
            pace = f"{progress.words / speed:,.0f}" if speed > 1 else "…"
            errors = f"  {counted(progress.errors, 'error', 'errors')}" if progress.errors else ""
            figures = f"{progress.files:,} of {progress.files_in_all:,} files  {pace} words/s{errors}"
            bar.update(task, completed=progress.bytes, total=progress.bytes_in_all, figures=figures)

        yield show
