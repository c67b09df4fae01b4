"""`streamcoref resolve`: texts in, entities out."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from streamcoref.cli.resolve_files import Input, Target
    from streamcoref.cli.resolve_job import Job

_SOME_FAILED, _ALL_FAILED, _STOPPED = 1, 2, 130


def resolve(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILES",
            help="Texts, or folders with .txt files; - or nothing is standard input.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        str | None,
        typer.Option("-o", "--output", metavar="PATH", help="File to write, or a folder with a file for each text."),
    ] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="text, json, jsonl, jsonlines, csv, conll, conllu, html, resolved or sqlite; else PATH's name tells.",
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Print what happens, line by line, while the text comes in.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(metavar="MODEL", help="A model's folder or hub name; else the bundled one.", show_default=False),
    ] = None,
    no_evict: Annotated[bool, typer.Option("--no-evict", help="Keep all entities of a text alive.")] = False,
    evict: Annotated[
        str | None,
        typer.Option(metavar="POLICY", help="Another eviction policy, by its name and options, or as JSON."),
    ] = None,
    singletons: Annotated[
        bool, typer.Option("--singletons", help="Also answer with entities that are mentioned once.")
    ] = False,
    min_score: Annotated[
        float, typer.Option(min=0, max=1, metavar="P", help="Leave out mentions of a lower probability.")
    ] = 0.0,
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME", help="Annotation scheme to follow; else the model's first.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads of the CPU to use.")] = None,
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of the texts.")] = "utf-8",
    errors: Annotated[
        str, typer.Option(metavar="HOW", help="What to do with bytes that are no characters: strict, replace, ignore.")
    ] = "strict",
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist; start a store over.")] = False,
) -> None:
    """Find the entities of texts and where they are mentioned.

    Without -o the entities are printed, the largest first. With -o
    book.sqlite they go to a store, in constant memory: killed at any moment,
    the same command goes on where it was, and "streamcoref entities
    book.sqlite" shows what is there. jsonl, one event a line, needs no more
    memory for a long text either; the other formats hold one text at a time.

    Several texts go into one file, or each into its own in a folder (PATH
    exists as one or ends in /). One that cannot be read is reported, the
    others are done, and the status is 1.
    """
    from streamcoref.cli.resolve_files import find_inputs, settle_target
    from streamcoref.cli.resolve_store import StoppedError
    from streamcoref.cli.text_input import check_encoding

    if no_evict and evict is not None:
        raise StreamcorefError("--no-evict and --evict contradict each other; give one of them")
    encoding = check_encoding(encoding, errors)
    # What a user may have got wrong comes first, the long work last.
    given = _given(files)
    if live:
        _check_live(given, output, format_name)
    inputs, wrong = find_inputs(given, encoding, errors)
    failures = _Failures(alone=len(inputs) + len(wrong) == 1)
    for error in wrong:
        failures.add(error)
    if not inputs:
        raise typer.Exit(_ALL_FAILED)
    target = settle_target(output, format_name, inputs, force=force)
    options = {
        "singletons": singletons,
        "min_score": min_score,
        "scheme": scheme,
        "evict": "none" if no_evict else evict,
    }
    try:
        job = _load(model, threads, options, encoding, errors, force)
        _check_options(job, as_stream=live or target.format in ("jsonl", "sqlite"))
        if live:
            from streamcoref.cli.resolve_live import resolve_live

            resolve_live(inputs[0], job, as_json=format_name == "jsonl")
        else:
            _run(inputs, target, job, failures)
    except StoppedError as stopped:
        typer.echo(f"streamcoref: {stopped}", err=True)
        raise typer.Exit(_STOPPED) from None
    except KeyboardInterrupt:
        typer.echo(f"streamcoref: {_stopped(target)}", err=True)
        raise typer.Exit(_STOPPED) from None
    if failures.count:
        raise typer.Exit(_SOME_FAILED if failures.count < len(inputs) + len(wrong) else _ALL_FAILED)


class _Failures:
    """Errors of single texts: reported and counted, or raised if there is only one text."""

    def __init__(self, *, alone: bool) -> None:
        self.alone, self.count = alone, 0

    def add(self, error: StreamcorefError) -> None:
        if self.alone:
            raise error
        self.count += 1
        typer.echo(f"streamcoref: {error}", err=True)


def _given(files: list[Path] | None) -> list[Path]:
    from streamcoref.formats.files import STANDARD

    if files:
        return files
    if sys.stdin.isatty():
        raise StreamcorefError("no text to resolve; name files, or - to type one")
    return [STANDARD]


def _check_live(given: Sequence[Path], output: str | None, format_name: str | None) -> None:
    if output is not None:
        raise StreamcorefError("--live prints to standard output; give it without -o")
    if format_name not in (None, "text", "jsonl"):
        raise StreamcorefError(f"--live prints lines: --format text or jsonl, not {format_name}")
    if len(given) != 1 or given[0].is_dir():
        raise StreamcorefError("--live follows one text; give one, or none for standard input")


def _load(
    model: str | None, threads: int | None, options: dict[str, Any], encoding: str, errors: str, force: bool
) -> Job:
    from streamcoref.cli.process_memory import share_one_heap
    from streamcoref.cli.resolve_job import Job
    from streamcoref.resolver import load

    share_one_heap()
    return Job(model or "default", load(model, device="auto", threads=threads), options, encoding, errors, force)


def _check_options(job: Job, *, as_stream: bool) -> None:
    """Raise if this model cannot do what is asked for, before any text is read."""
    if as_stream:
        job.resolver.stream(**job.options)
    else:
        job.resolver.resolve("", **job.options)


def _run(inputs: Sequence[Input], target: Target, job: Job, failures: _Failures) -> None:
    from streamcoref.cli.resolve_documents import write_answers
    from streamcoref.cli.resolve_store import StoppedError, resolve_to_store

    if not target.is_folder and target.format != "sqlite":
        write_answers(inputs, target.path, target.format, job, failures.add)
        return
    for found in inputs:
        path = target.file_for(found.key)
        try:
            if target.format == "sqlite":
                typer.echo(resolve_to_store(found, path, job), err=True)
            else:
                write_answers([found], path, target.format, job, failures.add)
        except StoppedError:
            raise
        except StreamcorefError as error:
            failures.add(error)


def _stopped(target: Target) -> str:
    if target.format == "sqlite":
        return "stopped; give the same command again to go on from what was saved last"
    return "stopped before the end; the files that were complete are kept"
