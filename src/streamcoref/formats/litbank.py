"""LitBank's CoNLL: 13 columns between tabs, `_` in those without use, brackets or nothing in the last.

The key is the document's id, with `_part` after it when the part is not 0. There are no speakers.

The format cannot hold: speakers, empty words and words with a tab or line end, a key with a line end, two crossing
mentions of one entity. Genre is the key's; original text and scores are not written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TextIO

from streamcoref.document import Document
from streamcoref.errors import InputError
from streamcoref.formats.base import Format
from streamcoref.formats.brackets import bracket_cells
from streamcoref.formats.conll_documents import RowReader, WordRow, before_words, begin_document, read_conll
from streamcoref.formats.fields import first_bad_word, has_any, refuse
from streamcoref.formats.raw import RawDocument, from_raw

_COLUMNS = 13
_WORD = 3
_UNUSED = slice(4, 12)


def read_raw(lines: Iterable[str], path: Path) -> Iterator[RawDocument]:
    return read_conll(lines, path, _key, _row_reader)


def read(lines: Iterable[str], path: Path) -> Iterator[Document]:
    for raw in read_raw(lines, path):
        yield from_raw(raw, path)


def _key(name: str, part: str | None) -> str:
    return f"{name}_{int(part)}" if part and int(part) else name


def _row_reader(path: Path) -> RowReader:
    def read_row(line: str, number: int) -> WordRow | None:
        if not line:
            return None
        cells = line.split("\t")
        if len(cells) != _COLUMNS:
            raise InputError(f"{len(cells)} columns between tabs where LitBank has {_COLUMNS}", path, number)
        if not cells[_WORD]:
            raise InputError("the fourth column, the word, is empty", path, number)
        brackets = cells[-1].strip()
        return WordRow(cells[_WORD], "", "" if brackets in ("-", "_") else brackets)

    return read_row


def write(documents: Iterable[Document], stream: TextIO) -> None:
    for document in documents:
        _check(document)
        cells = bracket_cells(document, "|", FORMAT.name)
        stream.write(f"#begin document ({document.key}); part 0\n")
        column = re.sub(r"^#|\s", "_", document.key) or "_"  # readers take the key from the line above
        for start, end in pairwise((0, *document.sentence_ends)):
            for i in range(start, end):
                unused = "\t_" * (_UNUSED.stop - _UNUSED.start)
                stream.write(f"{column}\t0\t{i - start}\t{document.words[i]}{unused}\t{cells.get(i, '')}\n")
            stream.write("\n")
        stream.write("#end document\n")


def _check(document: Document) -> None:
    if has_any(document.key, "\r\n"):
        raise refuse(document, "the key has a line end", FORMAT.name)
    if document.speakers:
        raise refuse(document, "it has speakers", FORMAT.name)
    bad = first_bad_word(document.words, "\t\r\n")
    if bad is not None:
        raise refuse(document, f"word {bad} is {document.words[bad]!r}", FORMAT.name)


def matches(_name: str, lines: list[str]) -> bool:
    """LitBank's files are named like CoNLL-2012's, so only the content tells them apart."""
    first = next((i for i, line in enumerate(before_words(lines)) if begin_document(line)), None)
    if first is None:
        return False
    row = next((line for line in lines[first:] if line.strip() and not line.startswith("#")), None)
    if row is None:  # only empty documents: CoNLL-2012 writes the part with three digits
        begin = begin_document(lines[first])
        return begin is not None and begin[1] == "0"
    cells = row.rstrip("\r\n").split("\t")
    return len(cells) == _COLUMNS and all(cell in ("_", "") for cell in cells[_UNUSED])


FORMAT = Format(
    name="litbank",
    description="LitBank's 13-column CoNLL, tab separated",
    endings=(".litbank.conll",),
    read=read,
    read_raw=read_raw,
    write=write,
    matches=matches,
    precedence=30,
)
