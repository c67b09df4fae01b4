"""`streamcoref entities` with --format or -o: a store as a table for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import typer

from streamcoref.cli.store_tables import called
from streamcoref.errors import InputError, StreamcorefError

if TYPE_CHECKING:
    from streamcoref.store import Store


def export_table(
    store: Store, format_name: str | None, output: Path | None, says: str | None, *, defuse: bool, force: bool
) -> None:
    """Write the mentions, or what is said, by all or by the entity called so, to a file or to standard output."""
    from streamcoref.formats.files import STANDARD, open_output
    from streamcoref.store import write_table

    name = format_name or _told_by(output, says)
    speaker = None if says is None else called(store, says)[0].id
    with open_output(output or STANDARD, force=force) as stream:
        try:
            write_table(store, name, stream, speaker=speaker, defuse=defuse)
        except InputError as error:  # before anything is written
            typer.echo(f"{error}: quotations are written without their words", err=True)
            write_table(store, name, stream, speaker=speaker, defuse=defuse, text=False)


def _told_by(output: Path | None, says: str | None) -> str:
    """The table that is meant where no format is named."""
    from streamcoref.formats import format_of_output

    if output is None:
        raise StreamcorefError("--defuse and --force are for a table to write; name one with --format or -o")
    found = format_of_output(output).name
    return "quotations" if says is not None and found == "csv" else found
