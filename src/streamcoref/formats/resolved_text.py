"""The text itself, with pronouns replaced by names. Write only."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TextIO

from streamcoref.document import Document
from streamcoref.formats.base import Format


def write(documents: Iterable[Document], stream: TextIO) -> None:
    """One text after the other, with an empty line between."""
    for number, document in enumerate(documents):
        stream.write("\n\n" if number else "")
        stream.write(document.resolved_text())


FORMAT = Format(
    name="resolved",
    description="the text with pronouns replaced by names",
    endings=(".resolved.txt",),
    write=write,
)
