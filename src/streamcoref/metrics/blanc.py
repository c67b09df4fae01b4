"""BLANC (Recasens and Hovy 2011; for predicted mentions Luo et al. 2014): pairs that corefer and pairs that do not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import comb

from streamcoref.metrics.counts import ZERO, Counts
from streamcoref.metrics.overlap import Clusters, overlap


@dataclass(frozen=True, slots=True)
class BlancCounts:
    """Counts of coreferent pairs and of non-coreferent pairs. The score is the mean of both.

    Where the key has no pair of one kind the other kind is the whole score, and where it has no pair at all the
    score is 0: the rule of scorer 8.01. It asks the key alone, so here key and response are not interchangeable.
    """

    coreferent: Counts = ZERO
    distinct: Counts = ZERO

    def __add__(self, other: BlancCounts) -> BlancCounts:
        return BlancCounts(self.coreferent + other.coreferent, self.distinct + other.distinct)

    def _kinds(self) -> list[Counts]:
        return [kind for kind in (self.coreferent, self.distinct) if kind.recall_denominator]

    @property
    def recall(self) -> float:
        return _mean([kind.recall for kind in self._kinds()])

    @property
    def precision(self) -> float:
        return _mean([kind.precision for kind in self._kinds()])

    @property
    def f1(self) -> float:
        """The mean of the two F1, which is not the F1 of `precision` and `recall`."""
        return _mean([kind.f1 for kind in self._kinds()])


ZERO_BLANC = BlancCounts()


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _pairs(sizes: Iterable[int]) -> int:
    return sum(comb(size, 2) for size in sizes)


def count(key: Clusters, response: Clusters) -> BlancCounts:
    """Count pairs from the sizes of clusters and overlaps, without listing them."""
    table = overlap(key, response)
    key_pairs, key_coreferent = comb(sum(table.key_sizes), 2), _pairs(table.key_sizes)
    response_pairs, response_coreferent = comb(sum(table.response_sizes), 2), _pairs(table.response_sizes)
    both_coreferent = _pairs(table.shared.values())
    # of the pairs that both sides have, those that neither side calls coreferent
    both_distinct = (
        comb(table.shared.total(), 2)
        - _pairs(table.shared_by_key().values())
        - _pairs(table.shared_by_response().values())
        + both_coreferent
    )
    return BlancCounts(
        Counts(both_coreferent, key_coreferent, both_coreferent, response_coreferent),
        Counts(both_distinct, key_pairs - key_coreferent, both_distinct, response_pairs - response_coreferent),
    )
