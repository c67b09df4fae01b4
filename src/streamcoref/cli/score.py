"""`streamcoref score`: compare a response with a key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamcoref.errors import InputError

if TYPE_CHECKING:
    from streamcoref.metrics import Scores
    from streamcoref.metrics.pairing import Answer

LABELS = {
    "mentions": "Mention detection",
    "muc": "MUC",
    "bcub": "B-cubed",
    "ceafm": "CEAF-m",
    "ceafe": "CEAF-e",
    "blanc": "BLANC",
    "lea": "LEA",
}


def score(
    key: Annotated[Path, typer.Argument(metavar="KEY", help="The file with the right clusters.", show_default=False)],
    response: Annotated[
        Path,
        typer.Argument(
            metavar="RESPONSE",
            help="The file to judge: its predicted clusters, or else its clusters.",
            show_default=False,
        ),
    ],
    key_format: Annotated[
        str | None, typer.Option(metavar="FORMAT", help="Format of KEY, if not to be recognised.", show_default=False)
    ] = None,
    response_format: Annotated[
        str | None,
        typer.Option(metavar="FORMAT", help="Format of RESPONSE, if not to be recognised.", show_default=False),
    ] = None,
    drop_singletons: Annotated[
        bool, typer.Option("--drop-singletons", help="Remove clusters of one mention from both sides first.")
    ] = False,
    allow_missing: Annotated[
        bool,
        typer.Option("--allow-missing", help="Count a document that one side lacks as missing; otherwise an error."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, figures from 0 to 1, instead of the table.")
    ] = False,
) -> None:
    """Score RESPONSE against KEY with all metrics; documents are matched by their key.

    The figures are those of the official CoNLL scorer 8.01, summed over all documents.
    """
    from streamcoref.metrics import Scores, score_document
    from streamcoref.metrics.pairing import pair_answers

    total = Scores()
    missing = {"key": 0, "response": 0}
    answers = _answers(key, key_format, False), _answers(response, response_format, True)
    for gold, given in pair_answers(*answers, allow_missing=allow_missing):
        missing["key"] += gold is None
        missing["response"] += given is None
        total += score_document(
            gold.clusters if gold else (), given.clusters if given else (), singletons=not drop_singletons
        )
    if not total.documents:
        raise InputError("no documents to score, here or in the response; check that these are the right files", key)
    if as_json:
        import json

        result = total.to_dict() | {"missing_in_key": missing["key"], "missing_in_response": missing["response"]}
        typer.echo(json.dumps(result))
    else:
        _print_table(total, missing, drop_singletons)


def _answers(path: Path, format_name: str | None, predicted: bool) -> Iterator[Answer]:
    """The documents of a file, one by one, each with the clusters that count."""
    seen: set[str] = set()
    for answer in _read(path, format_name, predicted):
        if answer.key in seen:
            raise InputError(f"document {answer.key!r} comes twice; every document needs a key of its own", path)
        seen.add(answer.key)
        yield answer


def _read(path: Path, format_name: str | None, predicted: bool) -> Iterator[Answer]:
    from streamcoref.formats import conll2012, detect, read_documents
    from streamcoref.formats.files import read_lines
    from streamcoref.metrics.pairing import Answer

    # A pipe can be read only once, so its format is not asked for in advance.
    if (format_name or (detect(path) if path.is_file() else None)) == conll2012.FORMAT.name:
        # Unmerged, as the official scorer reads it: a Document joins clusters that share a mention.
        for raw in conll2012.read_raw(read_lines(path), path):
            yield Answer(raw.key, len(raw.words), raw.clusters)
        return
    for document in read_documents(path, format_name):
        clusters = document.predicted_clusters if predicted else None
        yield Answer(document.key, len(document.words), document.clusters if clusters is None else clusters)


def _print_table(total: Scores, missing: dict[str, int], drop_singletons: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("metric", no_wrap=True)
    for column in ("precision", "recall", "F1"):
        table.add_column(column, justify="right", no_wrap=True)
    for name, metric in total.metrics().items():
        table.add_row(LABELS[name], *(f"{100 * x:.2f}" for x in (metric.precision, metric.recall, metric.f1)))
    table.add_section()
    table.add_row("CoNLL average", "", "", f"{100 * total.conll_f1:.2f}", style="bold")
    console = Console(highlight=False)
    console.print(table)
    lines = [
        f"{_documents(total.documents)}, singletons {'dropped' if drop_singletons else 'kept'}; "
        f"{total.key_mentions} mentions in the key, {total.response_mentions} in the response"
    ]
    for side, number in missing.items():
        if number:
            lines.append(f"missing from the {side} and counted against the score: {_documents(number)}")
    console.print("\n".join(lines), soft_wrap=True)


def _documents(number: int) -> str:
    return "1 document" if number == 1 else f"{number} documents"
