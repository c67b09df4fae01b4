"""A run from Python: what it says, when it ends, what it refuses."""

from __future__ import annotations

import re
import signal
from pathlib import Path
from typing import Any

import pytest

import streamcoref.training
from streamcoref.errors import Remedy, StreamcorefError
from tests.training import synthetic

DOCS = Path(__file__).resolve().parents[2] / "docs" / "training.md"


def test_public_names() -> None:
    assert sorted(streamcoref.training.__all__) == [
        "BundleOptions",
        "Chain",
        "LogListener",
        "Recipe",
        "TrainingRun",
        "bundle",
        "plan",
        "read_chain",
        "read_recipe",
    ]
    assert all(hasattr(streamcoref.training, name) for name in streamcoref.training.__all__)


def test_the_documentations_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    values = synthetic.recipe(tmp_path, documents=2)
    (tmp_path / "recipes").mkdir()
    synthetic.write_recipe(tmp_path / "recipes/tiny.toml", values)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"^```python\n(.*?)^```$", DOCS.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    found: dict[str, Any] = {}
    exec(compile(code, str(DOCS), "exec"), found)
    assert found["run"].standing.epochs == found["recipe"].training.epochs == 3
    assert (tmp_path / "run/best/model.safetensors").is_file()


def test_a_listener_gets_every_line_of_the_log(tmp_path: Path) -> None:
    lines: list[dict[str, Any]] = []
    run = synthetic.new_run(synthetic.recipe(tmp_path, documents=2, epochs=2))
    assert run.train(listener=lines.append)
    assert lines == synthetic.log(run.folder.path)
    assert [line["event"] for line in lines] == ["step", "step", "epoch"] * 2


def test_patience_ends_a_run_that_gets_no_better(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=1, patience=2)
    values["training"]["head_rate"] = values["training"]["encoder_rate"] = 1e-12
    run = synthetic.new_run(values)
    assert run.train()
    assert run.standing.finished
    epochs = [line["epoch"] for line in synthetic.log(run.folder.path) if line["event"] == "epoch"]
    assert epochs == [1, 2, 3]


def test_a_folder_that_has_a_run_is_refused_in_pythons_words(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=1, epochs=1)
    assert synthetic.new_run(values).train()
    with pytest.raises(StreamcorefError) as caught:
        synthetic.new_run(values).train()
    assert caught.value.remedy is Remedy.RESUME
    assert str(caught.value) == (
        f"{tmp_path / 'run'} has a run already; give resume=True to go on with it, or choose another run.folder"
    )


def test_a_run_that_was_interrupted_goes_on_in_the_same_process(tmp_path: Path) -> None:
    run = synthetic.new_run(synthetic.recipe(tmp_path, documents=3, epochs=1))

    def interrupt(line: dict[str, Any]) -> None:
        if line["step"] == 2:
            signal.raise_signal(signal.SIGINT)

    assert not run.train(listener=interrupt)
    assert run.standing.step == 2
    assert run.train(resume=True)
    assert [line["step"] for line in synthetic.log(run.folder.path)] == [1, 2, 3, 3]


@pytest.mark.parametrize("setting", ["epochs", "=3", " = 3"])
def test_a_setting_that_sets_nothing_is_told_without_a_flag(setting: str) -> None:
    from streamcoref.training.recipe import parse_setting

    with pytest.raises(StreamcorefError) as caught:
        parse_setting(setting)
    assert str(caught.value) == f"{setting}: write it as key=value, for example training.epochs=3"
