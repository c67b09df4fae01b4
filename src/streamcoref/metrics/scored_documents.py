"""Documents of a file with the clusters that a score counts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from streamcoref.document import Document
from streamcoref.formats import open_raw_documents
from streamcoref.formats.conll2012 import FORMAT as CONLL_2012
from streamcoref.formats.raw import from_raw
from streamcoref.metrics.overlap import Clusters


def read_scored(path: Path, format: str | None = None) -> Iterator[tuple[Document, Clusters]]:  # noqa: A002
    """Documents and their clusters. Those of CoNLL-2012 are unmerged, as the official scorer reads them."""
    found, documents = open_raw_documents(path, format)
    for raw in documents:
        document = from_raw(raw, path)
        yield document, raw.clusters if found is CONLL_2012 else document.clusters
