"""`streamcoref experiment`, run as a user runs it: killed, resumed, refused."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.cli.experiment import Name
from streamcoref.errors import StreamcorefError
from streamcoref.experiments import run as running
from streamcoref.experiments.catalogue import EXPERIMENTS
from streamcoref.formats import write_documents
from tests.cli.commands import run_command
from tests.evaluation import toy_evaluation as toy
from tests.experiments.toy_experiments import write_config
from tests.model.toys import tokenizer
from tests.training import synthetic

COMMAND = [sys.executable, "-c", "from streamcoref.cli import main; main()", "experiment"]


def corpus(folder: Path, documents: int) -> None:
    path = folder / "plain.jsonl"
    write_documents([toy.document(seed, 300) for seed in range(documents)], path, "jsonlines", force=True)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """Six cells of `eviction`."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    corpus(tmp_path, documents=1)
    tokenizer().tokenizer.save_pretrained(tmp_path / "pieces")
    values = {
        "tokenizer": str(tmp_path / "pieces"),
        "max_pieces": 32,
        "singleton": [20, 60],
        "cluster": [40, 80],
        "one_distance": [30, 60],
        "size_times_distance": [20, 40],
        "budget": [5, 10, 20, 40],
        "corpora": [{"name": "plain", "path": str(tmp_path / "plain.jsonl")}],
    }
    return write_config(tmp_path / "eviction.toml", values)


run = partial(run_command, "experiment")


def cells(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "results.json").read_text(encoding="utf-8"))["cells"]
    return found


def without_time(found: dict[str, Any]) -> dict[str, Any]:
    return {key: {name: v for name, v in values.items() if name != "seconds"} for key, values in found.items()}


def test_every_experiment_has_its_name() -> None:
    assert [name.value for name in Name] == list(EXPERIMENTS)
    assert list(EXPERIMENTS) == ["main", "length", "memory", "clusters", "segments", "eviction", "ablation", "books"]


def test_the_files_are_named_and_there(tmp_path: Path, config: Path) -> None:
    folder = tmp_path / "out"
    output = run("eviction", "--config", config, "-o", folder)
    names = ["results.json", "eviction.md", "eviction-plain.png", "eviction-plain.html"]
    assert output.splitlines() == [str(folder / name) for name in names]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert len(cells(folder)) == 6
    before = (folder / "results.json").read_bytes()
    run("eviction", "--config", config, "-o", folder)
    assert (folder / "results.json").read_bytes() == before  # nothing is computed again, or its seconds would differ


def test_another_config_or_experiment_is_refused(tmp_path: Path, config: Path) -> None:
    run("eviction", "--config", config, "-o", tmp_path / "out")
    with pytest.raises(StreamcorefError, match=r"made with other values of config\.max_pieces; choose another folder"):
        run("eviction", "--config", config, "-o", tmp_path / "out", "--set", "max_pieces=64")


def test_an_unknown_name_and_a_missing_config_are_told() -> None:
    result = CliRunner().invoke(app, ["experiment", "maine", "--config", "x.toml", "-o", "y"])
    assert result.exit_code == 2
    assert "maine" in result.stderr
    with pytest.raises(StreamcorefError, match=r"gone\.toml: the config cannot be read: No such file or directory"):
        run("main", "--config", "gone.toml", "-o", "y")


def test_a_config_that_is_no_toml_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.toml").write_text("[models\n", encoding="utf-8")
    with pytest.raises(StreamcorefError, match=f"^{tmp_path}/x.toml: "):
        run("main", "--config", tmp_path / "x.toml", "-o", tmp_path / "y")


def test_a_missing_extra_is_told_before_any_work(tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(*_: str) -> None:
        raise StreamcorefError("experiments need plotly")

    monkeypatch.setattr(running, "require_plots", missing)
    with pytest.raises(StreamcorefError, match="experiments need plotly"):
        run("eviction", "--config", config, "-o", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_ctrl_c_says_how_to_go_on(tmp_path: Path, config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(running, "run_cells", interrupted)
    result = CliRunner().invoke(app, ["experiment", "eviction", "--config", str(config), "-o", str(tmp_path / "out")])
    assert result.exit_code == 130
    assert result.stderr == (f"stopped; what was found is in {tmp_path}/out, and the same command goes on from there\n")


# It kills itself as soon as a file has so many of something: another process might be too slow to see it on a busy
# machine.
KILLED = """
import os, pathlib, signal, sys, threading, time
path, what, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
def watch():
    while not (path.exists() and path.read_text().count(what) >= count):
        time.sleep(0.001)
    os.kill(os.getpid(), signal.SIGKILL)
threading.Thread(target=watch, daemon=True).start()
sys.argv[1:] = sys.argv[4:]
from streamcoref.cli import main
main()
"""


def kill(arguments: list[str], path: Path, what: str, count: int) -> int:
    """Start and kill as soon as a file has a string so many times; its exit status."""
    command = [sys.executable, "-c", KILLED, str(path), what, str(count), "experiment", *arguments]
    return subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode


@pytest.mark.slow
def test_killed_again_and_again_it_ends_the_same(tmp_path: Path, config: Path) -> None:
    corpus(tmp_path, documents=60)  # so that a cell takes a moment
    whole, folder = tmp_path / "whole", tmp_path / "killed"
    run("eviction", "--config", config, "-o", whole)
    seen: dict[str, Any] = {}
    kills = 0
    for count in (1, 3, 5):
        arguments = ["eviction", "--config", str(config), "-o", str(folder)]
        kills += kill(arguments, folder / "results.json", '"seconds"', count) < 0
        found = cells(folder)
        assert found.items() >= seen.items()  # what was found stays, its seconds too
        seen = found
    assert kills >= 2
    assert len(seen) < 6 or kills == 3
    run("eviction", "--config", config, "-o", folder)
    assert without_time(cells(folder)) == without_time(cells(whole))
    assert (folder / "eviction.md").read_text() == (whole / "eviction.md").read_text()
    assert sorted(path.name for path in folder.glob("*.*")) == sorted(path.name for path in whole.glob("*.*"))


@pytest.mark.slow
def test_killed_while_it_trains_it_goes_on_with_the_step(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    values = synthetic.recipe(tmp_path, documents=5, epochs=6)
    values["run"]["checkpoint_minutes"] = 0
    recipe = synthetic.write_recipe(tmp_path / "recipe.toml", values)
    grid = {"recipe": str(recipe), "factors": [{"key": "training.clip", "values": [0.5]}]}
    config = write_config(tmp_path / "ablation.toml", grid)
    arguments = ["ablation", "--config", str(config), "-o", str(tmp_path / "killed")]
    log = tmp_path / "killed/runs/0-the-recipe-as-it-is-seed-1/log.jsonl"
    assert kill(arguments, log, "\n", 8) == -signal.SIGKILL
    run(*arguments)
    run("ablation", "--config", config, "-o", tmp_path / "whole")
    assert without_time(cells(tmp_path / "killed")) == without_time(cells(tmp_path / "whole"))
    steps = [json.loads(line)["step"] for line in log.read_text().splitlines() if '"step", ' in line]
    assert steps == list(range(1, 31))


@pytest.mark.slow
def test_bars_are_for_terminals_only(tmp_path: Path, config: Path) -> None:
    for number, (terminal, shown) in enumerate((("1", True), ("0", False))):
        environment = os.environ | {"TTY_COMPATIBLE": terminal, "TTY_INTERACTIVE": terminal}
        command = [*COMMAND, "eviction", "--config", str(config), "-o", str(tmp_path / str(number))]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        assert ("plain | budget" in re.sub(r"\x1b\[[\d;?]*\w", "", result.stderr)) == shown
        assert "cells" not in result.stdout
        if not shown:
            assert result.stderr == ""


@pytest.mark.slow
def test_a_mistake_exits_with_status_2_and_no_traceback(tmp_path: Path) -> None:
    command = [*COMMAND, "main", "--config", "missing.toml", "-o", "out"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("streamcoref: ")
    assert len(result.stderr.splitlines()) == 1
