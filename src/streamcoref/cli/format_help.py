"""Help that names the formats there are, asked for when somebody reads it and not before."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand


class HelpWithFormats(TyperCommand):
    """A command whose help may say `{read_and_write}`, `{read_only}` and `{write_only}` for the names of formats."""

    def format_help(self, ctx: Any, formatter: Any) -> None:  # of click, which newer releases of typer carry inside
        self.help = (self.help or "").format(**_names())
        super().format_help(ctx, formatter)


def _names() -> dict[str, str]:
    from streamcoref.formats import FORMATS

    known = FORMATS.working()
    read = [found.name for found in known if found.read]
    written = [found.name for found in known if found.write or found.needs_tokenizer]
    return {
        "read_and_write": ", ".join(name for name in read if name in written),
        "read_only": ", ".join(name for name in read if name not in written),
        "write_only": ", ".join(name for name in written if name not in read),
    }
