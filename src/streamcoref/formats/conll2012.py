"""CoNLL-2012: one word a line, columns between white space, coreference in brackets in the last column.

Reading takes three kinds of lines, which the official scorer also takes; the first line of a document decides:

- 12 columns or more: document, part, word number, word, tag, parse, lemma, frameset, sense, speaker, named entity,
  any number of predicate arguments, coreference. Only these have speakers; `-` is an unknown one.
- 5 to 11 columns: document, part, word number, word, anything, coreference.
- 2 columns: document, coreference. Such a file has no words, so each is read as `_`.

The format cannot hold: words or speakers with white space, empty words, the words `/.` and `/?` (read as `.` and
`?`, as the field does), a speaker named `-`, a key with a line end, two crossing mentions of one entity. Genre is
the key's; original text and scores are not written.
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

# Not str.split(): words may hold no-break and ideographic spaces.
_COLUMN = re.compile(r"[^ \t]+")
_SPACE = " \t\r\n"
_KEY_WITH_PART = re.compile(r"(.+)_(0|[1-9][0-9]{0,2})")
_ESCAPED = {"/.": ".", "/?": "?"}
_FULL, _SHORT = 12, 5  # columns
_WORD, _SPEAKER = 3, 9


def read_raw(lines: Iterable[str], path: Path) -> Iterator[RawDocument]:
    """Yield each document as the official scorer sees it, clusters unmerged and repeated mentions kept.

    Where a mention ends and another of its entity begins at one word, it sees others than are meant; `read` does not.
    """
    return read_conll(lines, path, _key, _row_reader, as_scored=True)


def read(lines: Iterable[str], path: Path) -> Iterator[Document]:
    for raw in read_conll(lines, path, _key, _row_reader):
        yield from_raw(raw, path)


def _key(name: str, part: str | None) -> str:
    return name if part is None else f"{name}_{int(part)}"


def _row_reader(path: Path) -> RowReader:
    width = 0  # of the document's first line

    def read_row(line: str, number: int) -> WordRow | None:
        nonlocal width
        columns = _COLUMN.findall(line)
        if not columns:
            return None
        width = width or len(columns)
        _check_width(len(columns), width, path, number)
        word = columns[_WORD] if width >= _SHORT else "_"
        speaker = columns[_SPEAKER] if width >= _FULL else "-"
        brackets = columns[-1]
        return WordRow(
            _ESCAPED.get(word, word),
            "" if speaker == "-" else speaker,
            "" if brackets in ("-", "_") else brackets,
        )

    return read_row


def _check_width(found: int, width: int, path: Path, line: int) -> None:
    if found == 1 or 2 < found < _SHORT:
        raise InputError(
            f"{found} {'column' if found == 1 else 'columns'}; a word needs at least {_SHORT}: "
            "document, part, number, word, coreference",
            path,
            line,
        )
    # Predicate arguments make the number of full columns differ between sentences; the other kinds are fixed.
    if found < _FULL if width >= _FULL else found != width:
        wanted = f"{_FULL} or more" if width >= _FULL else str(width)
        raise InputError(f"{found} columns where the document's first line calls for {wanted}", path, line)


def write(documents: Iterable[Document], stream: TextIO) -> None:
    for document in documents:
        _check(document)
        cells = bracket_cells(document, "|", FORMAT.name)
        numbered = _KEY_WITH_PART.fullmatch(document.key)
        name, part = (numbered[1], int(numbered[2])) if numbered else (document.key, None)
        stream.write(f"#begin document ({name});{'' if part is None else f' part {part:03d}'}\n")
        # Readers take the key from the line above; the column only must be one and not look like a comment.
        column = re.sub(r"^#|\s", "_", name) or "_"
        for start, end in pairwise((0, *document.sentence_ends)):
            for i in range(start, end):
                speaker = (document.speakers[i] if document.speakers else "") or "-"
                stream.write(
                    f"{column}\t{part or 0}\t{i - start}\t{document.words[i]}\t-\t*\t-\t-\t-\t{speaker}\t*\t"
                    f"{cells.get(i, '-')}\n"
                )
            stream.write("\n")
        stream.write("#end document\n")


def _check(document: Document) -> None:
    if has_any(document.key, "\r\n"):
        raise refuse(document, "the key has a line end", FORMAT.name)
    bad = first_bad_word(document.words, _SPACE)
    if bad is None:
        bad = next((i for i, word in enumerate(document.words) if word in _ESCAPED), None)
    if bad is not None:
        raise refuse(document, f"word {bad} is {document.words[bad]!r}", FORMAT.name)
    for i, speaker in enumerate(document.speakers):
        if speaker == "-" or has_any(speaker, _SPACE):
            raise refuse(document, f"the speaker of word {i} is {speaker!r}", FORMAT.name)


def matches(_name: str, lines: list[str]) -> bool:
    return any(begin_document(line) for line in before_words(lines))


FORMAT = Format(
    name="conll",
    description="CoNLL-2012: one word a line, coreference in the last column",
    endings=(".conll", "_conll"),  # OntoNotes: .v4_gold_conll
    read=read,
    read_raw=read_raw,
    write=write,
    matches=matches,
    precedence=40,
)
