"""`length`, the paper's Table 2: average F1 by document length and number of speakers, with differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from streamcoref.evaluation import DocumentResult, Evaluation, Group, group_documents, total_scores
from streamcoref.evaluation.report import Table, markdown
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
from streamcoref.experiments.paper import TABLE_2, TABLE_2_COLUMNS
from streamcoref.experiments.plot import Plot, Series

_KINDS = ("length", "speakers", "all")
_PUBLISHED = ", as the paper's code counts"


def page(options: ComparisonOptions, found: Found) -> str:
    by_corpus = found_evaluations(options, found)
    tables = []
    for corpus, evaluations in by_corpus.items():
        documents = evaluations[_grouping(options)].documents
        tables.append(_table(options, corpus, evaluations, _groups(documents), "pieces"))
        tables.append(_table(options, f"{corpus}{_PUBLISHED}", evaluations, published_groups(documents), "last word"))
    return (
        "# By length and speakers (the paper's Table 2)\n\n"
        f"Average F1 in percent. Lengths are in pieces of the model {_grouping(options)!r}, special ones not counted, "
        "as the paper says. Its code counts otherwise, and so does a second table of each corpus: by the number of the "
        "last word, from 0, and documents of the genres bc and tc, by their keys, have several speakers. "
        "Columns of the paper are for OntoNotes 5.0 (development).\n\n"
        + "\n".join(map(markdown, tables))
        + "\n"
        + seeds_section(options, found)
        + settings_notes(options, found)
    )


def _grouping(options: ComparisonOptions) -> str:
    """The model whose pieces decide on the groups, so that every column is over the same documents."""
    return next((model.name for model in options.models if model.name != options.baseline), options.models[0].name)


def _groups(documents: Sequence[DocumentResult]) -> list[Group]:
    return [group for group in group_documents(documents) if group.kind in _KINDS]


def published_groups(documents: Sequence[DocumentResult]) -> list[Group]:
    """The rows of the table as the paper's code fills them."""
    as_counted = [
        replace(
            document,
            pieces=document.words - 1,  # the last entry of `subtoken_map`: the number of the last word
            speakers=2 if document.key[:2] in ("bc", "tc") else 1,
        )
        for document in documents
    ]
    return _groups(as_counted)


def _table(
    options: ComparisonOptions, title: str, evaluations: dict[str, Evaluation], groups: Sequence[Group], unit: str
) -> Table:
    paper = [model.paper for model in options.models if model.paper in TABLE_2_COLUMNS]
    columns = ["documents", "docs"]
    for model in options.models:
        columns += [model.name] if _is_base(options, model.name) else [model.name, "difference"]
    sections: dict[str, list[list[str]]] = {}
    units = {"length": unit, "speakers": "speakers", "all": ""}
    for group in groups:
        row = [f"{units[group.kind]} {group.name}".strip(), str(len(group.members))]
        base = None if options.baseline is None else _f1(evaluations[options.baseline], group)
        for model in options.models:
            figure = _f1(evaluations[model.name], group)
            row.append(f"{figure:.2f}")
            if not _is_base(options, model.name):
                row.append(NONE if base is None else f"{figure - base:+.2f}")
        theirs = TABLE_2.get((group.kind, group.name))
        row.append(NONE if theirs is None else str(theirs[0]))
        row += [NONE if theirs is None else f"{theirs[TABLE_2_COLUMNS[name]]:.1f}" for name in paper]
        sections.setdefault(group.kind, []).append(row)
    columns += ["paper: docs", *(OUR_NAMES[name] for name in paper)]
    return Table(title, columns, list(sections.values()))


def _is_base(options: ComparisonOptions, name: str) -> bool:
    return name == options.baseline


def _f1(evaluation: Evaluation, group: Group) -> float:
    return 100 * total_scores(evaluation.documents[number] for number in group.members).conll_f1


def plots(options: ComparisonOptions, found: Found) -> list[Plot]:
    first, *_ = found_evaluations(options, found).values()  # all corpora together
    groups = [group for group in _groups(first[_grouping(options)].documents) if group.kind == "length"]
    series = [
        Series(
            model.name,
            [group.name for group in groups],
            [_f1(first[model.name], group) for group in groups],
            "line",
            hover=[f"{group.name} pieces: {len(group.members)} documents" for group in groups],
            colour=number,
        )
        for number, model in enumerate(options.models)
    ]
    return [Plot("length", "Average F1 by document length", "pieces", "average F1, %", series)]


LENGTH = Experiment("length", ComparisonOptions, identity, inputs, cells, page, plots)
