"""Gold labels of a document's spans, as the model's own decisions unfold."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Literal

import numpy as np

from streamcoref.document import Clusters, Span

Objective = Literal["most_recent", "published", "all"]


class Labeller:
    """Which entities a span should join, given where the model has put the mentions before it.

    `most_recent` is the paper's objective: the entity that holds the most recent gold antecedent. An antecedent that
    was not proposed, or whose entity has been evicted, does not count, and the one before it is taken; every mention
    that the model has placed is remembered for as long as the document lasts. `all` accepts every entity that holds one
    of these.

    `published` is what the authors' program does: only the gold mention just before it in the cluster counts, and
    nothing is right if that was not proposed. When a segment ends, the program forgets which entity holds a mention
    unless it is the entity's latest one, so that nothing is right for a span whose antecedent lies further back.

    A span that starts or ends inside of a word is no mention: None.
    """

    def __init__(self, clusters: Clusters, objective: Objective) -> None:
        self.cluster_of = {span: number for number, cluster in enumerate(clusters) for span in cluster}
        self.objective = objective
        self.placed: dict[int, list[int]] = {}  # gold cluster -> entities of its mentions, in the order of the text
        self.before = {b: a for cluster in clusters for a, b in pairwise(sorted(cluster))}  # the mention before each
        self.holder: dict[Span, int] = {}  # the entities of mentions, as far as the authors' program knows them
        self.latest: dict[int, Span | None] = {}  # the latest span of each entity

    def targets(self, span: Span | None, alive: Collection[int]) -> set[int]:
        """The right entities for a span, among those alive; none means that it should start one."""
        if span is None or span not in self.cluster_of:
            return set()
        if self.objective == "published":
            before = self.before.get(span)
            return {self.holder[before]} & set(alive) if before in self.holder else set()
        entities = [e for e in self.placed.get(self.cluster_of[span], ()) if e in alive]
        if self.objective == "most_recent":
            return set(entities[-1:])
        return set(entities)

    def place(self, span: Span | None, entity: int) -> None:
        """Note the model's decision for a span."""
        self.latest[entity] = span
        if span is not None and span in self.cluster_of:
            self.placed.setdefault(self.cluster_of[span], []).append(entity)
            self.holder[span] = entity

    def renamed(self, kept: int, gone: int) -> None:
        """Two entities have become one."""
        for entities in self.placed.values():
            entities[:] = [kept if entity == gone else entity for entity in entities]
        self.holder = {span: kept if entity == gone else entity for span, entity in self.holder.items()}

    def end_segment(self) -> None:
        """Forget what the authors' program forgets."""
        latest = {span: entity for entity, span in self.latest.items() if span is not None}
        self.holder = {span: entity for span, entity in latest.items() if span in self.cluster_of}


def mention_labels(
    candidates: Sequence[Span | None], mentions: Mapping[Span, float]
) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """How likely each candidate (end-exclusive words, None inside of a word) is a mention: 1 if it is a gold one."""
    chances = [0.0 if candidate is None else mentions.get(candidate, 0.0) for candidate in candidates]
    return np.array(chances, dtype=np.float32)
