"""Files that take another's place: as a whole, or nothing is left of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref._replacing import replacing
from streamcoref.model import weight_files
from streamcoref.training import saving
from streamcoref.training.saving import RunFolder
from tests import toy_resolver


def test_at_the_end_and_not_before(tmp_path: Path) -> None:
    target = tmp_path / "answer.txt"
    target.write_text("old")
    with replacing(target) as part:
        part.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("error", [SystemExit, KeyboardInterrupt, OSError])
def test_nothing_is_left_of_what_was_not_finished(error: type[BaseException], tmp_path: Path) -> None:
    """SIGTERM ends a command by SystemExit."""
    target = tmp_path / "answer.txt"
    target.write_text("old")

    def write() -> None:
        with replacing(target) as part:
            part.write_text("half")
            raise error

    with pytest.raises(error):
        write()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_what_a_killed_process_left_is_written_over(tmp_path: Path) -> None:
    target = tmp_path / "answer.txt"
    with replacing(target) as left:
        left.write_text("old")
    left.write_text("of a process that was killed")
    with replacing(target) as part:
        part.write_text("new")
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


def test_a_training_run_that_is_ended_while_it_saves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, resolver = RunFolder(tmp_path), toy_resolver.resolver()
    run.save_state({"step": torch.tensor(1)})
    run.save_model("best", resolver.checkpoint, 1)
    before = sorted(tmp_path.rglob("*"))

    def ended(_values: Any, path: Path, **_: Any) -> None:
        path.write_bytes(b"half")
        raise SystemExit

    monkeypatch.setattr(saving.torch, "save", ended)
    monkeypatch.setattr(weight_files, "save_file", ended)
    with pytest.raises(SystemExit):
        run.save_state({"step": torch.tensor(2)})
    with pytest.raises(SystemExit):
        run.save_model("best", resolver.checkpoint, 2)
    assert sorted(tmp_path.rglob("*")) == before
    assert run.load_state(torch.device("cpu")) == {"step": torch.tensor(1)}
