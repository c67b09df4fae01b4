"""An evaluation as tables of text and as values for JSON, alone or next to a baseline's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from streamcoref.evaluation.groups import Group, group_documents
from streamcoref.evaluation.results import DocumentResult, Evaluation, total_scores
from streamcoref.metrics import Scores, TypeCounts, add_types

_TITLES = {"length": "pieces", "speakers": "speakers", "genre": "genre", "corpus": "corpus", "all": ""}
_NONE = "–"


class Table(NamedTuple):
    """`sections` are lists of rows, set apart from each other; a row has a cell for each column."""

    title: str
    columns: list[str]
    sections: list[list[list[str]]]


def tables(model: Evaluation, baseline: Evaluation | None = None) -> list[Table]:
    """Complete scores (the paper's Table 1), average F1 by group (Table 2), types if known, cost (Table 3)."""
    groups = group_documents(model.documents)
    types = [_types(groups, model)] if model.types else []
    return [_complete(groups, model, baseline), _by_group(groups, model, baseline), *types, _cost(model, baseline)]


def figures(scores: Scores) -> dict[str, float]:
    """The figures of the complete table, from 0 to 1, by the names of their columns."""
    result: dict[str, float] = {}
    for name, metric in (("MUC", scores.muc), ("B3", scores.bcub), ("CEAF-e", scores.ceafe)):
        result |= {f"{name} P": metric.precision, f"{name} R": metric.recall, f"{name} F1": metric.f1}
    return result | {"Avg. F1": scores.conll_f1, "mention F1": scores.mentions.f1}


def relative_loss(model: float, baseline: float) -> float | None:
    """How much of the baseline's figure the model loses, as a share; below 0 where it gains."""
    return (baseline - model) / baseline if baseline else None


def _complete(groups: Sequence[Group], model: Evaluation, baseline: Evaluation | None) -> Table:
    sections = []
    for group in groups:
        if group.kind not in ("all", "corpus"):
            continue
        ours = figures(_scores(model, group))
        head = [group.name, str(len(group.members))]
        if baseline is None:
            sections.append([[*head, *map(_percent, ours.values())]])
            continue
        theirs = figures(_scores(baseline, group))
        pairs = [(ours[name], theirs[name]) for name in ours]
        sections.append(
            [
                [*head, "model", *(_percent(a) for a, _ in pairs)],
                ["", "", "baseline", *(_percent(b) for _, b in pairs)],
                ["", "", "difference", *(_difference(a, b) for a, b in pairs)],
                ["", "", "relative loss %", *(_loss(a, b) for a, b in pairs)],
            ]
        )
    if baseline is None:
        sections = [[row for section in sections for row in section]]
    columns = ["corpus", "docs", *([] if baseline is None else [""]), *figures(Scores())]
    return Table("Scores", columns, sections)


def _by_group(groups: Sequence[Group], model: Evaluation, baseline: Evaluation | None) -> Table:
    sections: dict[str, list[list[str]]] = {}
    for group in groups:
        ours = _scores(model, group).conll_f1
        row = [f"{_TITLES[group.kind]} {group.name}".strip(), str(len(group.members)), _percent(ours)]
        if baseline is not None:
            theirs = _scores(baseline, group).conll_f1
            row += [_percent(theirs), _difference(ours, theirs), _loss(ours, theirs)]
        sections.setdefault(group.kind, []).append(row)
    compared = ["Avg. F1"] if baseline is None else ["model", "baseline", "difference", "relative loss %"]
    return Table("Average F1", ["documents", "docs", *compared], list(sections.values()))


def _types(groups: Sequence[Group], model: Evaluation) -> Table:
    """Of the model alone, by corpus; the last row of each is that of all its types together."""
    sections = []
    for group in groups:
        counts = _type_counts(model, group) if group.kind in ("all", "corpus") else {}
        if counts:
            rows = [*counts.items(), ("all", sum(counts.values(), TypeCounts()))]
            sections.append([[group.name, *_type_row(name, found)] for name, found in rows])
    return Table("Types", ["corpus", "type", "mentions", "P", "R", "F1", "right of found"], sections)


def _type_row(name: str, counts: TypeCounts) -> list[str]:
    shares = (counts.precision, counts.recall, counts.f1, counts.accuracy)
    return [name, f"{counts.gold:,}", *map(_percent, shares)]


def _type_counts(evaluation: Evaluation, group: Group) -> dict[str, TypeCounts]:
    return add_types(evaluation.documents[number].types for number in group.members)


def _cost(model: Evaluation, baseline: Evaluation | None) -> Table:
    columns = [model] if baseline is None else [model, baseline]
    rows = [
        ["peak entities alive", *(_NONE if e.peak_entities is None else f"{e.peak_entities:,}" for e in columns)],
        ["seconds in the encoder", *(f"{e.encoder_seconds:.2f}" for e in columns)],
        ["seconds in the rest", *(f"{e.other_seconds:.2f}" for e in columns)],
        ["time in the encoder %", *(_share(e.encoder_seconds, e.other_seconds) for e in columns)],
        ["words a second", *(_rate(e) for e in columns)],
    ]
    if model.peak_bytes is not None:
        peaks = (_NONE if e.peak_bytes is None else f"{e.peak_bytes / 1e6:,.1f}" for e in columns)
        rows.insert(1, ["peak tensor memory besides the model, MB", *peaks])
    return Table("Cost", ["", "model", "baseline"][: 1 + len(columns)], [rows])


def markdown(table: Table) -> str:
    """A table for a page in Markdown."""
    rows = [row for section in table.sections for row in section]
    lines = [_line(table.columns), "|" + "---|" + "---:|" * (len(table.columns) - 1), *map(_line, rows)]
    return f"### {table.title}\n\n" + "\n".join(lines) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def to_dict(model: Evaluation, baseline: Evaluation | None = None) -> dict[str, Any]:
    """Plain values: figures from 0 to 1, seconds, bytes."""
    groups = []
    for group in group_documents(model.documents):
        scores = _scores(model, group)
        values: dict[str, Any] = {"kind": group.kind, "name": group.name, "scores": scores.to_dict()}
        types = _type_counts(model, group)
        if types:
            every = types | {"all": sum(types.values(), TypeCounts())}
            values["types"] = {name: _type_values(counts) for name, counts in every.items()}
        if baseline is not None:
            theirs = _scores(baseline, group)
            pairs = {name: (value, figures(theirs)[name]) for name, value in figures(scores).items()}
            values["baseline"] = theirs.to_dict()
            values["difference"] = {name: ours - base for name, (ours, base) in pairs.items()}
            values["relative_loss"] = {name: relative_loss(ours, base) for name, (ours, base) in pairs.items()}
        groups.append(values)
    result = {"groups": groups, "model": _run(model)}
    return result if baseline is None else result | {"baseline": _run(baseline)}


def _type_values(counts: TypeCounts) -> dict[str, Any]:
    shares = {name: getattr(counts, name) for name in ("precision", "recall", "f1", "accuracy")}
    return {"mentions": counts.gold, **shares}


def _run(evaluation: Evaluation) -> dict[str, Any]:
    return {
        "peak_entities": evaluation.peak_entities,
        "peak_tensor_bytes": evaluation.peak_bytes,
        "encoder_seconds": evaluation.encoder_seconds,
        "other_seconds": evaluation.other_seconds,
        "words": evaluation.words,
        "corpora": [
            {
                "name": corpus.name,
                "scheme": corpus.scheme,
                "singletons": corpus.singletons,
                "answers_singletons": corpus.answers_singletons,
            }
            for corpus in evaluation.corpora
        ],
        "documents": [_document(document) for document in evaluation.documents],
    }


def _document(document: DocumentResult) -> dict[str, Any]:
    return {
        "key": document.key,
        "corpus": document.corpus,
        "genre": document.genre,
        "speakers": document.speakers,
        "words": document.words,
        "pieces": document.pieces,
        "conll_f1": document.scores.conll_f1,
        "mention_f1": document.scores.mentions.f1,
        "encoder_seconds": document.encoder_seconds,
        "other_seconds": document.other_seconds,
        "peak_entities": document.peak_entities,
        "peak_tensor_bytes": document.peak_bytes,
    }


def _scores(evaluation: Evaluation, group: Group) -> Scores:
    return total_scores(evaluation.documents[number] for number in group.members)


def _percent(figure: float) -> str:
    return f"{100 * figure:.2f}"


def _difference(model: float, baseline: float) -> str:
    return f"{100 * (model - baseline):+.2f}"


def _loss(model: float, baseline: float) -> str:
    loss = relative_loss(model, baseline)
    return _NONE if loss is None else f"{100 * loss:.2f}"


def _share(part: float, rest: float) -> str:
    return f"{100 * part / (part + rest):.1f}" if part + rest else _NONE


def _rate(evaluation: Evaluation) -> str:
    seconds = evaluation.encoder_seconds + evaluation.other_seconds
    return f"{evaluation.words / seconds:,.0f}" if seconds else _NONE
