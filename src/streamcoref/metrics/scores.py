"""All metrics at once, summed over documents: figures of a corpus are ratios of sums, never means of documents."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields

from streamcoref.metrics import bcub, blanc, ceafe, ceafm, lea, mentions, muc
from streamcoref.metrics.blanc import ZERO_BLANC, BlancCounts
from streamcoref.metrics.counts import ZERO, Counts
from streamcoref.metrics.overlap import Clusters, distinct


@dataclass(frozen=True, slots=True)
class Scores:
    """The counts of every metric over some documents. Add two to join their documents: `sum(scores, Scores())`.

    Each metric has `precision`, `recall` and `f1`, from 0 to 1.
    """

    documents: int = 0
    mentions: Counts = ZERO
    muc: Counts = ZERO
    bcub: Counts = ZERO
    ceafm: Counts = ZERO
    ceafe: Counts = ZERO
    blanc: BlancCounts = ZERO_BLANC
    lea: Counts = ZERO

    def __add__(self, other: Scores) -> Scores:
        return Scores(*(getattr(self, one.name) + getattr(other, one.name) for one in fields(self)))

    @property
    def conll_f1(self) -> float:
        """The CoNLL average: the mean F1 of MUC, B-cubed and CEAF-e."""
        return (self.muc.f1 + self.bcub.f1 + self.ceafe.f1) / 3

    @property
    def key_mentions(self) -> int:
        return round(self.mentions.recall_denominator)

    @property
    def response_mentions(self) -> int:
        return round(self.mentions.precision_denominator)

    def metrics(self) -> dict[str, Counts | BlancCounts]:
        """The metrics by name, in the order in which they are shown."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "documents"}

    def to_dict(self) -> dict[str, float | dict[str, float]]:
        """Plain values for JSON, figures from 0 to 1."""
        result: dict[str, float | dict[str, float]] = {
            "documents": self.documents,
            "key_mentions": self.key_mentions,
            "response_mentions": self.response_mentions,
        }
        for name, metric in self.metrics().items():
            result[name] = {"precision": metric.precision, "recall": metric.recall, "f1": metric.f1}
        result["conll_f1"] = self.conll_f1
        return result


def score_document(key: Clusters, response: Clusters, singletons: bool = True) -> Scores:
    """Score one document. Without `singletons`, clusters of one mention are first removed from both sides."""
    key, response = distinct(key), distinct(response)
    if not singletons:
        key = [cluster for cluster in key if len(cluster) > 1]
        response = [cluster for cluster in response if len(cluster) > 1]
    return Scores(
        documents=1,
        mentions=mentions.count(key, response),
        muc=muc.count(key, response),
        bcub=bcub.count(key, response),
        ceafm=ceafm.count(key, response),
        ceafe=ceafe.count(key, response),
        blanc=blanc.count(key, response),
        lea=lea.count(key, response),
    )


def score_documents(pairs: Iterable[tuple[Clusters, Clusters]], singletons: bool = True) -> Scores:
    """Score pairs of key and response clusters, one pair a document, taken one by one."""
    return sum((score_document(key, response, singletons) for key, response in pairs), Scores())
