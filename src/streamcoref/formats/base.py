"""What every format is to the rest of the package: a name, a way to know it, a reader, a writer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from streamcoref.document import Document
from streamcoref.events import Event
from streamcoref.formats.raw import RawDocument

if TYPE_CHECKING:
    from streamcoref.text.books.book import Extract

# A reader gets the lines of a file one by one, with the path for error messages, and yields documents as soon as
# each is complete, so that memory holds one document and never the file.
Reader = Callable[[Iterable[str], Path], Iterator[Document]]
# The same for documents as the file has them: clusters that share a mention are not merged.
RawReader = Callable[[Iterable[str], Path], Iterator[RawDocument]]
# A writer takes documents as they come and writes each at once.
Writer = Callable[[Iterable[Document], TextIO], None]
# One event and its document's key, as a line: nothing is held, so that a text may be of any length.
EventWriter = Callable[[Event, str], str]


def never(_name: str, _lines: list[str]) -> bool:
    """No content tells this format: its files are known by their names, or not read at all."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format; every module of this package that has one calls it `FORMAT`. See `formats.FORMATS`.

    `endings` are those of file names, before `.gz`, in small letters; the first is what a file in an output folder
    gets. No ending belongs to two formats that are read, or to two that are written; of two that fit, as `.txt` and
    `.entities.txt`, the longer tells. `matches` is given a file's name, without `.gz`, and its first lines, and says
    whether the content is of this format; of several that say so, the one of the lowest `precedence` is right.
    """

    name: str
    description: str
    endings: tuple[str, ...]
    read: Reader | None = None
    read_raw: RawReader | None = None  # None: what `read` gives, in raw form
    write: Writer | None = None
    write_defused: Writer | None = None  # the same for spreadsheets, with no cell that one would run
    write_event: EventWriter | None = None
    matches: Callable[[str, list[str]], bool] = never
    precedence: int = 100
    is_prose: bool = False  # a file's characters are the document's text
    extract: Extract | None = None  # the text is taken out of the file, and kept with the answer
    takes_encoding: bool = False  # besides plain text: a file of characters that may not say what encoding it has
    is_store: bool = False  # written by a job that can go on later, not by a writer
    needs_tokenizer: bool = False  # its writer is made for a tokenizer and a segment length
