"""Evaluate a model on corpora: figures by group, entities alive, memory, time. See docs/evaluation.md."""

from streamcoref.evaluation.gold import Survey, survey
from streamcoref.evaluation.groups import Group, group_documents
from streamcoref.evaluation.measure import AnsweredDocument, answers, evaluate, settle
from streamcoref.evaluation.report import Table, markdown, tables, to_dict
from streamcoref.evaluation.results import (
    CorpusSettings,
    DocumentResult,
    Evaluation,
    EvaluationCorpus,
    total_scores,
)
from streamcoref.evaluation.tensor_memory import peak_tensor_bytes

__all__ = [
    "AnsweredDocument",
    "CorpusSettings",
    "DocumentResult",
    "Evaluation",
    "EvaluationCorpus",
    "Group",
    "Survey",
    "Table",
    "answers",
    "evaluate",
    "group_documents",
    "markdown",
    "peak_tensor_bytes",
    "settle",
    "survey",
    "tables",
    "to_dict",
    "total_scores",
]
