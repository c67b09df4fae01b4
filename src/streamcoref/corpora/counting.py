"""What is in a corpus, counted document by document."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from streamcoref.corpora.finding import files_to_read
from streamcoref.formats import RawDocument, read_raw_documents
from streamcoref.formats.raw import from_raw


@dataclass(slots=True)
class CorpusCounts:
    """`genres` counts documents; a document without a genre is in none."""

    documents: int = 0
    words: int = 0
    longest: int = 0
    mentions: int = 0
    clusters: int = 0
    singletons: int = 0
    multi_speaker_documents: int = 0
    genres: Counter[str] = field(default_factory=Counter)

    def add(self, document: RawDocument) -> None:
        """Count a document as its file has it, with its predicted clusters where it has no others."""
        clusters = [set(cluster) for cluster in document.clusters or document.predicted_clusters or ()]
        self.documents += 1
        self.words += len(document.words)
        self.longest = max(self.longest, len(document.words))
        self.mentions += sum(map(len, clusters))
        self.clusters += len(clusters)
        self.singletons += sum(len(cluster) == 1 for cluster in clusters)
        self.multi_speaker_documents += len(set(document.speakers) - {""}) > 1
        if document.genre is not None:
            self.genres[document.genre] += 1

    def merge(self, other: CorpusCounts) -> None:
        self.documents += other.documents
        self.words += other.words
        self.longest = max(self.longest, other.longest)
        self.mentions += other.mentions
        self.clusters += other.clusters
        self.singletons += other.singletons
        self.multi_speaker_documents += other.multi_speaker_documents
        self.genres += other.genres

    def to_dict(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "words": self.words,
            "longest": self.longest,
            "mentions": self.mentions,
            "clusters": self.clusters,
            "singletons": self.singletons,
            "multi_speaker_documents": self.multi_speaker_documents,
            "genres": dict(sorted(self.genres.items())),
        }


def count_corpus(path: str | Path, format: str | None = None) -> CorpusCounts:  # noqa: A002
    """Count what a file, a folder or a list of documents holds; `-` is standard input."""
    counts = CorpusCounts()
    for file in files_to_read(path):
        # Counted as published: a Document merges clusters that share a mention. It is made all the same, as a check.
        for raw in read_raw_documents(file, format):
            from_raw(raw, file)
            counts.add(raw)
    return counts
