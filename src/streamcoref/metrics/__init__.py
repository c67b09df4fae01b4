"""Coreference metrics, equal to the official scorer 8.01: MUC, B-cubed, CEAF, BLANC, LEA, mention detection.

`score_documents` gives all of them; `muc.count`, `bcub.count` and so on give one. See docs/metrics.md.
"""

from streamcoref.metrics.blanc import BlancCounts
from streamcoref.metrics.counts import Counts
from streamcoref.metrics.overlap import Clusters
from streamcoref.metrics.scores import Scores, score_document, score_documents

__all__ = ["BlancCounts", "Clusters", "Counts", "Scores", "score_document", "score_documents"]
