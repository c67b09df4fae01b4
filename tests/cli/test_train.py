"""`streamcoref train`, run as a user runs it."""

from __future__ import annotations

import json
import logging
import random
import signal
import subprocess
import sys
import types
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from huggingface_hub.utils import logging as hub_logging

from streamcoref._cpu_trial import BOOT, ISA, WITHOUT_AMX, cpu_trouble
from tests.cli.commands import complaint_of, run_command
from tests.training import synthetic
from tests.training.synthetic import log

NO_GPU = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")
COMMAND = [sys.executable, "-c", "from streamcoref.cli import main; main()", "train"]


run, complaint = partial(run_command, "train"), partial(complaint_of, "train")


def short(folder: Path, **training: Any) -> dict[str, Any]:
    return synthetic.recipe(folder, documents=2, epochs=1, **training)


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    return synthetic.write_recipe(tmp_path / "recipe.toml", short(tmp_path))


def test_a_run_leaves_a_log_two_models_and_the_recipe(tmp_path: Path, recipe: Path) -> None:
    output = run(recipe, "--set", "training.epochs=2")
    folder = tmp_path / "run"
    assert output.startswith("done: best dev F1 ")
    lines = log(folder)
    assert [line["event"] for line in lines] == ["step", "step", "epoch"] * 2
    assert lines[0].keys() == {"event", "step", "epoch", "loss", "gradient_norm", "document", "seconds"}
    assert lines[2]["dev"]["toy"]["conll_f1"] == lines[2]["dev_f1"]
    assert json.loads((folder / "recipe.json").read_text(encoding="utf-8"))["training"]["epochs"] == 2
    for name in ("best", "last"):
        assert (folder / name / "model.safetensors").is_file()
        assert (folder / name / "tokenizer.json").is_file()


def test_the_dry_run_prints_the_plan_and_touches_nothing(tmp_path: Path, recipe: Path) -> None:
    plan = json.loads(run(recipe, "--dry-run", "--set", "training.epochs=3"))
    assert plan["kind"] == "incremental"
    assert plan["train_documents"] == plan["dev_documents"] == {"toy": 2}
    assert (plan["epochs"], plan["steps_per_epoch"], plan["steps"]) == (3, 2, 6)
    assert plan["parameters"] > plan["trained_parameters"] > 1000
    assert plan["train_pieces"] >= plan["longest_step_in_pieces"] > 10
    assert plan["memory_gb"] >= 0
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("training.epoch=3", "training.epoch: unknown key"),
        ("trainings.epochs=3", "trainings: unknown key"),
        ("training.epochs=0", "training.epochs: Input should be greater than 0"),
        ("training.epochs=many", "training.epochs: Input should be a valid integer"),
        ("training.epochs.x=3", "training.epochs: Input should be a valid integer"),
        ("training.warm_up=2", "training.warm_up: Input should be less than or equal to 1"),
        ("training.objective=some", "training.objective: Input should be 'most_recent', 'published' or 'all'"),
        ("training.teacher_forcing=-1", "training.teacher_forcing: Input should be greater than or equal to 0"),
        ("run.precision=float8", "run.precision: Input should be 'float32', 'bfloat16' or 'float16'"),
        ("model.preset=huge", "unknown preset 'huge'; known: "),
        ("model.config=also.toml", "model: give either a preset or a config file"),
        ("model.changes.update.name=median", "model.changes: update: unknown name 'median'; known: alpha"),
        ("model.changes.spam=1", "model.changes: spam: unknown key"),
        ("model.changes.segments.max_pieces=4000", "segments.max_pieces is 4000, but this encoder has positions for"),
        ("model.changes.encoder.name=nowhere/at/all", "cannot load the encoder 'nowhere/at/all': "),
        ("model.start_from=no/such/model", "there is no model folder no/such/model"),
        ("corpora=[]", "corpora: "),
        ("run.device=abacus", "run.device: "),
        ("training.seed=-1", "training.seed: Input should be greater than or equal to 0"),
        pytest.param("run.device=cuda", "run.device: ", marks=NO_GPU),
        ("epochs", "--set epochs: write it as key=value, for example training.epochs=3"),
        ("=3", "--set =3: write it as key=value"),
    ],
)
def test_a_wrong_setting_is_named_in_one_sentence(recipe: Path, setting: str, said: str) -> None:
    assert said in complaint(recipe, "--set", setting)


def test_values_that_are_not_toml_are_taken_as_text(tmp_path: Path, recipe: Path) -> None:
    plan = run(recipe, "--dry-run", "--set", f"run.folder={tmp_path}/a b", "--set", "training.schedule=linear")
    assert json.loads(plan)["steps"] == 2


def test_wrong_recipes_are_named_in_one_sentence(tmp_path: Path) -> None:
    missing = tmp_path / "missing.toml"
    assert complaint(missing) == f"cannot read the recipe {missing}: No such file or directory"
    broken = tmp_path / "broken.toml"
    broken.write_text("[training\n", encoding="utf-8")
    assert complaint(broken).startswith(f"{broken}: ")
    broken.write_bytes(b"\xff\xfe")
    assert complaint(broken).startswith(f"{broken}: ")
    broken.write_text("", encoding="utf-8")
    assert complaint(broken) == f"{broken}: " + "; ".join(
        f"{table}: Field required" for table in ("model", "corpora", "training", "run")
    )


def test_corpora_that_cannot_be_read_are_named_in_one_sentence(tmp_path: Path) -> None:
    values = short(tmp_path)
    place = tmp_path / "recipe.toml"
    values["corpora"][0]["path"] = str(tmp_path / "gone.jsonl")
    assert complaint(synthetic.write_recipe(place, values)) == f"{tmp_path / 'gone.jsonl'}: no such file or folder"
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"doc_key": "a", "sentences": []}\n', encoding="utf-8")
    values["corpora"][0]["path"] = str(empty)
    assert complaint(synthetic.write_recipe(place, values)) == f"corpus toy: {empty} has no document with words"
    values["corpora"][0]["format"] = "papyrus"
    assert "papyrus" in complaint(synthetic.write_recipe(place, values))
    values["corpora"] = values["corpora"][1:]
    assert "no corpus to train on" in complaint(synthetic.write_recipe(place, values))


def test_a_mistake_exits_with_status_2_and_no_traceback(tmp_path: Path) -> None:
    result = subprocess.run([*COMMAND, "missing.toml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == "streamcoref: cannot read the recipe missing.toml: No such file or directory\n"


@pytest.mark.skipif(not BOOT.exists(), reason="this system does not tell one boot from another")
def test_a_precision_that_this_cpu_dies_of_is_refused_in_one_sentence(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(ISA, raising=False)
    dies = [sys.executable, "-c", "import os, signal; os.kill(os.getpid(), signal.SIGILL)"]
    assert cpu_trouble("bfloat16", dies) is not None  # which is remembered
    command = [*COMMAND, str(recipe), "--set", "run.device=cpu", "--set", "run.precision=bfloat16"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr == (
        "streamcoref: run.precision: bfloat16 does not work on this CPU: a process that tried a small product was "
        f"ended by SIGILL; set {ISA}={WITHOUT_AMX} before Python is started, or use float32\n"
    )
    assert not (tmp_path / "run").exists()


def test_a_folder_with_a_run_is_refused_without_resume(recipe: Path, tmp_path: Path) -> None:
    run(recipe)
    before = log(tmp_path / "run")
    assert "has a run already; go on with --resume, or choose another run.folder" in complaint(recipe)
    assert log(tmp_path / "run") == before


def test_resuming_with_another_recipe_is_refused_but_a_run_may_change_its_machine(recipe: Path, tmp_path: Path) -> None:
    run(recipe)
    assert "was made by another recipe; resume with the same one" in complaint(
        recipe, "--resume", "--set", "training.clip=2.0"
    )
    run(recipe, "--resume", "--set", "run.checkpoint_minutes=1")
    assert len(log(tmp_path / "run")) == 3  # it was at its end


def test_a_run_that_was_never_begun_can_be_resumed(recipe: Path, tmp_path: Path) -> None:
    run(recipe, "--resume")
    assert len(log(tmp_path / "run")) == 3


def test_a_folder_that_cannot_be_made_is_named_in_one_sentence(recipe: Path) -> None:
    said = complaint(recipe, "--set", f"run.folder={recipe}")
    assert said == f"cannot make the folder of the run, {recipe}: File exists"


HALF = """
from typing import Literal

from streamcoref.model import Surroundings, UpdateOptions
from streamcoref.model import UpdateRule


class Half(UpdateRule):
    def weight(self, span_reading, entity_reading, size):
        return size * 0.0 + 0.5


class HalfOptions(UpdateOptions):
    name: Literal["half_and_half"] = "half_and_half"

    def build(self, around: Surroundings) -> UpdateRule:
        return Half()
"""


def test_a_part_of_ones_own_is_trained(recipe: Path, tmp_path: Path) -> None:
    named = ["--set", "model.changes.update.name=half_and_half"]
    assert "update: unknown name 'half_and_half'" in complaint(recipe, *named)
    code, other = tmp_path / "my part.py", tmp_path / "other.py"
    code.write_text(HALF, encoding="utf-8")
    other.write_text("", encoding="utf-8")
    run(recipe, *named, "--code", other, "--code", code)
    config = json.loads((tmp_path / "run/last/config.json").read_text(encoding="utf-8"))
    assert config["update"] == {"name": "half_and_half"}
    assert len(log(tmp_path / "run")) == 3
    run(recipe, *named, "--code", code, "--resume")  # it is loaded already


def test_code_that_cannot_be_loaded_is_named_in_one_sentence(recipe: Path, tmp_path: Path) -> None:
    assert complaint(recipe, "--code", tmp_path / "gone.py").startswith(f"{tmp_path / 'gone.py'}: ")
    for content in ("def", "1 / 0"):
        wrong = tmp_path / "wrong.py"
        wrong.write_text(content, encoding="utf-8")
        assert complaint(recipe, "--code", wrong).startswith(f"{wrong}: this code cannot be run: ")
    assert not (tmp_path / "run").exists()


def test_without_a_dev_corpus_nothing_is_said_of_its_score(tmp_path: Path) -> None:
    values = short(tmp_path)
    values["corpora"] = values["corpora"][:1]
    said = run(synthetic.write_recipe(tmp_path / "recipe.toml", values))
    assert said == f"done: no dev corpus, models in {tmp_path}/run/best and {tmp_path}/run/last\n"


def test_tensorboard_gets_every_line_where_it_is_installed(
    recipe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, int]] = []
    places: list[str] = []

    class SummaryWriter:
        def __init__(self, folder: str) -> None:
            places.append(folder)

        def add_scalar(self, name: str, value: float, step: int) -> None:
            assert isinstance(value, float)
            written.append((name, step))

    module = types.ModuleType("torch.utils.tensorboard")
    module.SummaryWriter = SummaryWriter  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", module)
    run(recipe)
    assert places == [str(tmp_path / "run/tensorboard")]
    steps = [(name, step) for step in (1, 2) for name in ("loss", "gradient_norm")]
    assert written == [*steps, ("dev_f1", 2)]


def many_steps(folder: Path) -> dict[str, Any]:
    """Forty steps of a twentieth of a second or so: time enough to be stopped."""
    values = synthetic.recipe(folder, documents=5, epochs=8)
    values["model"]["changes"]["dropout"] = 0.3
    values["run"]["checkpoint_minutes"] = 0
    return values


# The command, with a thread beside it that sends it a signal as soon as its log has so many lines. A watcher that is a
# process of its own might not be let run before a whole run is over, on a machine that is busy elsewhere.
STOPPED = """
import os, pathlib, sys, threading, time
log, lines, number = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
def watch():
    while not (log.exists() and len(log.read_bytes().splitlines()) >= lines):
        time.sleep(0.001)
    os.kill(os.getpid(), number)
threading.Thread(target=watch, daemon=True).start()
sys.argv[1:] = sys.argv[4:]
from streamcoref.cli import main
main()
"""


def stop(recipe: Path, folder: Path, lines: int, number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Start or resume a run and send it a signal as soon as its log has got so many lines longer."""
    path = folder / "log.jsonl"
    before = len(path.read_bytes().splitlines()) if path.exists() else 0
    watched = [sys.executable, "-c", STOPPED, str(path), str(before + lines), str(int(number))]
    return subprocess.run([*watched, "train", str(recipe), "--resume"], stderr=subprocess.PIPE, text=True, check=False)


def assert_same_run(folder: Path, whole: Path) -> None:
    for name in ("best", "last"):
        weights = f"{name}/model.safetensors"
        assert (folder / weights).read_bytes() == (whole / weights).read_bytes()
    assert [(x["event"], x["step"]) for x in log(folder)] == [(x["event"], x["step"]) for x in log(whole)]


@pytest.mark.slow
def test_ctrl_c_saves_exits_with_130_and_the_run_goes_on_the_same(tmp_path: Path) -> None:
    values = many_steps(tmp_path)
    recipe = synthetic.write_recipe(tmp_path / "recipe.toml", values)
    stopped = stop(recipe, tmp_path / "run", 3, signal.SIGINT)
    assert stopped.returncode == 130
    step = log(tmp_path / "run")[-1]["step"]
    assert stopped.stderr == f"stopped and saved after step {step}; go on with --resume\n"
    run(recipe, "--resume")
    run(recipe, "--set", f"run.folder={tmp_path}/whole")
    assert_same_run(tmp_path / "run", tmp_path / "whole")


@pytest.mark.slow
def test_killed_again_and_again_it_ends_with_the_same_weights(tmp_path: Path) -> None:
    values = many_steps(tmp_path)
    recipe = synthetic.write_recipe(tmp_path / "recipe.toml", values)
    choose = random.Random()
    kills = 0
    while kills < 5 and stop(recipe, tmp_path / "run", choose.randint(1, 9), signal.SIGKILL).returncode < 0:
        kills += 1
    assert kills > 2
    run(recipe, "--resume")
    run(recipe, "--set", f"run.folder={tmp_path}/whole")
    assert_same_run(tmp_path / "run", tmp_path / "whole")


def test_a_hub_that_cannot_be_reached_is_spoken_of_once(recipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the sentence at the end, and not by each try before."""

    def plan(*_arguments: object) -> dict[str, bool]:
        return {"says_each_try": logging.getLogger("huggingface_hub.utils._http").isEnabledFor(logging.WARNING)}

    hub_logging.set_verbosity(hub_logging.WARNING)
    monkeypatch.setattr("streamcoref.training.chain.plan", plan)
    assert json.loads(run(recipe, "--dry-run")) == {"says_each_try": False}
