"""`streamcoref train`: run a recipe."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from streamcoref.training.trainer import Trainer


def train(
    recipe: Annotated[Path, typer.Argument(help="A training recipe, such as recipes/small-baseline.toml.")],
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Set a value: training.epochs=3. May be repeated.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in the recipe's folder.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan and stop.")] = False,
) -> None:
    """Train a model by a recipe. A run that was stopped or killed goes on with --resume."""
    from streamcoref.training.plan import plan
    from streamcoref.training.recipe import read_recipe
    from streamcoref.training.trainer import Trainer

    trainer = Trainer(read_recipe(recipe, settings or ()))
    say = typer.echo if trainer.workers.is_first else lambda *_, **__: None
    if dry_run:
        say(json.dumps(plan(trainer), indent=2))
        return
    if not _run(trainer, resume):
        say(f"stopped and saved after step {trainer.step}; go on with --resume", err=True)
        raise typer.Exit(130)
    best = f"best dev F1 {100 * trainer.best:.2f}" if trainer.dev else "no dev corpus"
    say(f"done: {best}, models in {trainer.folder}/best and {trainer.folder}/last")


def _run(trainer: Trainer, resume: bool) -> bool:
    """With a progress bar on a terminal, silent elsewhere; the log is written in any case."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not trainer.workers.is_first:
        return trainer.run(resume)
    board = _tensorboard(trainer)
    if not console.is_terminal:
        trainer.report = board
        return trainer.run(resume)
    columns = (
        TextColumn("epoch {task.fields[epoch]}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("loss {task.fields[loss]}  dev F1 {task.fields[f1]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as progress:
        task = progress.add_task("", total=trainer.total_steps, epoch="-", loss="-", f1="-")

        def show(line: dict[str, Any]) -> None:
            board(line)
            if line["event"] == "step":
                progress.update(task, completed=line["step"], epoch=line["epoch"], loss=line["loss"])
            elif line.get("dev_f1") is not None:
                progress.update(task, f1=f"{100 * line['dev_f1']:.2f}")
                progress.console.print(f"epoch {line['epoch']}: dev F1 {100 * line['dev_f1']:.2f}")

        trainer.report = show
        return trainer.run(resume)


def _tensorboard(trainer: Trainer) -> Any:
    """A reporter to TensorBoard where the extra `train` is installed, else one that does nothing."""
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:
        return lambda _: None
    writer: Any = None

    def write(line: dict[str, Any]) -> None:
        nonlocal writer
        if writer is None:  # not before the run has made its folder, or said why it cannot
            writer = SummaryWriter(str(trainer.folder / "tensorboard"))
        for name in ("loss", "gradient_norm", "dev_f1"):
            if line.get(name) is not None:
                writer.add_scalar(name, line[name], line["step"])

    return write
