"""Coreference metrics, equal to the official scorer 8.01: MUC, B-cubed, CEAF, BLANC, LEA, mention detection.

`score_documents` gives all of them, `score_files` for two files; `muc.count`, `bcub.count` and so on give one;
`count_types` is of the types of entities. See docs/metrics.md.
"""

from streamcoref.metrics import bcub, blanc, ceafe, ceafm, lea, mentions, muc
from streamcoref.metrics.blanc import BlancCounts
from streamcoref.metrics.comparing import Comparison, score_files
from streamcoref.metrics.counts import Counts
from streamcoref.metrics.overlap import Clusters
from streamcoref.metrics.scores import Scores, score_document, score_documents
from streamcoref.metrics.types import TypeCounts, add_types, count_types

__all__ = [
    "BlancCounts",
    "Clusters",
    "Comparison",
    "Counts",
    "Scores",
    "TypeCounts",
    "add_types",
    "bcub",
    "blanc",
    "ceafe",
    "ceafm",
    "count_types",
    "lea",
    "mentions",
    "muc",
    "score_document",
    "score_documents",
    "score_files",
]
