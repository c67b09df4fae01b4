"""Run an experiment in a folder: results.json cell by cell, then a page in Markdown and the plots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from streamcoref.experiments.catalogue import EXPERIMENTS
from streamcoref.experiments.draw import draw, require_plots
from streamcoref.experiments.options import read_options
from streamcoref.experiments.results_file import Report, ResultsFile, fingerprints, run_cells
from streamcoref.formats.files import open_output

# Gets the number of cells, and returns what is told of their progress.
Begin = Callable[[int], Report]


def run_experiment(name: str, config: Path, folder: Path, settings: Sequence[str], begin: Begin) -> list[Path]:
    """Compute what is missing and write everything; the files."""
    require_plots(*(["openTSNE"] if name == "clusters" else []))
    experiment = EXPERIMENTS[name]
    options = read_options(experiment.options, config, settings)
    head = {
        "experiment": name,
        "config": experiment.identity(options),
        "files": fingerprints(experiment.inputs(options)),
    }
    cells = experiment.cells(options, folder)
    results = ResultsFile(folder, head)
    found = run_cells(cells, results, begin(len(cells)))
    page = folder / f"{name}.md"
    with open_output(page, force=True) as stream:
        stream.write(experiment.page(options, found))
    return [results.path, page, *draw(experiment.plots(options, found), folder)]
