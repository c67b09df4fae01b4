"""How well a model answers marked texts."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean
from typing import TYPE_CHECKING

from streamcoref.metrics import Scores, score_document
from tests.stories.marked import marked_document

if TYPE_CHECKING:  # it imports torch, which only tests with the model should wait for
    from streamcoref import Resolver


def judged(resolver: Resolver, name: str, marked: str, scheme: str | None = None) -> Scores:
    """A text's scores without entities that are mentioned once; `None` is the model's scheme for raw text."""
    document = resolver.resolve(document=marked_document(name, marked), scheme=scheme)
    return score_document(document.clusters, document.predicted_clusters or (), singletons=False)


def mean_f1(scores: Iterable[Scores]) -> float:
    """Each text counts the same, however many mentions it has."""
    return fmean(one.conll_f1 for one in scores)
