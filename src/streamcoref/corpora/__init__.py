"""Corpora as a user names them: a file, a folder, or a list of document names such as LitBank's `dev.ids`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from streamcoref.corpora.counting import CorpusCounts, count_corpus
from streamcoref.corpora.finding import corpus_files, files_to_read
from streamcoref.corpora.labels import LabelFiles
from streamcoref.corpora.paragraphs import with_paragraphs
from streamcoref.document import Document
from streamcoref.formats import read_documents

__all__ = [
    "CorpusCounts",
    "LabelFiles",
    "corpus_files",
    "count_corpus",
    "files_to_read",
    "read_corpus",
    "with_paragraphs",
]


def read_corpus(path: str | Path, format: str | None = None) -> Iterator[Document]:  # noqa: A002
    """Yield the documents of a corpus one by one. Without `format` each file's is recognised."""
    for file in corpus_files(path):
        yield from read_documents(file, format)
