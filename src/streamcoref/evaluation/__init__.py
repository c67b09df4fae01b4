"""Evaluate a model on corpora: figures by group, entities alive, memory, time. See docs/evaluation.md."""

from streamcoref.evaluation.groups import Group, group_documents
from streamcoref.evaluation.measure import Answer, answers, evaluate, settle
from streamcoref.evaluation.results import (
    CorpusSettings,
    DocumentResult,
    Evaluation,
    EvaluationCorpus,
    total_scores,
)

__all__ = [
    "Answer",
    "CorpusSettings",
    "DocumentResult",
    "Evaluation",
    "EvaluationCorpus",
    "Group",
    "answers",
    "evaluate",
    "group_documents",
    "settle",
    "total_scores",
]
