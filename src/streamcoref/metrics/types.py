"""Types of entities: how many mentions get the right one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from streamcoref.document import Entity
from streamcoref.mention_labels import MentionLabels
from streamcoref.metrics.overlap import Clusters


@dataclass(frozen=True, slots=True)
class TypeCounts:
    """Of one type, or of all: mentions that have it, those of them that were found, and that were given it too.

    `answered` counts the mentions that were given it, rightly or not, whether they are mentions or not. So precision,
    recall and F1 are of mentions with their types; `accuracy` is of the types alone, where mentions were found.
    """

    gold: int = 0
    found: int = 0
    right: int = 0
    answered: int = 0

    def __add__(self, other: TypeCounts) -> TypeCounts:
        return TypeCounts(
            self.gold + other.gold,
            self.found + other.found,
            self.right + other.right,
            self.answered + other.answered,
        )

    @property
    def precision(self) -> float:
        return self.right / self.answered if self.answered else 0.0

    @property
    def recall(self) -> float:
        return self.right / self.gold if self.gold else 0.0

    @property
    def f1(self) -> float:
        return 2 * self.right / (self.answered + self.gold) if self.answered + self.gold else 0.0

    @property
    def accuracy(self) -> float:
        return self.right / self.found if self.found else 0.0


def count_types(
    key: Clusters, labels: Mapping[Any, MentionLabels], answer: Iterable[Entity], singletons: bool
) -> dict[str, TypeCounts]:
    """The counts of each type: each mention of the answer has its entity's type, each of the key its own.

    Where the key allows several types, each is right, and counts as the first. Mentions of the key without a type are
    left out, in the answer too. Without `singletons` entities of one mention are in neither.
    """
    mentions = {span for cluster in key if singletons or len(set(cluster)) > 1 for span in cluster}
    gold = {span: labels[span].types if span in labels else () for span in mentions}
    answered: dict[Any, str] = {
        (mention.word_start, mention.word_end): entity.type
        for entity in answer
        if entity.type is not None and (singletons or entity.size > 1)
        for mention in entity.mentions
    }
    counts: dict[str, TypeCounts] = defaultdict(TypeCounts)
    for span, types in gold.items():
        if types:
            counts[types[0]] += TypeCounts(1, int(span in answered), int(answered.get(span) in types))
    for span, given in answered.items():
        types = gold.get(span, (given,))
        if types:
            counts[types[0] if given in types else given] += TypeCounts(answered=1)
    return dict(counts)


def add_types(parts: Iterable[Mapping[str, TypeCounts]]) -> dict[str, TypeCounts]:
    """The sums of several documents, by the names of the types."""
    total: dict[str, TypeCounts] = defaultdict(TypeCounts)
    for part in parts:
        for name, counts in part.items():
            total[name] += counts
    return {name: total[name] for name in sorted(total)}
