"""`streamcoref corpus`: look at corpora and convert them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamcoref._wording import counted, escaped
from streamcoref.cli.defusing import defusing_writer
from streamcoref.cli.format_help import HelpWithFormats
from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from streamcoref.corpora import CorpusCounts
    from streamcoref.formats import Format, Writer

app = typer.Typer(help="Look at corpora and convert them from format to format.", no_args_is_help=True)

_SEGMENT_LENGTH = 512


@app.command()
def info(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILES",
            help="Files, folders, or lists *.ids of document names; those of one are counted together.",
            show_default=False,
        ),
    ],
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format", metavar="FORMAT", help="Format of the files, if not to be recognised.", show_default=False
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")] = False,
) -> None:
    """Count documents, words, mentions, clusters, speakers and genres.

    There is a row for each file or folder, and a total. "longest" is the
    longest document in words, "singletons" are clusters of one mention, and
    "2+ speakers" counts documents in which more than one person speaks. A
    span that a cluster lists twice counts once.
    """
    from streamcoref.corpora import CorpusCounts, count_corpus

    rows = [(path, count_corpus(path, format_name)) for path in paths]
    total = CorpusCounts()
    for _, counts in rows:
        total.merge(counts)
    if as_json:
        import json

        files = [{"path": str(path)} | counts.to_dict() for path, counts in rows]
        typer.echo(json.dumps({"files": files, "total": total.to_dict()}, ensure_ascii=False))
    else:
        _print_table(rows, total)


@app.command(cls=HelpWithFormats)
def convert(
    sources: Annotated[
        list[Path],
        typer.Argument(metavar="IN", help="Files, folders, or lists *.ids of document names.", show_default=False),
    ],
    target: Annotated[Path, typer.Argument(metavar="OUT", help="The file to write.", show_default=False)],
    to: Annotated[
        str | None,
        typer.Option(
            "--to", metavar="FORMAT", help="Format to write; without it, OUT's name tells.", show_default=False
        ),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option("--from", metavar="FORMAT", help="Format of IN, if not to be recognised.", show_default=False),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUT if it exists.")] = False,
    defuse: Annotated[
        bool, typer.Option("--defuse", help="For CSV: cells that a spreadsheet would run as formulas begin with a '.")
    ] = False,
    tokenizer: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="For --to pieces: a tokenizer's folder or its public name.", show_default=False
        ),
    ] = None,
    segment_length: Annotated[
        int | None,
        typer.Option(metavar="N", help=f"For --to pieces: most pieces a segment has; {_SEGMENT_LENGTH} if not given."),
    ] = None,
) -> None:
    """Convert corpora: read IN, write OUT.

    Formats to read and write: {read_and_write}.
    To read only: {read_only}.
    To write only: {write_only}.

    What is read is known by its content and name. Files whose names end in
    .gz are packed, and - is standard input or output. Documents pass one by
    one, so files may be larger than memory. OUT appears complete or not at
    all.
    """
    from streamcoref.corpora import files_to_read
    from streamcoref.formats import format_named, read_documents, write_with
    from streamcoref.formats.files import check_output

    found = format_named(to) if to else _format_of(target)
    check_output(target, force=force)
    writer = _writer(found, tokenizer, segment_length)
    writer = defusing_writer(found) if defuse else writer
    files = (file for path in sources for file in files_to_read(path))
    documents = (document for file in files for document in read_documents(file, source))
    count = write_with(writer, documents, target, force=force)
    typer.echo(f"{escaped(target)}: {counted(count, 'document', 'documents')} as {found.name}", err=True)


def _format_of(target: Path) -> Format:
    from streamcoref.formats import format_of_output

    try:
        return format_of_output(target)
    except StreamcorefError as error:
        raise StreamcorefError(f"{error.problem}; add --to FORMAT") from None


def _writer(found: Format, tokenizer: str | None, segment_length: int | None) -> Writer:
    from streamcoref.formats import piece_writer, writer_of

    if found.needs_tokenizer:
        if tokenizer is None:
            raise StreamcorefError("pieces are made by a tokenizer; add --tokenizer with its folder or public name")
        return piece_writer(_load_tokenizer(tokenizer), segment_length or _SEGMENT_LENGTH)
    if tokenizer is not None or segment_length is not None:
        raise StreamcorefError(f"--tokenizer and --segment-length are for --to pieces only, not for {found.name}")
    if found.write_event or found.is_store:
        raise StreamcorefError(f"{found.name} is written while a text is read: by streamcoref resolve, not by convert")
    return writer_of(found)


def _load_tokenizer(name: str) -> PreTrainedTokenizerBase:
    from streamcoref.model.tokenizer_files import load_auto_tokenizer

    try:
        return load_auto_tokenizer(name)
    except StreamcorefError as error:
        raise StreamcorefError(f"--tokenizer {name}: no tokenizer could be loaded ({error})") from None


def _print_table(rows: list[tuple[Path, CorpusCounts]], total: CorpusCounts) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = 1000  # a file has no edge to wrap at
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("file", overflow="fold")
    for column in "documents words longest mentions clusters singletons".split():
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("2+ speakers", justify="right", no_wrap=True)
    table.add_column("genres", justify="right", no_wrap=True)
    for path, counts in rows:
        table.add_row(Text(escaped(path)), *_cells(counts))
    if len(rows) > 1:
        table.add_section()
        table.add_row("total", *_cells(total), style="bold")
    console.print(table)
    if total.genres:
        names = ", ".join(f"{genre} {number:,}" for genre, number in sorted(total.genres.items()))
        console.print(f"documents by genre: {names}", soft_wrap=True, markup=False)


def _cells(counts: CorpusCounts) -> list[str]:
    numbers = (
        counts.documents,
        counts.words,
        counts.longest,
        counts.mentions,
        counts.clusters,
        counts.singletons,
        counts.multi_speaker_documents,
        len(counts.genres),
    )
    return [f"{number:,}" for number in numbers]
