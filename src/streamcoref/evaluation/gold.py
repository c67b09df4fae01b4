"""The gold side of an evaluation: documents with the clusters that count as their key, and whether singletons do."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streamcoref.corpora import corpus_files
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.evaluation.results import EvaluationCorpus
from streamcoref.formats import conll2012, detect, read_raw_documents
from streamcoref.formats.raw import from_raw
from streamcoref.metrics import Clusters

# A corpus with fewer singletons among its clusters is one that does not annotate them, with a few strays.
SINGLETON_SHARE = 0.05


def read_gold(corpus: EvaluationCorpus) -> Iterator[tuple[Document, Clusters]]:
    """Documents and their keys. A CoNLL-2012 key is taken unmerged, as the official scorer and `score` do."""
    if not isinstance(corpus.documents, str | Path):
        yield from ((document, document.clusters) for document in corpus.documents)
        return
    for file in corpus_files(corpus.documents):
        name = corpus.format or detect(file)
        for raw in read_raw_documents(file, name):
            document = from_raw(raw, file)
            yield document, raw.clusters if name == conll2012.FORMAT.name else document.clusters


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


def check_gold(name: str, counts: GoldCounts) -> None:
    """Figures without a key would all be 0: say that instead."""
    if not counts.documents:
        raise StreamcorefError(f"corpus {name!r} has no documents; check that its path is the right one")
    if not counts.clusters:
        raise StreamcorefError(f"corpus {name!r} has no coreference clusters, so there is nothing to evaluate against")
