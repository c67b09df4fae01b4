"""Which documents are looked at together: the rows of the paper's Table 2, and more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, NamedTuple

from streamcoref.evaluation.results import DocumentResult

# Pieces, both ends included. The first six are the paper's; the others split the last of those for longer texts.
LENGTHS: tuple[tuple[int, int | None], ...] = (
    (0, 128),
    (129, 256),
    (257, 512),
    (513, 768),
    (769, 1152),
    (1153, None),
    (1153, 2048),
    (2049, 4096),
    (4097, 8192),
    (8193, None),
)
NO_GENRE = "none given"

GroupKind = Literal["all", "corpus", "length", "speakers", "genre"]


class Group(NamedTuple):
    """`members` are numbers of documents, in order: they stand for the same documents in any model's evaluation."""

    kind: GroupKind
    name: str
    members: list[int]


def group_documents(documents: Sequence[DocumentResult]) -> list[Group]:
    """All groups that have documents, in the order in which they are shown."""
    members: dict[tuple[GroupKind, str], list[int]] = {}
    for number, document in enumerate(documents):
        for row in _rows_of(document):
            members.setdefault(row, []).append(number)
    genres = sorted((name for kind, name in members if kind == "genre"), key=lambda name: (name == NO_GENRE, name))
    if genres == [NO_GENRE]:  # a table of nothing but this would say nothing
        genres = []
    order: list[tuple[GroupKind, str]] = [
        ("all", "all"),
        *(row for row in members if row[0] == "corpus"),
        *(("length", _length_name(*limits)) for limits in LENGTHS),
        ("speakers", "1"),
        ("speakers", "2+"),
        *(("genre", genre) for genre in genres),
    ]
    return [Group(*row, members[row]) for row in order if row in members]


def _rows_of(document: DocumentResult) -> Iterator[tuple[GroupKind, str]]:
    yield "all", "all"
    yield "corpus", document.corpus
    for low, high in LENGTHS:
        if low <= document.pieces and (high is None or document.pieces <= high):
            yield "length", _length_name(low, high)
    yield "speakers", "2+" if document.speakers > 1 else "1"  # a text that names no speaker has one
    yield "genre", NO_GENRE if document.genre is None else document.genre


def _length_name(low: int, high: int | None) -> str:
    return f"{low}+" if high is None else f"{low}-{high}"
