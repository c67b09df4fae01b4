"""Options of several commands: `--set` where a TOML file is read, `--precision` where texts are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from streamcoref._precisions import PrecisionName, precision_named
from streamcoref.errors import StreamcorefError

PrecisionOption = Annotated[
    PrecisionName,
    typer.Option(
        "--precision",
        metavar="NAME",
        help="float32, or int8: faster on CPUs with VNNI, for nearly the same answers.",
        parser=precision_named,
    ),
]


def check_settings(settings: Sequence[str] | None) -> Sequence[str]:
    """The values of `--set`, each of which must be `key=value`."""
    from streamcoref.training.recipe import parse_setting

    for setting in settings or ():
        try:
            parse_setting(setting)
        except StreamcorefError as error:
            raise StreamcorefError(f"--set {error}") from error
    return settings or ()
