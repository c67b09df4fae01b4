"""The cells of experiments that evaluate models: one model on one corpus, every document's counts kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from pydantic import TypeAdapter

from streamcoref.evaluation import Evaluation, EvaluationCorpus, answers, settle
from streamcoref.evaluation.gold import count_gold
from streamcoref.experiments.base import Progress, Values
from streamcoref.experiments.options import RunChoice
from streamcoref.model.checkpoint import Checkpoint

# Counts of every metric and document: sums over any group of documents are exact, whichever table wants them.
_EVALUATION = TypeAdapter(Evaluation)


def evaluate_cell(
    checkpoint: Checkpoint, corpus: EvaluationCorpus, run: RunChoice, progress: Progress, memory: bool = False
) -> Values:
    """`evaluation.evaluate` with progress, as values for JSON; `evaluation_of` makes the evaluation of them again."""
    if run.threads is not None:
        torch.set_num_threads(run.threads)
    gold = count_gold(corpus)
    keep = gold.has_singletons if corpus.singletons is None else corpus.singletons
    corpus = replace(corpus, singletons=keep)
    settings = [settle(corpus, checkpoint.config)]
    results = []
    for number, answer in enumerate(answers(checkpoint, [corpus], settings, run.batch, memory), start=1):
        results.append(answer.result)
        progress(number, gold.documents)
    evaluation = Evaluation(settings, results)
    return {
        "device": checkpoint.model.device.type,
        "scores": evaluation.scores.to_dict(),
        "evaluation": _EVALUATION.dump_python(evaluation, mode="json"),
    }


def evaluation_of(values: Values) -> Evaluation:
    return _EVALUATION.validate_python(values["evaluation"])


def joined(evaluations: Sequence[Evaluation]) -> Evaluation:
    """One model on several corpora."""
    return Evaluation(
        [corpus for evaluation in evaluations for corpus in evaluation.corpora],
        [document for evaluation in evaluations for document in evaluation.documents],
    )
