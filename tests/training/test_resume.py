"""A run that is killed at any moment and resumed ends as one that never was."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import pytest

from tests.training import synthetic


class Killed(BaseException):
    """Stands for SIGKILL: nothing in a run catches it."""


class Moments:
    """Counts the moments at which a run has just changed or is about to change a file, and ends it at one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.seen = 0
        self.end: int | None = None
        move = Path.replace

        def replace(path: Path, target: Any) -> Path:
            self.tick()
            moved = move(path, target)
            self.tick()
            return moved

        monkeypatch.setattr(Path, "replace", replace)

    def tick(self, line: Any = None) -> None:
        self.seen += 1
        if self.seen == self.end:
            raise Killed

    def run(self, values: dict[str, Any], end: int | None, resume: bool = True) -> bool:
        """Whether the run came to its end before the moment `end`."""
        self.seen, self.end = 0, None
        run = synthetic.new_run(values)
        self.end = end
        try:
            return run.train(resume, listener=self.tick)  # called when a line of the log has been written
        except Killed:
            return False


def tiny(folder: Path) -> dict[str, Any]:
    values = synthetic.recipe(
        folder, documents=2, epochs=2, warm_up=0.5, schedule="linear", evict=True, hidden_pieces=0.1
    )
    values["model"]["changes"]["dropout"] = 0.3
    values["run"]["checkpoint_minutes"] = 0
    return values


def in_folder(values: dict[str, Any], folder: Path) -> dict[str, Any]:
    return {**values, "run": {**values["run"], "folder": str(folder)}}


def outcome(folder: Path) -> tuple[bytes, bytes, list[dict[str, Any]]]:
    """Both models bit for bit, and the log without what a clock says."""
    lines = synthetic.log(folder)
    for line in lines:
        line.pop("seconds", None)
    weights = [(folder / name / "model.safetensors").read_bytes() for name in ("best", "last")]
    return weights[0], weights[1], lines


@pytest.fixture
def moments(monkeypatch: pytest.MonkeyPatch) -> Moments:
    return Moments(monkeypatch)


@pytest.mark.slow
def test_killed_at_any_moment_and_resumed_it_ends_the_same(tmp_path: Path, moments: Moments) -> None:
    values = tiny(tmp_path)
    assert moments.run(in_folder(values, tmp_path / "whole"), None, resume=False)
    expected = outcome(tmp_path / "whole")
    assert [(line["event"], line["step"]) for line in expected[2]] == [
        *(("step", 1), ("step", 2), ("epoch", 2)),
        *(("step", 3), ("step", 4), ("epoch", 4)),
    ]
    count = moments.seen
    assert count > 20
    for end in range(1, count + 1):
        folder = tmp_path / f"killed at {end}"
        assert not moments.run(in_folder(values, folder), end, resume=False)
        assert moments.run(in_folder(values, folder), None)
        assert outcome(folder) == expected, f"killed at moment {end} of {count}"


def test_interrupted_after_any_step_it_saves_and_goes_on_the_same(tmp_path: Path) -> None:
    values = {**tiny(tmp_path)}
    values["run"]["checkpoint_minutes"] = 60  # nothing is saved but by the interruption, and at the end of an epoch
    assert synthetic.new_run(values, folder=str(tmp_path / "whole")).train()
    for last in range(1, 5):
        folder = tmp_path / f"interrupted after {last}"
        run = synthetic.new_run(values, folder=str(folder))

        def interrupt(line: dict[str, Any], last: int = last) -> None:
            if (line["event"], line["step"]) == ("step", last):
                signal.raise_signal(signal.SIGINT)

        assert not run.train(listener=interrupt)
        assert run.standing.step == last
        assert synthetic.new_run(values, folder=str(folder)).train(resume=True)
        assert outcome(folder) == outcome(tmp_path / "whole"), f"interrupted after step {last}"


def test_interrupting_is_the_users_again_when_a_run_is_over(tmp_path: Path) -> None:
    before = signal.getsignal(signal.SIGINT)
    synthetic.new_run(tiny(tmp_path)).train()
    assert signal.getsignal(signal.SIGINT) is before


def test_early_stopping_survives_a_resumption(tmp_path: Path, moments: Moments) -> None:
    values = synthetic.recipe(tmp_path, documents=1, epochs=9, patience=2)
    values["training"]["head_rate"] = values["training"]["encoder_rate"] = 1e-12  # nothing gets better
    values["run"]["checkpoint_minutes"] = 0
    assert moments.run(values, None, resume=False)
    count = moments.seen
    folder = tmp_path / "killed"
    moments.run(in_folder(values, folder), count - 12, resume=False)
    assert moments.run(in_folder(values, folder), None)
    epochs = [line["epoch"] for line in outcome(folder)[2] if line["event"] == "epoch"]
    assert epochs == [1, 2, 3]


def test_a_line_cut_short_by_the_kill_is_dropped_from_the_log(tmp_path: Path, moments: Moments) -> None:
    values = tiny(tmp_path)
    folder = tmp_path / "run"
    assert not moments.run(values, 5, resume=False)
    with (folder / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"event": "step", "step": 2, "lo')
    assert moments.run(values, None)
    steps = [line["step"] for line in outcome(folder)[2] if line["event"] == "step"]
    assert steps == [1, 2, 3, 4]
