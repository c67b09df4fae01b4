"""The dev corpora of a recipe: what a model scores on them while it learns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.evaluation.changes import with_eviction
from streamcoref.metrics import TypeCounts
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.evict import NoEvictionOptions
from streamcoref.training.data import TrainingCorpus

DevScores = dict[str, dict[str, Any]]  # by corpus


def dev_scores(checkpoint: Checkpoint, corpora: Sequence[TrainingCorpus], evict: bool = True) -> DevScores:
    """Scores on each corpus, as `streamcoref evaluate` computes them; without `evict` every entity stays."""
    if not evict and checkpoint.model.reads_streams:
        checkpoint = with_eviction(checkpoint, NoEvictionOptions())
    results = {}
    for corpus in corpora:
        options = corpus.options
        documents = [example.document for example in corpus.examples]
        scheme = options.scheme or checkpoint.config.schemes[0]  # as it was trained, whatever the corpus is called
        dev = EvaluationCorpus(options.name, documents, scheme, options.singletons)
        found = evaluate(checkpoint, [dev])
        results[options.name] = found.scores.to_dict()
        if found.types:
            every = sum(found.types.values(), TypeCounts())
            results[options.name]["types"] = {"f1": every.f1, "accuracy": every.accuracy}
    return results


def mean_f1(scores: DevScores) -> float | None:
    """By which epochs are compared; None without a dev corpus."""
    return sum(s["conll_f1"] for s in scores.values()) / len(scores) if scores else None
