"""The gold side of an evaluation: documents with the clusters that count as their key, and whether singletons do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from streamcoref.corpora import LabelFiles, corpus_files
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.evaluation.results import EvaluationCorpus
from streamcoref.metrics import Clusters
from streamcoref.metrics.scored_documents import read_scored

# A corpus with fewer singletons among its clusters is one that does not annotate them, with a few strays.
SINGLETON_SHARE = 0.05


def read_gold(corpus: EvaluationCorpus) -> Iterator[tuple[Document, Clusters]]:
    """Documents and their keys. A CoNLL-2012 key is taken unmerged, as the official scorer and `score` do."""
    if corpus.labels is None:
        yield from _read(corpus)
        return
    labels = LabelFiles(corpus.labels)
    yield from ((labels.add_to(document), key) for document, key in _read(corpus))


def _read(corpus: EvaluationCorpus) -> Iterator[tuple[Document, Clusters]]:
    if not isinstance(corpus.documents, str | Path):
        yield from ((document, document.clusters) for document in corpus.documents)
        return
    for file in corpus_files(corpus.documents):
        yield from read_scored(file, corpus.format)


@dataclass(slots=True)
class GoldCounts:
    """What a first pass over a corpus finds."""

    documents: int = 0
    clusters: int = 0
    singletons: int = 0

    def add(self, document: Document) -> None:
        self.documents += 1
        self.clusters += len(document.clusters)
        self.singletons += sum(len(cluster) == 1 for cluster in document.clusters)

    @property
    def has_singletons(self) -> bool:
        return self.singletons > 0 and self.singletons >= SINGLETON_SHARE * self.clusters


def count_gold(corpus: EvaluationCorpus) -> GoldCounts:
    """Read a corpus once, which also finds whatever is wrong in its files before a model starts to work."""
    if isinstance(corpus.documents, Iterator):
        raise StreamcorefError(
            f"corpus {corpus.name!r}: these documents can be read only once, which leaves open whether to keep "
            "singletons; say so, or give a list or a path"
        )
    counts = GoldCounts()
    for document, _ in read_gold(corpus):
        counts.add(document)
    check_gold(corpus.name, counts)
    return counts


class Survey(NamedTuple):
    """Corpora that have been read once: what they left open is settled, and their documents are counted."""

    corpora: list[EvaluationCorpus]
    documents: int


def survey(corpora: Sequence[EvaluationCorpus], check: Callable[[Document], None] | None = None) -> Survey:
    """Read everything once: faults in the files show now, singletons are decided, documents are counted.

    `check` gets every document and may refuse it, for whatever reason would stop the long work at its end.
    """
    settled, total = [], 0
    for corpus in corpora:
        counts = GoldCounts()
        for document, _ in read_gold(corpus):
            counts.add(document)
            if check is not None:
                check(document)
        check_gold(corpus.name, counts)
        keep = counts.has_singletons if corpus.singletons is None else corpus.singletons
        settled.append(replace(corpus, singletons=keep))
        total += counts.documents
    return Survey(settled, total)


def check_gold(name: str, counts: GoldCounts) -> None:
    """Figures without a key would all be 0: say that instead."""
    if not counts.documents:
        raise StreamcorefError(f"corpus {name!r} has no documents; check that its path is the right one")
    if not counts.clusters:
        raise StreamcorefError(f"corpus {name!r} has no coreference clusters, so there is nothing to evaluate against")
