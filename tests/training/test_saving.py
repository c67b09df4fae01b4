"""How far a run is, and what it keeps of its log."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from streamcoref.training.saving import RunFolder, Standing


def test_the_best_epoch_and_the_end_of_patience() -> None:
    standing = Standing()
    assert [standing.is_better(f1, patience=2) for f1 in (0.5, 0.4, 0.6, 0.6)] == [True, False, True, False]
    assert (standing.best, standing.epochs_without_better, standing.finished) == (0.6, 1, False)
    assert not standing.is_better(0.1, patience=2)
    assert standing.finished


@pytest.mark.parametrize("patience", [2, 3, 5])
def test_patience_from_the_best_epoch_is_the_authors(patience: int) -> None:
    """Their loop: an epoch is not begun if the best one lies `patience` before it, counted from 0, at first -1."""
    figures = [0.5, 0.4, 0.6, 0.6, 0.1, 0.2, 0.7, *[0.3] * 9]
    best, best_epoch, begun = -1.0, -1, 0
    for epoch, f1 in enumerate(figures):
        if epoch - best_epoch >= patience:
            break
        begun += 1
        if f1 > best:
            best, best_epoch = f1, epoch
    standing = Standing()
    epochs = 0
    while not standing.finished:
        standing.is_better(figures[epochs], patience, from_best=True)
        epochs += 1
    assert epochs == begun


def test_without_a_dev_corpus_the_latest_is_the_best() -> None:
    standing = Standing()
    assert all(standing.is_better(None, patience=1) for _ in range(3))
    assert (standing.best, standing.finished) == (-1.0, False)


def test_a_standing_comes_back_from_a_state() -> None:
    standing = Standing(7, 2, 0.5, 1, True)
    assert Standing.from_state({"model": {}, **standing.to_state()}) == standing


def test_lines_after_the_last_state_are_dropped(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path / "a/b")
    folder.make()
    lines = [{"event": "start", "step": 0}, {"event": "step", "step": 1, "epoch": 1}]
    lines += [{"event": "epoch", "step": 1, "epoch": 1}, {"event": "step", "step": 2, "epoch": 2}]
    for line in lines:
        folder.add_line(line)
    with folder.log.open("a", encoding="utf-8") as file:
        file.write('{"event": "st')
    folder.keep_lines(Standing(step=1, epochs=0))
    assert list(map(json.loads, folder.log.read_text(encoding="utf-8").splitlines())) == lines[:2]
    folder.log.unlink()
    folder.keep_lines(Standing())
    assert not folder.log.exists()
