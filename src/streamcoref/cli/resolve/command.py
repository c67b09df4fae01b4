"""The command `streamcoref resolve`: what may be given, and in which order things are done."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamcoref.cli.remedies import sentence
from streamcoref.cli.settings import PrecisionOption
from streamcoref.errors import StoppedError, StreamcorefError

if TYPE_CHECKING:
    from streamcoref._precisions import PrecisionName
    from streamcoref.cli.resolve.inputs import Text, TextFile
    from streamcoref.cli.resolve.job import ResolveJob
    from streamcoref.cli.resolve.targets import Target
    from streamcoref.formats.base import EventWriter

_SOME_FAILED, _ALL_FAILED, _STOPPED = 1, 2, 130


def resolve(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILES",
            help="Files, or folders with .txt files; - or nothing is standard input.",
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
            help="Format to write, such as json, csv, html, conllu, events; else PATH's name tells.",
        ),
    ] = None,
    source_format: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="FORMAT", help="Format of FILES, such as text or conllu, if not to be recognised."
        ),
    ] = None,
    live: Annotated[
        bool, typer.Option("--live", help="Print what happens, line by line, while the text comes in.")
    ] = False,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL", help="A model's name, folder or hub name; else the bundled one.", show_default=False
        ),
    ] = None,
    code: Annotated[
        list[Path] | None,
        typer.Option(metavar="FILE", help="Python file with parts that the model names.", show_default=False),
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
    merge: Annotated[
        int | None,
        typer.Option(
            min=0, metavar="N", help="Entities become one that have been called by one person's names N times each."
        ),
    ] = None,
    revive: Annotated[
        int | None,
        typer.Option(min=0, metavar="N", help="Places for people out of memory, who come back when they are named."),
    ] = None,
    passes: Annotated[
        int, typer.Option(min=1, max=2, metavar="N", help="2: read a text twice, first to learn who is in it.")
    ] = 1,
    scheme: Annotated[
        str | None, typer.Option(metavar="NAME", help="Annotation scheme to follow; else the model's first.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, metavar="N", help="Threads of the CPU to use.")] = None,
    precision: PrecisionOption = "float32",
    encoding: Annotated[str, typer.Option(metavar="NAME", help="Encoding of the texts.")] = "utf-8",
    errors: Annotated[
        str, typer.Option(metavar="HOW", help="What to do with bytes that are no characters: strict, replace, ignore.")
    ] = "strict",
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            metavar="ADDRESS",
            help="Ray cluster that does the work: auto, HOST:PORT, or local; -o is a folder, or a store.",
        ),
    ] = None,
    defuse: Annotated[
        bool, typer.Option("--defuse", help="For CSV: cells that a spreadsheet would run as formulas begin with a '.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace files that exist; start a store over.")] = False,
) -> None:
    """Find the entities of English texts and where they are mentioned.

    Files are plain text, books (.epub, .html, .md, .docx, .pdf), whose text is
    taken out and kept with the answer, or documents in another format that we
    read, such as CoNLL-U: these are read by their own words, sentences and
    speakers.

    Without -o the entities are printed, the largest first. With -o
    book.sqlite they go to a store, in constant memory: killed at any moment,
    the same command goes on where it was, and "streamcoref entities
    book.sqlite" shows what is there. The format events, one event a line,
    needs no more memory for a long text either; the other formats hold one
    text at a time.

    Several texts go into one file, or each into its own in a folder (PATH
    exists as one or ends in /). One that cannot be read is reported, the
    others are done, and the status is 1.

    With --ray a cluster resolves a folder of any size, or one at s3://, into
    a folder of parts, --format jsonlines or parquet; a store is encoded by
    it. Given again after a stop, the command goes on with what is not done.
    """
    from streamcoref.cli.resolve.inputs import find_files, format_to_read
    from streamcoref.cli.resolve.targets import settle_target
    from streamcoref.text.decoding import check_encoding

    if no_evict and evict is not None:
        raise StreamcorefError("--no-evict and --evict contradict each other; give one of them")
    encoding = check_encoding(encoding, errors)
    # What a user may have got wrong comes first, the long work last.
    given = _given(files)
    if ray is not None and live:
        raise StreamcorefError("--live follows a text on this machine; give it without --ray")
    line = _live_line(given, output, format_name) if live else None
    options = {
        "singletons": singletons,
        "min_score": min_score,
        "scheme": scheme,
        "evict": "none" if no_evict else evict,
        "merge": merge,
        "revive": revive,
        "passes": passes,
    }
    if ray is not None:
        from streamcoref.cli.resolve.cluster import folder_of_texts, makes_stores

        if not makes_stores(output, format_name):
            assert output is not None
            source = folder_of_texts(given)
            job = _load(model, code or [], threads, precision, options, encoding, errors, force)
            _resolve_folder(source, output, job, ray, format_name, source_format)
            return
    found, wrong = find_files(given, format_to_read(source_format), encoding, errors)
    failures = _Failures(sum(file.count for file in found) + len(wrong))
    for error in wrong:
        failures.add(error)
    if not found:
        raise typer.Exit(_ALL_FAILED)
    target = settle_target(output, format_name, found, defuse=defuse, force=force)
    try:
        job = _load(model, code or [], threads, precision, options, encoding, errors, force)
        if ray is not None:
            from streamcoref.cli.resolve.cluster import on_cluster

            job = on_cluster(job, ray)
        _check_options(job, as_stream=live or not target.format.write, is_store=target.format.is_store)
        if line is not None:
            from streamcoref.cli.language_notes import noting_language
            from streamcoref.cli.resolve.live import resolve_live

            with noting_language(found[0].key):
                resolve_live(found[0], job, line)
        else:
            _run(found, target, job, failures)
    except StoppedError as stopped:
        typer.echo(f"streamcoref: {sentence(stopped)}", err=True)
        raise typer.Exit(_STOPPED) from None
    except KeyboardInterrupt:
        typer.echo(f"streamcoref: {_stopped(target)}", err=True)
        raise typer.Exit(_STOPPED) from None
    if failures.count:
        raise typer.Exit(_SOME_FAILED if failures.count < failures.texts else _ALL_FAILED)


def _resolve_folder(
    source: str, output: str, job: ResolveJob, ray: str, format_name: str | None, source_format: str | None
) -> None:
    from streamcoref.cli.resolve.cluster import resolve_folder

    try:
        report = resolve_folder(source, output, job, ray, format_name, source_format)
    except KeyboardInterrupt:
        typer.echo("streamcoref: stopped; give the same command again to go on with what is not done", err=True)
        raise typer.Exit(_STOPPED) from None
    if report.errors:
        raise typer.Exit(_SOME_FAILED if report.files + report.before else _ALL_FAILED)


class _Failures:
    """Errors of single texts: reported and counted, or raised if there is only one text."""

    def __init__(self, texts: int) -> None:
        self.texts, self.count = texts, 0

    def add(self, error: StreamcorefError) -> None:
        if self.texts == 1:
            raise error
        self.count += 1
        typer.echo(f"streamcoref: {sentence(error)}", err=True)


def _given(files: list[Path] | None) -> list[Path]:
    from streamcoref.formats.files import STANDARD

    if files:
        return files
    if sys.stdin.isatty():
        raise StreamcorefError("no text to resolve; name files, or - to type one")
    return [STANDARD]


def _live_line(given: Sequence[Path], output: str | None, format_name: str | None) -> EventWriter:
    """What makes the lines of --live."""
    from streamcoref.cli.resolve.targets import DEFAULT, format_to_write
    from streamcoref.formats.event_lines import readable_line

    if output is not None:
        raise StreamcorefError("--live prints to standard output; give it without -o")
    if len(given) != 1 or given[0].is_dir():
        raise StreamcorefError("--live follows one text; give one, or none for standard input")
    if format_name is None or format_name == DEFAULT:
        return lambda event, _key: readable_line(event)
    line = format_to_write(format_name).write_event
    if line is None:
        raise StreamcorefError(f"--live prints lines: --format {DEFAULT} or events, not {format_name}")
    return line


def _load(
    model: str | None,
    code: Sequence[Path],
    threads: int | None,
    precision: PrecisionName,
    options: dict[str, Any],
    encoding: str,
    errors: str,
    force: bool,
) -> ResolveJob:
    from streamcoref._process_memory import share_one_heap
    from streamcoref.cli.resolve.job import ResolveJob
    from streamcoref.model.parts import load_code
    from streamcoref.resolver import load

    share_one_heap()
    for path in code:
        load_code(path)
    resolver = load(model, device="auto", threads=threads, precision=precision)
    return ResolveJob(model or "default", resolver, options, encoding, errors, force)


def _check_options(job: ResolveJob, *, as_stream: bool, is_store: bool) -> None:
    """Raise if this model cannot do what is asked for, before any text is read."""
    if is_store:  # which may be read twice, by two streams
        job.resolver.stream(**job.options | {"passes": 1})
    elif as_stream:
        job.resolver.stream(**job.options)
    else:
        job.resolver.resolve("", **job.options)


def _run(files: Sequence[TextFile], target: Target, job: ResolveJob, failures: _Failures) -> None:
    from streamcoref.cli.resolve.documents import write_answers
    from streamcoref.cli.resolve.inputs import texts_of
    from streamcoref.cli.resolve.stores import stopping, write_only_store, write_store

    with closing(texts_of(files, job.encoding, job.errors, failures.add)) as texts:
        if not target.format.is_store:
            if target.is_folder:
                write = partial(write_answers, known=target.format, job=job, refuse=failures.add)
                _run_each(texts, target, failures, lambda text, path: write([text], path))
            else:
                write_answers(texts, target.path, target.format, job, failures.add)
            return
        with stopping() as should_stop:
            if target.is_folder:
                _run_each(texts, target, failures, partial(write_store, job=job, should_stop=should_stop))
            else:
                write_only_store(files[0], target.path, job, should_stop)


def _run_each(texts: Iterable[Text], target: Target, failures: _Failures, write: Callable[[Text, Path], None]) -> None:
    """Each text into its own file of a folder."""
    written: set[Path] = set()
    for text in texts:
        path = target.file_for(text.place)
        try:
            if path in written:  # documents of a pipe, which nobody could look at
                raise StreamcorefError(f"{path}: two documents would be written to it; give them different keys")
            written.add(path)
            write(text, path)
        except StoppedError:
            raise
        except StreamcorefError as error:
            failures.add(error)


def _stopped(target: Target) -> str:
    if target.format.is_store:
        return "stopped; give the same command again to go on from what was saved last"
    return "stopped before the end; the files that were complete are kept"
