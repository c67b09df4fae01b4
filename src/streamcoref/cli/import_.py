"""`streamcoref import`: a published checkpoint as a model of ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from streamcoref.convert import Imported


def import_(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="SOURCE",
            help="A folder with model.max.ckpt.* (TensorFlow), a checkpoint.bin or torch_scorer_vars.bin, or the "
            "folder of a Hugging Face encoder.",
            show_default=False,
        ),
    ],
    out: Annotated[Path, typer.Argument(metavar="OUT", help="The folder to write.", show_default=False)],
    kind: Annotated[
        Literal["baseline", "incremental", "encoder"] | None,
        typer.Option(
            help="What to make. By default the baseline of a TensorFlow checkpoint, an incremental model of the "
            "PyTorch files, a plain encoder of an encoder.",
            show_default=False,
        ),
    ] = None,
    preset: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="For an encoder: the preset of an untrained model around it.", show_default=False
        ),
    ] = None,
    encoder: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="A Hugging Face folder for what SOURCE lacks: the encoder's config, weights, tokenizer.",
            show_default=False,
        ),
    ] = None,
    tokenizer: Annotated[
        Path | None,
        typer.Option(
            metavar="PATH", help="A vocab.txt, or a folder with one or with a tokenizer.json.", show_default=False
        ),
    ] = None,
    max_pieces: Annotated[
        int | None,
        typer.Option(
            min=8, help="Pieces a segment; by default as the published model of that name.", show_default=False
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Write into a folder that is not empty.")] = False,
) -> None:
    """Convert a published checkpoint. Nothing that is pickled in a file is run.

    Every tensor is taken, or known and dropped, or an error.
    """
    from streamcoref.convert import import_checkpoint

    imported = import_checkpoint(source, out, kind, preset, encoder, tokenizer, max_pieces, force)
    _print(imported)
    typer.echo(_summary(imported, out))


def _print(imported: Imported) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("part", no_wrap=True)
    table.add_column("", no_wrap=True)
    table.add_column("tensors", justify="right", no_wrap=True)
    table.add_column("parameters", justify="right", no_wrap=True)
    for what, counts in (("taken", imported.taken), ("new", imported.new), ("dropped", imported.dropped)):
        for part, count in counts.items():
            table.add_row(part, what, f"{count.tensors:,}", f"{count.parameters:,}")
    Console().print(table)


def _summary(imported: Imported, out: Path) -> str:
    if imported.kind == "encoder":
        return f"{out}: an encoder, from {imported.title}"
    article = "an" if imported.kind == "incremental" else "a"
    return (
        f"{out}: {article} {imported.kind} model, from {imported.title}; "
        f"settings of {imported.preset}, segments of {imported.max_pieces} pieces"
    )
