"""`streamcoref corpus`: look at corpora and convert them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from streamcoref.cli.corpus_counts import CorpusCounts
    from streamcoref.document import Document
    from streamcoref.formats.base import Writer

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
    from streamcoref.cli.corpus_counts import CorpusCounts

    rows = [(path, _count(path, format_name)) for path in paths]
    total = CorpusCounts()
    for _, counts in rows:
        total.merge(counts)
    if as_json:
        import json

        files = [{"path": str(path)} | counts.to_dict() for path, counts in rows]
        typer.echo(json.dumps({"files": files, "total": total.to_dict()}, ensure_ascii=False))
    else:
        _print_table(rows, total)


@app.command()
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

    Formats to read and write: jsonlines, pieces, litbank, conll, conllu. To
    read only: text. To write only: json, csv, html. What is read is known by
    its content and name. Files whose names end in .gz are packed, and - is
    standard input or output. Documents pass one by one, so files may be
    larger than memory. OUT appears complete or not at all.
    """
    from streamcoref.formats import write_with
    from streamcoref.formats.files import check_output

    name = to or _format_of(target)
    check_output(target, force=force)
    writer = _writer(name, tokenizer, segment_length)
    documents = (document for path in sources for document in _read(path, source))
    count = write_with(writer, documents, target, force=force)
    typer.echo(f"{target}: {count:,} {'document' if count == 1 else 'documents'} as {name}", err=True)


def _count(path: Path, format_name: str | None) -> CorpusCounts:
    from streamcoref.cli.corpus_counts import CorpusCounts
    from streamcoref.formats import read_raw_documents
    from streamcoref.formats.raw import from_raw

    counts = CorpusCounts()
    for file in _files(path):
        # Counted as published: a Document merges clusters that share a mention. It is made all the same, as a check.
        for raw in read_raw_documents(file, format_name):
            from_raw(raw, file)
            counts.add(raw)
    return counts


def _read(path: Path, format_name: str | None) -> Iterator[Document]:
    from streamcoref.formats import read_documents

    for file in _files(path):
        yield from read_documents(file, format_name)


def _files(path: Path) -> list[Path]:
    """The files that a corpus stands for; anything else, such as standard input or a pipe, is read as it is."""
    from streamcoref.corpora import LIST_SUFFIX, corpus_files

    return corpus_files(path) if path.is_dir() or path.suffix == LIST_SUFFIX else [path]


def _format_of(target: Path) -> str:
    from streamcoref.formats import FORMATS
    from streamcoref.formats.files import plain_name

    suffix = Path(plain_name(target)).suffix
    found = [known.name for known in FORMATS.values() if known.suffix == suffix and known.name != "pieces"]
    if len(found) != 1:
        choice = " or ".join(f"--to {name}" for name in found) if found else "--to FORMAT"
        raise StreamcorefError(f"{target}: the name does not tell the format to write; add {choice}")
    return found[0]


def _writer(name: str, tokenizer: str | None, segment_length: int | None) -> Writer:
    from streamcoref.formats import FORMATS, piece_jsonlines

    if name not in FORMATS:
        raise StreamcorefError(f"there is no format {name!r}; known formats: {', '.join(FORMATS)}")
    if name == piece_jsonlines.FORMAT.name:
        if tokenizer is None:
            raise StreamcorefError("pieces are made by a tokenizer; add --tokenizer with its folder or public name")
        return piece_jsonlines.writer(_load_tokenizer(tokenizer), segment_length or _SEGMENT_LENGTH)
    if tokenizer is not None or segment_length is not None:
        raise StreamcorefError(f"--tokenizer and --segment-length are for --to pieces only, not for {name}")
    writer = FORMATS[name].write
    if writer is None:
        names = ", ".join(known.name for known in FORMATS.values() if known.write or known.name == "pieces")
        raise StreamcorefError(f"the format {name} can only be read; formats to write: {names}")
    return writer


def _load_tokenizer(name: str) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(name)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0]
        raise StreamcorefError(f"--tokenizer {name}: no tokenizer could be loaded ({reason})") from None


def _print_table(rows: list[tuple[Path, CorpusCounts]], total: CorpusCounts) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

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
        table.add_row(str(path), *_cells(counts))
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
