"""A document as a file has it, before it is put into normal form: what a reader finds, and what scorers may need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from streamcoref.document import Document, Quotation, Section, Span, TypeScore, as_clusters
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.mention_labels import MentionLabels


class RawDocument(NamedTuple):
    """Clusters are not merged and repeated mentions are kept; apart from that the fields are those of Document.

    Spans are end-exclusive. `speakers` is empty or has one name a word, "" where unknown; `line` is where the
    document stands in its file.
    """

    key: str
    words: list[str]
    sentence_ends: list[int]
    speakers: list[str]
    clusters: list[list[Span]]
    line: int
    genre: str | None
    predicted_clusters: list[list[Span]] | None = None
    text: str | None = None
    offsets: Sequence[Span] = ()
    scores: Mapping[Span, float] | None = None
    labels: Mapping[Span, MentionLabels] | None = None
    sections: Sequence[Section] = ()
    quotations: Sequence[Quotation] = ()
    types: Mapping[Span, TypeScore] | None = None


def from_raw(raw: RawDocument, path: Path | None) -> Document:
    """The document in normal form; its faults are reported with file and line."""
    try:
        return Document(
            key=raw.key,
            words=tuple(raw.words),
            sentence_ends=tuple(raw.sentence_ends),
            clusters=as_clusters(raw.clusters),
            predicted_clusters=None if raw.predicted_clusters is None else as_clusters(raw.predicted_clusters),
            speakers=tuple(raw.speakers) if any(raw.speakers) else (),
            genre=raw.genre,
            text=raw.text,
            offsets=tuple(raw.offsets),
            scores=raw.scores or {},
            labels=raw.labels or {},
            sections=tuple(raw.sections),
            quotations=tuple(raw.quotations),
            types=raw.types or {},
        )
    except StreamcorefError as error:
        raise InputError(str(error), path, raw.line) from None


def to_raw(document: Document) -> RawDocument:
    """The raw form of a document that has no other."""
    predicted = document.predicted_clusters
    return RawDocument(
        key=document.key,
        words=list(document.words),
        sentence_ends=list(document.sentence_ends),
        speakers=list(document.speakers),
        clusters=[list(cluster) for cluster in document.clusters],
        line=1,
        genre=document.genre,
        predicted_clusters=None if predicted is None else [list(cluster) for cluster in predicted],
        text=document.text,
        offsets=document.offsets,
        scores=document.scores,
        labels=document.labels,
        sections=document.sections,
        quotations=document.quotations,
        types=document.types,
    )
