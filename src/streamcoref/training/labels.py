"""Gold labels of a document's spans, as the model's own decisions unfold."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Literal

import numpy as np

from streamcoref.document import Clusters, Span
from streamcoref.model.segments import IntArray

Objective = Literal["most_recent", "all"]


class Labeller:
    """Which entities a span should join, given where the model has put the mentions before it.

    `most_recent` is the paper's objective: the entity that holds the most recent gold antecedent. `all` accepts every
    entity that holds an antecedent. Every mention the model has placed is remembered for as long as the document
    lasts; an antecedent that was not proposed, or whose entity has been evicted, does not count, and the one
    before it is taken.
    """

    def __init__(self, clusters: Clusters, objective: Objective) -> None:
        self.cluster_of = {span: number for number, cluster in enumerate(clusters) for span in cluster}
        self.objective = objective
        self.placed: dict[int, list[int]] = {}  # gold cluster -> entities of its mentions, in the order of the text

    def targets(self, span: Span, alive: Collection[int]) -> set[int]:
        """The right entities for a span, among those alive; none means that it should start one."""
        entities = [e for e in self.placed.get(self.cluster_of.get(span, -1), ()) if e in alive]
        if self.objective == "most_recent":
            return set(entities[-1:])
        return set(entities)

    def place(self, span: Span, entity: int) -> None:
        """Note the model's decision for a span."""
        cluster = self.cluster_of.get(span)
        if cluster is not None:
            self.placed.setdefault(cluster, []).append(entity)


def mention_labels(candidates: IntArray, mentions: Iterable[Span]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """1 for each candidate [c, 2] (end-exclusive words) that is a gold mention, else 0."""
    gold = set(mentions)
    return np.array([(a, b) in gold for a, b in candidates.tolist()], dtype=np.float32)
