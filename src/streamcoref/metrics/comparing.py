"""Two files next to each other: a response scored against its key, documents matched by their keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from streamcoref.errors import InputError
from streamcoref.metrics.pairing import ClustersOfDocument, pair_documents
from streamcoref.metrics.scored_documents import read_scored
from streamcoref.metrics.scores import Scores, score_document


@dataclass(frozen=True, slots=True)
class Comparison:
    """The scores over all documents, and how many of these one side lacks, which count against the scores."""

    scores: Scores
    missing_in_key: int = 0
    missing_in_response: int = 0

    def to_dict(self) -> dict[str, float | dict[str, float]]:
        """Plain values for JSON, figures from 0 to 1."""
        missing = {"missing_in_key": self.missing_in_key, "missing_in_response": self.missing_in_response}
        return self.scores.to_dict() | missing


def score_files(
    key: str | Path,
    response: str | Path,
    *,
    key_format: str | None = None,
    response_format: str | None = None,
    singletons: bool = True,
    allow_missing: bool = False,
) -> Comparison:
    """Score the clusters of `response`, its predicted ones where it has any, against those of `key`.

    A document that one side lacks is an error, or counts against the score if that is allowed.
    """
    scores = Scores()
    missing_in_key = missing_in_response = 0
    sides = _read(Path(key), key_format, predicted=False), _read(Path(response), response_format, predicted=True)
    for gold, given in pair_documents(*sides, allow_missing=allow_missing):
        missing_in_key += gold is None
        missing_in_response += given is None
        scores += score_document(gold.clusters if gold else (), given.clusters if given else (), singletons)
    if not scores.documents:
        raise InputError("no documents to score, here or in the response; check that these are the right files", key)
    return Comparison(scores, missing_in_key, missing_in_response)


def _read(path: Path, format_name: str | None, *, predicted: bool) -> Iterator[ClustersOfDocument]:
    """The documents of a file, one by one, each with the clusters that count."""
    seen: set[str] = set()
    for document, clusters in read_scored(path, format_name):
        if document.key in seen:
            raise InputError(f"document {document.key!r} comes twice; every document needs a key of its own", path)
        seen.add(document.key)
        answer = document.predicted_clusters if predicted else None
        yield ClustersOfDocument(document.key, len(document.words), clusters if answer is None else answer)
