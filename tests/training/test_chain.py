"""Recipes one after the other: planned before any has run, trained, stopped and resumed, and bundled at the end."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.model.checkpoint import load_checkpoint
from streamcoref.training import TrainingRun, read_chain
from streamcoref.training.start import prepare
from streamcoref.training.timing import estimate_seconds
from tests.training import synthetic

LABELS = {"types": ["person", "place"], "kinds": ["PROP", "PRON"], "hidden": 4}


def leg(folder: Path, name: str, start_from: str | None = None, **changes: Any) -> None:
    values = synthetic.recipe(folder, documents=2, epochs=2)
    values["run"] |= {"folder": str(folder / "runs" / name), "checkpoint_minutes": 0}
    values["model"]["changes"] |= {**synthetic.BASELINE, "labels": LABELS, **changes}
    if start_from is not None:
        values["model"]["start_from"] = str(folder / "runs" / start_from)
        values["model"]["changes"]["encoder"].pop("name", None)
    synthetic.write_recipe(folder / f"{name}.toml", values)


@pytest.fixture
def chain(tmp_path: Path) -> Path:
    """A baseline and the incremental model converted from it."""
    leg(tmp_path, "first")
    leg(tmp_path, "second", "first/best", kind="incremental", encoder={"trainable_from": 1})
    bundle = {"source": str(tmp_path / "runs/second/best"), "folder": str(tmp_path / "model"), "weights": "float16"}
    return synthetic.write_recipe(tmp_path / "chain.toml", {"legs": ["first.toml", "second.toml"], "bundle": bundle})


def run(*arguments: object) -> str:
    result = CliRunner().invoke(app, ["train", *map(str, arguments)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.stdout


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_checkpoint(folder).model.state_dict()


def test_the_plan_is_there_before_any_model_is(tmp_path: Path, chain: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    plan = json.loads(run(chain, "--dry-run"))
    assert [one["kind"] for one in plan["legs"]] == ["baseline", "incremental"]
    assert [Path(one["folder"]).name for one in plan["legs"]] == ["first", "second"]
    assert all(one["hours"] >= 0 and one["disk_gb"] >= 0 and one["steps"] == 4 for one in plan["legs"])
    assert plan["hours"] == pytest.approx(sum(one["hours"] for one in plan["legs"]), abs=0.02)
    assert "bundle" not in plan["legs"][0]
    assert plan["legs"][1]["bundle"] == {
        "folder": str(tmp_path / "model"),
        "weights": "float16",
        "files_mb": {"model.safetensors": pytest.approx(2e-6 * plan["legs"][1]["parameters"], abs=0.06)},
    }
    assert sorted(tmp_path.rglob("*")) == before, "nothing is written"


@pytest.mark.usefixtures("chain")
def test_a_teacher_is_a_model_that_is_there_or_made_by_a_leg_before(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=1)
    values["run"]["folder"] = str(tmp_path / "runs/taught")
    values["corpora"][0]["teachers"] = [str(tmp_path / "runs/first/best")]
    synthetic.write_recipe(tmp_path / "taught.toml", values)
    late = synthetic.write_recipe(tmp_path / "late.toml", {"legs": ["taught.toml", "first.toml"]})
    with pytest.raises(StreamcorefError, match="runs/first/best"):
        read_chain(late).check(resume=False)
    good = synthetic.write_recipe(tmp_path / "good.toml", {"legs": ["first.toml", "taught.toml"]})
    plan = json.loads(run(good, "--dry-run"))
    assert plan["legs"][1]["train_documents"] == {"toy": 2}
    run(good)
    assert (tmp_path / "runs/taught/best/config.json").exists()


@pytest.mark.usefixtures("chain")
def test_a_leg_may_go_on_with_the_config_of_the_one_before(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=1)
    values["run"]["folder"] = str(tmp_path / "runs/third")
    values["model"] = {"start_from": str(tmp_path / "runs/second/best"), "changes": {"update": {"name": "mean"}}}
    synthetic.write_recipe(tmp_path / "third.toml", values)
    legs = ["first.toml", "second.toml", "third.toml"]
    longer = synthetic.write_recipe(tmp_path / "longer.toml", {"legs": legs})
    plan = json.loads(run(longer, "--dry-run"))["legs"]
    assert [one["kind"] for one in plan] == ["baseline", "incremental", "incremental"]
    assert plan[2]["parameters"] < plan[1]["parameters"]  # the mean has nothing to learn
    run(longer)
    before, after = (load_checkpoint(tmp_path / "runs" / name / "best").config for name in ("second", "third"))
    assert after.update.name == "mean"
    assert after.pair_score == before.pair_score
    assert after.labels == before.labels


def test_hours_follow_the_epochs(chain: Path) -> None:
    def seconds(*settings: str) -> float:
        recipe = read_chain(chain, settings).legs[0]
        return estimate_seconds(prepare(recipe), recipe)

    assert seconds("training.epochs=500") > 20 * seconds("training.epochs=2") > 0


def test_every_leg_is_trained_from_the_one_before_and_bundled(tmp_path: Path, chain: Path) -> None:
    output = run(chain)
    assert output.count("done: best dev F1") == 2
    assert output.rstrip().endswith(f"done: the model is in {tmp_path / 'model'}")
    size = (tmp_path / "model" / "model.safetensors").stat().st_size / 1e6
    assert f"{size:8.1f} MB  model.safetensors\n" in output
    first, second, made = (weights(tmp_path / path) for path in ("runs/first/best", "runs/second/best", "model"))
    frozen = "encoder.model.encoder.layer.0.output.dense.weight"
    assert torch.equal(first[frozen], second[frozen])
    assert second.keys() - made.keys() == {name for name in second if name.startswith("labels.heads.kinds.")}
    assert torch.equal(made[frozen], second[frozen].half().float())
    config = load_checkpoint(tmp_path / "model").config
    assert (config.labels.types, config.labels.kinds, config.encoder.trainable_from) == (("person", "place"), (), None)
    with safe_open(tmp_path / "model" / "model.safetensors", framework="pt") as file:
        assert file.get_tensor(frozen).dtype == torch.float16


def test_stopped_in_a_later_leg_it_goes_on_there(tmp_path: Path, chain: Path) -> None:
    stopped: list[str] = []

    def stop_in_the_second(one: TrainingRun, resume: bool) -> bool:
        def stop(line: dict[str, Any]) -> None:
            if one.folder.path.name == "second" and line["event"] == "step":
                signal.raise_signal(signal.SIGINT)

        stopped.append(one.folder.path.name)
        return one.train(resume, stop)

    assert not read_chain(chain).train(train=stop_in_the_second)
    assert stopped == ["first", "second"]
    assert not (tmp_path / "model").exists()
    log = (tmp_path / "runs/first/log.jsonl").read_text(encoding="utf-8")
    with pytest.raises(StreamcorefError) as caught:
        run(chain)
    assert caught.value.remedy is Remedy.RESUME
    run(chain, "--resume")
    assert (tmp_path / "runs/first/log.jsonl").read_text(encoding="utf-8") == log, "the first leg was finished"
    resumed = weights(tmp_path / "model")

    (tmp_path / "whole").mkdir()
    leg(tmp_path / "whole", "first")
    leg(tmp_path / "whole", "second", "first/best", kind="incremental", encoder={"trainable_from": 1})
    values = {"source": str(tmp_path / "whole/runs/second/best"), "folder": str(tmp_path / "whole/model")}
    run(
        synthetic.write_recipe(tmp_path / "whole/chain.toml", {"legs": ["first.toml", "second.toml"], "bundle": values})
    )
    assert all(torch.equal(tensor, resumed[name]) for name, tensor in weights(tmp_path / "whole/model").items())


def test_what_no_leg_could_begin_with_is_said_before_any_has_begun(tmp_path: Path, chain: Path) -> None:
    leg(tmp_path, "second", "third/best")
    with pytest.raises(StreamcorefError, match=r"there is no model folder .*third/best"):
        run(chain)
    leg(tmp_path, "second", "first/best", kind="incremental")
    (tmp_path / "runs/second").mkdir(parents=True)
    (tmp_path / "runs/second/log.jsonl").write_text("")
    with pytest.raises(StreamcorefError, match="second has a run already"):
        run(chain)
    synthetic.write_recipe(chain, {"legs": ["first.toml", "first.toml"]})
    with pytest.raises(StreamcorefError, match=r"two legs have the run\.folder"):
        run(chain)
    bundle = {
        "source": str(tmp_path / "runs/first/best"),
        "folder": str(tmp_path / "model"),
        "earlier": {"model": "runs/nobody/best", "share": 0.1},
    }
    synthetic.write_recipe(chain, {"legs": ["first.toml"], "bundle": bundle})
    with pytest.raises(StreamcorefError, match=r"there is no model folder .*nobody/best"):
        run(chain)
    synthetic.write_recipe(chain, {"legs": ["first.toml"], "length": 3})
    with pytest.raises(StreamcorefError, match=r"chain.toml: length: unknown key"):
        run(chain)
    assert not (tmp_path / "runs/first").exists()
