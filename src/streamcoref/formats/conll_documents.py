"""The frame that CoNLL-2012 and LitBank share: `#begin document`, a word a line, blank lines, `#end document`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from pathlib import Path
from typing import NamedTuple

from streamcoref.errors import InputError
from streamcoref.formats.brackets import OpenBrackets
from streamcoref.formats.fields import genre_of
from streamcoref.formats.raw import RawDocument

# `#begin document (ID); part 000`, `#begin document (ID);`, `# begin document ID`
_BEGIN = re.compile(
    r"#\s*begin document\s*(?:\((?P<id>.*)\)|(?P<bare>[^;]*?))\s*(?:;\s*(?:part\s+(?P<part>[0-9]+))?)?\s*", re.I
)
_END = re.compile(r"#\s*end document\b", re.I)


class WordRow(NamedTuple):
    """What a line says of its word; `brackets` is empty where no mention starts or ends."""

    word: str
    speaker: str
    brackets: str


# Given a line without its end and its number; None for a blank line. Made anew for each document.
RowReader = Callable[[str, int], WordRow | None]


def begin_document(line: str) -> tuple[str, str | None] | None:
    """The id and the part, if any, of a line that begins a document; None for any other line."""
    match = _BEGIN.fullmatch(line.rstrip("\r\n"))
    if match is None:
        return None
    return match["bare"] if match["id"] is None else match["id"], match["part"]


def before_words(lines: list[str]) -> Iterator[str]:
    """The lines before the first word: a document begins among these, or this is another kind of file."""
    return takewhile(lambda line: line.startswith("#") or not line.strip(), lines)


def read_conll(
    lines: Iterable[str],
    path: Path,
    key_of: Callable[[str, str | None], str],
    row_reader: Callable[[Path], RowReader],
    as_scored: bool = False,
) -> Iterator[RawDocument]:
    """Yield each document as soon as it ends. `key_of` makes the key from id and part.

    `as_scored` reads the brackets at one word as the official scorer does, see `OpenBrackets`.
    """
    current: RawDocument | None = None
    for number, raw_line in enumerate(lines, start=1):
        line = raw_line.rstrip("\r\n")
        if line.startswith("#"):
            begin = begin_document(line)
            if begin:
                if current:
                    raise InputError(f"document {current.key!r} has no '#end document' before this", path, number)
                key = key_of(*begin)
                current = RawDocument(key, [], [], [], [], number, genre_of(key))
                brackets, read_row = OpenBrackets(path, as_scored), row_reader(path)
            elif _END.match(line):
                if current is None:
                    raise InputError("'#end document' without a '#begin document' before it", path, number)
                _end_sentence(current)
                yield current._replace(clusters=brackets.finish())
                current = None
        elif current is None:
            if line.strip():
                raise InputError("a word outside a document; '#begin document' must come first", path, number)
        else:
            row = read_row(line, number)
            if row is None:
                _end_sentence(current)
                continue
            current.words.append(row.word)
            current.speakers.append(row.speaker)
            if row.brackets:
                brackets.read_cell(row.brackets, len(current.words) - 1, number)
    if current:
        raise InputError(
            f"document {current.key!r} has no '#end document'; the file may be cut short", path, current.line
        )


def _end_sentence(document: RawDocument) -> None:
    if len(document.words) > (document.sentence_ends[-1] if document.sentence_ends else 0):
        document.sentence_ends.append(len(document.words))
