"""`streamcoref train`: run a recipe."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from streamcoref.cli.settings import check_settings

if TYPE_CHECKING:
    from streamcoref.training import LogListener, TrainingRun


def train(
    recipe: Annotated[
        Path,
        typer.Argument(help="A training recipe, such as recipes/small-baseline.toml, or a chain of them."),
    ],
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="Set a value, in every leg of a chain: training.epochs=3. May be repeated."),
    ] = None,
    code: Annotated[
        list[Path] | None,
        typer.Option("--code", metavar="FILE", help="Python code whose parts the model may name. May be repeated."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the recipe's folder.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan, with hours and sizes, and stop.")] = False,
) -> None:
    """Train a model by a recipe, or by a chain of recipes, each from the model
    of the one before. What was stopped or killed goes on with --resume.
    """
    from huggingface_hub.utils import logging as hub_logging

    from streamcoref.model.parts import load_code
    from streamcoref.training import read_chain
    from streamcoref.training.distributed import Workers

    # One sentence says at the end that the hub cannot be reached; each of its tries would say so before.
    hub_logging.set_verbosity(logging.ERROR)
    for file in code or ():
        load_code(file)
    chain = read_chain(recipe, check_settings(settings))
    is_first = Workers().is_first
    say = typer.echo if is_first else lambda *_, **__: None
    if dry_run:
        say(json.dumps(chain.plan(timed=True), indent=2))
        return

    def train_leg(run: TrainingRun, resume: bool) -> bool:
        if not _train(run, resume):
            say(f"stopped and saved after step {run.standing.step}; go on with --resume", err=True)
            return False
        best = f"best dev F1 {100 * run.standing.best:.2f}" if run.start.dev else "no dev corpus"
        say(f"done: {best}, models in {run.folder.path}/best and {run.folder.path}/last")
        return True

    if not chain.train(resume, train_leg):
        raise typer.Exit(130)
    if chain.bundle is not None:
        for file in sorted(chain.bundle.folder.iterdir()) if is_first else ():  # the others do not wait for it
            say(f"{file.stat().st_size / 1e6:8.1f} MB  {file.name}")
        say(f"done: the model is in {chain.bundle.folder}")


def _train(run: TrainingRun, resume: bool) -> bool:
    """With a progress bar on a terminal, silent elsewhere; the log is written in any case."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not run.workers.is_first:
        return run.train(resume)
    board = _tensorboard(run.folder.path / "tensorboard")
    if not console.is_terminal:
        return run.train(resume, board)
    columns = (
        TextColumn("epoch {task.fields[epoch]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]}  dev F1 {task.fields[f1]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=run.total_steps, epoch="-", loss="-", f1="-")

        def show(line: dict[str, Any]) -> None:
            board(line)
            if line["event"] == "step":
                progress.update(task, completed=line["step"], epoch=line["epoch"], loss=line["loss"])
            elif line.get("dev_f1") is not None:
                progress.update(task, f1=f"{100 * line['dev_f1']:.2f}")
                progress.console.print(f"epoch {line['epoch']}: dev F1 {100 * line['dev_f1']:.2f}")

        return run.train(resume, show)


def _tensorboard(folder: Path) -> LogListener:
    """Writes to TensorBoard where the extra `train` is installed, else nothing."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return lambda _: None
    writer: Any = None

    def write(line: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:  # not before the run has made its folder, or said why it cannot
            writer = SummaryWriter(str(folder))
        for name in ("loss", "gradient_norm", "dev_f1"):
            if line.get(name) is not None:
                writer.add_scalar(name, line[name], line["step"])

    return write
