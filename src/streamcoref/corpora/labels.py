"""Labels of mentions that lie beside a corpus: LitBank's tables, or documents that carry them, as GUM's files do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from streamcoref.corpora.finding import corpus_files
from streamcoref.document import Document, Span
from streamcoref.errors import InputError
from streamcoref.formats import read_documents
from streamcoref.formats.files import plain_name, read_lines
from streamcoref.mention_labels import MentionLabels

Labels = Mapping[Span, MentionLabels]
_TABLE = ".tsv"
_MENTION, _COLUMNS = "MENTION", 9  # of the lines that count; others say which mentions corefer


class LabelFiles:
    """Labels by the keys of documents: files called after them in a folder, or one file with all of them.

    A `.tsv` is LitBank's: a line `MENTION id sentence word sentence word text type kind` a mention. Any other file has
    documents with labels of their own, whose words must be those of the document.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._read: tuple[Path | None, dict[str, Document]] = (None, {})  # the latest file and its documents

    def has(self, document: Document) -> bool:
        return document.key in self._files

    def add_to(self, document: Document) -> Document:
        """The document with its labels; an InputError if there are none, or they are another text's."""
        file = self._files.get(document.key)
        if file is None:
            raise InputError(f"there are no labels for the document {document.key}", self.path)
        return replace(document, labels=_table(file, document) if _is_table(file) else self._labels(file, document))

    @cached_property
    def _files(self) -> dict[str, Path]:
        files = corpus_files(self.path)
        if files == [self.path] and not _is_table(self.path):
            return dict.fromkeys(self._documents(self.path), self.path)
        return {Path(plain_name(file)).stem: file for file in files}

    def _documents(self, file: Path) -> dict[str, Document]:
        if self._read[0] != file:
            self._read = file, {document.key: document for document in read_documents(file)}
        return self._read[1]

    def _labels(self, file: Path, document: Document) -> Labels:
        other = self._documents(file).get(document.key)
        if other is None:
            raise InputError(f"there are no labels for the document {document.key}", file)
        if other.words != document.words:
            raise InputError(f"its words are not those of the document {document.key}", file)
        return other.labels


def _is_table(file: Path) -> bool:
    return plain_name(file).endswith(_TABLE)


def _table(file: Path, document: Document) -> Labels:
    sentences = list(pairwise((0, *document.sentence_ends)))
    labels: dict[Span, MentionLabels] = {}
    for number, line in enumerate(read_lines(file), start=1):
        cells = line.rstrip("\r\n").split("\t")
        if cells[0] != _MENTION:
            continue
        if len(cells) != _COLUMNS or not all(cell.isdecimal() for cell in cells[2:6]):
            expected = "MENTION, a name, sentence, word, sentence, word, text, type, kind"
            raise InputError(f"not {_COLUMNS} columns between tabs: {expected}", file, number)
        first, last = (_place(sentences, int(cells[at]), int(cells[at + 1])) for at in (2, 4))
        if first is None or last is None or " ".join(document.words[first : last + 1]) != cells[6]:
            raise InputError(f"the document {document.key} does not have {cells[6]!r} there", file, number)
        labels[first, last + 1] = MentionLabels.of(type=cells[7], kind=cells[8])
    return labels


def _place(sentences: list[Span], sentence: int, word: int) -> int | None:
    """The number of a word in the text; None if the sentence has no such word."""
    if sentence >= len(sentences) or word >= sentences[sentence][1] - sentences[sentence][0]:
        return None
    return sentences[sentence][0] + word
