"""The command `streamcoref`: one file a command. Heavy imports happen inside the commands, so `--help` is quick."""

from __future__ import annotations

import os
import sys

import typer

from streamcoref.cli import corpus, entities, evaluate, experiment, import_, resolve, score, train
from streamcoref.errors import StreamcorefError

app = typer.Typer(
    name="streamcoref",
    help="Coreference resolution for text of any length, in constant memory.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("resolve")(resolve.resolve)
app.command("entities")(entities.entities)
app.add_typer(corpus.app, name="corpus")
app.command("score")(score.score)
app.command("evaluate")(evaluate.evaluate)
app.command("experiment")(experiment.experiment)
app.command("train")(train.train)
app.command("import")(import_.import_)


def main() -> None:
    """Run a command. A user's mistake is one sentence on standard error and exit status 2."""
    try:
        app()
    except StreamcorefError as error:
        sys.stderr.write(f"streamcoref: {error}\n")
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone: not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
