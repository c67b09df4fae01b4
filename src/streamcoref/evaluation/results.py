"""What is evaluated and what comes out, as plain values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from streamcoref.document import Document
from streamcoref.metrics import Scores, TypeCounts, add_types


@dataclass(frozen=True, slots=True)
class EvaluationCorpus:
    """Documents with their gold clusters: a path as `corpora.corpus_files` takes it, or the documents themselves.

    `scheme` None is the model's scheme of the corpus' name, or else the model's default. `singletons` None keeps
    clusters of one mention if the gold annotation has them. `format` is that of a path's files, None to recognise it.
    `labels` is where the types of its mentions lie, as `corpora.LabelFiles` takes it; None: in its documents, if so.
    """

    name: str
    documents: str | Path | Iterable[Document]
    scheme: str | None = None
    singletons: bool | None = None
    format: str | None = None
    labels: str | Path | None = None


@dataclass(frozen=True, slots=True)
class CorpusSettings:
    """How the documents of a corpus were predicted and scored."""

    name: str
    scheme: str
    singletons: bool  # kept in the key and in the answer
    answers_singletons: bool  # whether the model was asked for some: only if they are kept and it can tell them


@dataclass(frozen=True, slots=True)
class DocumentResult:
    """One document. `pieces` does not count the encoder's special ones, so it does not depend on the segments."""

    key: str
    corpus: str
    genre: str | None
    speakers: int  # names known; 0 where there are none
    words: int
    pieces: int
    scores: Scores
    encoder_seconds: float
    other_seconds: float
    peak_entities: int | None  # alive at once; None for a whole-document baseline
    peak_bytes: int | None  # of tensors besides the model's; None if not measured
    types: Mapping[str, TypeCounts] = field(default_factory=dict)  # by type; none if the model or the key has none


@dataclass(frozen=True, slots=True)
class Evaluation:
    """One model on some corpora: a small record for each document, in order."""

    corpora: list[CorpusSettings]
    documents: list[DocumentResult]

    @property
    def scores(self) -> Scores:
        return total_scores(self.documents)

    @property
    def types(self) -> dict[str, TypeCounts]:
        """By type, over the documents that have types in key and answer."""
        return add_types(document.types for document in self.documents)

    @property
    def words(self) -> int:
        return sum(document.words for document in self.documents)

    @property
    def encoder_seconds(self) -> float:
        return sum(document.encoder_seconds for document in self.documents)

    @property
    def other_seconds(self) -> float:
        return sum(document.other_seconds for document in self.documents)

    @property
    def peak_entities(self) -> int | None:
        return self._largest(lambda document: document.peak_entities)

    @property
    def peak_bytes(self) -> int | None:
        return self._largest(lambda document: document.peak_bytes)

    def _largest(self, figure: Callable[[DocumentResult], int | None]) -> int | None:
        return max((value for d in self.documents if (value := figure(d)) is not None), default=None)


def total_scores(documents: Iterable[DocumentResult]) -> Scores:
    return sum((document.scores for document in documents), Scores())
