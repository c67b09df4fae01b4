"""`main`, the paper's Table 1: the baseline, the incremental model, and it without eviction, by every metric."""

from __future__ import annotations

from streamcoref.evaluation import Evaluation
from streamcoref.evaluation.report import Table, figures, markdown, relative_loss
from streamcoref.experiments.base import NONE, Experiment, Found
from streamcoref.experiments.comparison import (
    OUR_NAMES,
    ComparisonOptions,
    cells,
    found_evaluations,
    identity,
    inputs,
    seeds_section,
    settings_notes,
)
from streamcoref.experiments.options import ModelChoice
from streamcoref.experiments.paper import TABLE_1
from streamcoref.experiments.plot import Plot, Series
from streamcoref.metrics import Scores


def page(options: ComparisonOptions, found: Found) -> str:
    by_corpus = found_evaluations(options, found)
    tables = [_table(options, corpus, evaluations) for corpus, evaluations in by_corpus.items()]
    return (
        "# Main results (the paper's Table 1)\n\n"
        "Figures in percent. Rows of the paper are for OntoNotes 5.0 (test) and stand here to compare the loss, not "
        "the level.\n\n"
        + "\n".join(map(markdown, tables))
        + "\n"
        + seeds_section(options, found)
        + settings_notes(options, found)
    )


def _table(options: ComparisonOptions, corpus: str, evaluations: dict[str, Evaluation]) -> Table:
    columns = ["model", "docs", *figures(Scores()), "difference", "relative loss %"]
    base = None if options.baseline is None else evaluations[options.baseline].scores.conll_f1
    ours = []
    for model in options.models:
        evaluation = evaluations[model.name]
        values = figures(evaluation.scores)
        compared = _compared(100 * values["Avg. F1"], None if base is None else 100 * base)
        ours.append(
            [model.name, str(len(evaluation.documents)), *(f"{100 * v:.2f}" for v in values.values()), *compared]
        )
    return Table(corpus, columns, [ours, _paper(options)])


def _paper(options: ComparisonOptions) -> list[list[str]]:
    rows = []
    for model in options.models:
        if model.paper in TABLE_1:
            values = TABLE_1[model.paper]
            base = _papers_baseline(options)
            compared = _compared(values[-1], base, digits=1)
            rows.append([OUR_NAMES[model.paper], "348", *(f"{v:.1f}" for v in values), NONE, *compared])
    return rows


def _papers_baseline(options: ComparisonOptions) -> float | None:
    chosen: list[ModelChoice] = [model for model in options.models if model.name == options.baseline]
    return TABLE_1[chosen[0].paper][-1] if chosen and chosen[0].paper in TABLE_1 else None


def _compared(figure: float, base: float | None, digits: int = 2) -> list[str]:
    loss = None if base is None else relative_loss(figure, base)
    if base is None or loss is None:
        return [NONE, NONE]
    return [f"{figure - base:+.{digits}f}", f"{100 * loss:.2f}"]


def plots(options: ComparisonOptions, found: Found) -> list[Plot]:
    by_corpus = found_evaluations(options, found)
    series = [
        Series(
            model.name,
            list(by_corpus),
            [100 * evaluations[model.name].scores.conll_f1 for evaluations in by_corpus.values()],
            "bars",
            colour=number,
        )
        for number, model in enumerate(options.models)
    ]
    return [Plot("main", "Average F1 (MUC, B3, CEAF-e)", "corpus", "average F1, %", series)]


MAIN = Experiment("main", ComparisonOptions, identity, inputs, cells, page, plots)
