"""`streamcoref score`: compare a response with a key."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from streamcoref.metrics import Comparison

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
    from streamcoref.metrics import score_files

    found = score_files(
        key,
        response,
        key_format=key_format,
        response_format=response_format,
        singletons=not drop_singletons,
        allow_missing=allow_missing,
    )
    if as_json:
        import json

        typer.echo(json.dumps(found.to_dict()))
    else:
        _print_table(found, drop_singletons)


def _print_table(found: Comparison, drop_singletons: bool) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    total = found.scores
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
    for side, number in (("key", found.missing_in_key), ("response", found.missing_in_response)):
        if number:
            lines.append(f"missing from the {side} and counted against the score: {_documents(number)}")
    console.print("\n".join(lines), soft_wrap=True)


def _documents(number: int) -> str:
    return "1 document" if number == 1 else f"{number} documents"
