"""Word-level jsonlines: one JSON object a document, a document a line. Its keys: `document_record.py`."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from streamcoref.document import Document
from streamcoref.formats.base import Format
from streamcoref.formats.document_record import raw_from_record, to_record
from streamcoref.formats.json_values import read_objects
from streamcoref.formats.raw import RawDocument, from_raw


def read_raw(lines: Iterable[str], path: Path) -> Iterator[RawDocument]:
    for record in read_objects(lines, path):
        yield raw_from_record(record)


def read(lines: Iterable[str], path: Path) -> Iterator[Document]:
    for raw in read_raw(lines, path):
        yield from_raw(raw, path)


def write(documents: Iterable[Document], stream: TextIO) -> None:
    for document in documents:
        stream.write(json.dumps(to_record(document), ensure_ascii=False) + "\n")


def matches(_name: str, lines: list[str]) -> bool:
    first = next((line for line in lines if line.strip()), "")
    return first.lstrip().startswith("{") and re.search(r'"sentences"\s*:', first) is not None


FORMAT = Format(
    name="jsonlines",
    description="one JSON object a document, with lists of words",
    endings=(".jsonl", ".jsonlines"),
    read=read,
    read_raw=read_raw,
    write=write,
    matches=matches,
    precedence=20,
)
