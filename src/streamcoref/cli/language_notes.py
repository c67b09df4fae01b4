"""What the library warns of while it reads a text, as one line that names the text."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

import typer

from streamcoref._wording import escaped
from streamcoref.errors import LanguageWarning


@contextmanager
def noting_language(name: str) -> Iterator[None]:
    """Inside, a text that is not English is spoken of once, on standard error."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(
            message: Warning | str,
            category: type[Warning],
            filename: str,
            lineno: int,
            file: TextIO | None = None,
            line: str | None = None,
        ) -> None:
            if issubclass(category, LanguageWarning):
                typer.echo(f"streamcoref: {escaped(name)}: {message}", err=True)
            else:
                shown(message, category, filename, lineno, file, line)

        warnings.simplefilter("always", LanguageWarning)
        warnings.showwarning = show
        yield
