"""The command `streamcoref`: one file a command. Heavy imports happen inside the commands, so `--help` is quick."""

from __future__ import annotations

import os
import signal
import sys
from typing import Annotated

import typer

from streamcoref import __version__
from streamcoref.cli import corpus, entities, evaluate, experiment, import_, resolve, score, serve, train
from streamcoref.cli._closed_streams import replace_closed_streams
from streamcoref.cli.remedies import sentence
from streamcoref.errors import StreamcorefError

app = typer.Typer(
    name="streamcoref",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"streamcoref {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    _version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Coreference resolution for English text of any length, in constant memory."""


app.command("resolve")(resolve.resolve)
app.command("entities")(entities.entities)
app.command("serve")(serve.serve)
app.add_typer(corpus.app, name="corpus")
app.command("score")(score.score)
app.command("evaluate")(evaluate.evaluate)
app.command("experiment")(experiment.experiment)
app.command("train")(train.train)
app.command("import")(import_.import_)


def _terminate(number: int, _frame: object) -> None:
    sys.exit(128 + number)  # the status that a shell gives to a command that a signal has ended


def main() -> None:
    """Run a command. A user's mistake is one sentence on standard error and exit status 2.

    SIGTERM ends a command as an error would: what is half written is removed, and what a store has stays.
    """
    signal.signal(signal.SIGTERM, _terminate)
    replace_closed_streams()
    try:
        app()
    except StreamcorefError as error:
        sys.stderr.write(f"streamcoref: {sentence(error)}\n")
        sys.exit(2)
    except MemoryError:
        sys.stderr.write(
            "streamcoref: there is not enough memory; a text of any length can go into a store, -o book.sqlite\n"
        )
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output, such as `head`, has gone: not an error
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
