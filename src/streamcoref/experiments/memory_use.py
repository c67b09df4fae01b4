"""`memory`, the paper's Table 3 and Figure 1: the peak size of tensors in inference, document by document."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from streamcoref.evaluation import DocumentResult, Evaluation
from streamcoref.evaluation.report import Table, markdown
from streamcoref.experiments.base import NONE, Cell, Experiment, Found
from streamcoref.experiments.comparison import (
    OUR_NAMES,
    ComparisonOptions,
    evaluated,
    evaluation_cells,
    identity,
    inputs,
)
from streamcoref.experiments.evaluating import evaluation_of, joined
from streamcoref.experiments.options import ModelChoice
from streamcoref.experiments.paper import TABLE_3
from streamcoref.experiments.plot import Plot, Series

MB = 1e6
MEASURES = {
    "cpu": "on the CPU, by a dispatch mode of torch that watches every operation and sums the storages alive",
    "cuda": "on the GPU, by torch.cuda's own count of allocated bytes",
}


class Line(NamedTuple):
    """bytes = slope * pieces + start, by least squares; `fit` is the share of the variance that it explains (R²)."""

    slope: float
    start: float
    fit: float


def cells(options: ComparisonOptions, folder: Path) -> list[Cell]:
    return evaluation_cells(options, folder, memory=True)


def fitted_line(pieces: Sequence[int], sizes: Sequence[int]) -> Line | None:
    """None where all documents are equally long, so that no line can be told."""
    x, y = np.array(pieces, dtype=np.float64), np.array(sizes, dtype=np.float64)
    if len(x) == 0 or np.ptp(x) == 0:
        return None
    slope = float(((x - x.mean()) * (y - y.mean())).sum() / ((x - x.mean()) ** 2).sum())
    start = float(y.mean() - slope * x.mean())
    spread = float(((y - y.mean()) ** 2).sum())
    left = float(((y - slope * x - start) ** 2).sum())
    return Line(slope, start, 1 - left / spread if spread else 1.0)


def _evaluation(options: ComparisonOptions, found: Found, model: ModelChoice) -> Evaluation:
    return joined([evaluation_of(evaluated(model, corpus, found)) for corpus in options.corpora])


def _peak(document: DocumentResult) -> int:
    assert document.peak_bytes is not None, "measured in every cell"
    return document.peak_bytes


def page(options: ComparisonOptions, found: Found) -> str:
    rows = []
    for model in options.models:
        evaluation = _evaluation(options, found, model)
        weights = evaluated(model, options.corpora[0], found)["weights_bytes"]
        pieces = [document.pieces for document in evaluation.documents]
        sizes = [_peak(document) for document in evaluation.documents]
        line = fitted_line(pieces, sizes)
        entities = evaluation.peak_entities
        rows.append(
            [
                model.name,
                str(len(pieces)),
                f"{min(pieces):,} to {max(pieces):,}",
                f"{weights / MB:,.1f}",
                f"{min(sizes) / MB:,.1f}",
                f"{max(sizes) / MB:,.1f}",
                f"{(weights + max(sizes)) / MB:,.1f}",
                NONE if line is None else f"{line.slope:,.0f}",
                NONE if line is None else f"{line.fit:.3f}",
                NONE if entities is None else f"{entities:,}",
                f"{100 * evaluation.scores.conll_f1:.2f}" if model.preset is None else NONE,
            ]
        )
    columns = [
        *("model", "docs", "pieces", "weights, MB", "smallest peak, MB", "largest peak, MB"),
        *("with weights, MB", "slope, bytes a piece", "fit, R²", "peak entities", "F1, %"),
    ]
    theirs = [[OUR_NAMES[name], gigabytes, f"{f1:.1f}"] for name, (gigabytes, f1) in TABLE_3.items()]
    measures = {evaluated(m, c, found)["device"] for m in options.models for c in options.corpora}
    return (
        "# Memory in inference (the paper's Table 3 and Figure 1)\n\n"
        "A peak is the largest size of all tensors that are alive at once while a document is read, without the "
        f"model's weights. Measured {'; '.join(MEASURES[measure] for measure in sorted(measures))}. The slope is that "
        "of a line through all documents, by least squares. A model without F1 has random weights.\n\n"
        + markdown(Table("Peak size of tensors", columns, [rows]))
        + "\n"
        + markdown(Table("The paper's Table 3: OntoNotes 5.0, development", ["model", "GPU, GB", "F1, %"], [theirs]))
        + "\nThe paper measures its Table 3 on the GPU with the weights, and gives no slope.\n"
    )


def plots(options: ComparisonOptions, found: Found) -> list[Plot]:
    series = []
    for number, model in enumerate(options.models):
        documents = _evaluation(options, found, model).documents
        weights = evaluated(model, options.corpora[0], found)["weights_bytes"]
        pieces = [document.pieces for document in documents]
        sizes = [_peak(document) + weights for document in documents]
        hover = [
            f"{document.corpus} {document.key}: {document.pieces:,} pieces, {size / MB:,.1f} MB"
            for document, size in zip(documents, sizes, strict=True)
        ]
        series.append(Series(model.name, pieces, [size / MB for size in sizes], hover=hover, colour=number))
        line = fitted_line(pieces, sizes)
        if line is not None:
            ends = [min(pieces), max(pieces)]
            heights = [(line.slope * end + line.start) / MB for end in ends]
            series.append(Series(f"{line.slope:,.0f} bytes a piece", ends, heights, "line", colour=number))
    title = "Peak size of tensors in inference, the model's weights included"
    return [Plot("memory", title, "pieces of the document", "MB", series)]


MEMORY = Experiment("memory", ComparisonOptions, identity, inputs, cells, page, plots)
