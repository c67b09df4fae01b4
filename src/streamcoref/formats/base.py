"""What every format is to the rest of the package: a name, a way to know it, a reader, a writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from streamcoref.document import Document

# A reader gets the lines of a file one by one, with the path for error messages, and yields documents as soon as
# each is complete, so that memory holds one document and never the file.
Reader = Callable[[Iterable[str], Path], Iterator[Document]]
# A writer takes documents as they come and writes each at once.
Writer = Callable[[Iterable[Document], TextIO], None]


@dataclass(frozen=True, slots=True)
class Format:
    """`matches` is given a file's name, without `.gz`, and its first lines; see `formats.detect`."""

    name: str
    description: str
    suffix: str
    read: Reader | None
    write: Writer | None
    matches: Callable[[str, list[str]], bool]
