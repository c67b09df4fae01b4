"""`streamcoref corpus`: look at corpora and convert them."""

import typer

app = typer.Typer(help="Look at corpora and convert them.", no_args_is_help=True)
