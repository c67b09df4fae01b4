"""The option `--defuse` of commands that write CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from streamcoref.formats import Format, Writer


def defusing_writer(known: Format) -> Writer:
    """The writer whose cells no spreadsheet takes for formulas; only CSV has one."""
    from streamcoref.formats import csv_writer

    if known.name != "csv":
        raise StreamcorefError(f"--defuse is for csv, whose cells spreadsheets may run, and not for {known.name}")
    return csv_writer(defuse=True)
