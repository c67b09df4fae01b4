"""The option `--defuse` of commands that write tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from streamcoref.formats import Format, Writer


def defusing_writer(known: Format) -> Writer:
    """The writer whose cells no spreadsheet takes for formulas; only tables have one."""
    from streamcoref.formats import FORMATS

    if known.write_defused is None:
        tables = " and ".join(other.name for other in FORMATS.working() if other.write_defused)
        raise StreamcorefError(f"--defuse is for {tables}, whose cells spreadsheets may run, and not for {known.name}")
    return known.write_defused
