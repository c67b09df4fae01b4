"""Pieces hidden in training: as many as asked for, others at each visit, never in evaluation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder import Encoder
from streamcoref.model.segments import Segment
from streamcoref.training.hidden_pieces import HiddenPieces
from tests.model import toys
from tests.training import synthetic

MASK = 4  # of the toy tokenizer


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[tuple[bool, Segment]]:
    """Every segment that an encoder was given, and whether it was training."""
    seen: list[tuple[bool, Segment]] = []
    forward = Encoder.forward

    def watched(self: Encoder, segments: list[Segment]) -> list[torch.Tensor]:
        seen.extend((self.training, segment) for segment in segments)
        return forward(self, segments)

    monkeypatch.setattr(Encoder, "forward", watched)
    return seen


def hiding(share: float) -> HiddenPieces:
    return HiddenPieces(toys.model(toys.config(), 0).encoder, toys.tokenizer(), share)


def test_a_share_of_the_pieces_others_each_time(read: list[tuple[bool, Segment]]) -> None:
    segments = toys.segments([60] * 40)
    torch.manual_seed(1)
    encode = hiding(0.2)
    vectors = encode(segments)
    encode(segments)
    assert [len(v) for v in vectors] == [60] * 40
    once, again = read[:40], read[40:]
    hidden = [np.flatnonzero(given.piece_ids == MASK) for _, given in once]
    assert 0.17 < sum(map(len, hidden)) / (40 * 58) < 0.23
    for (_, given), segment in zip(once, segments, strict=True):
        kept = given.piece_ids != MASK
        assert (given.piece_ids[kept] == segment.piece_ids[kept]).all()
        assert kept[[0, -1]].all()
        assert given.words == segment.words  # what features are made of
        assert (segment.piece_ids != MASK).all()  # the document is as it was
    assert any((a.piece_ids != b.piece_ids).any() for (_, a), (_, b) in zip(once, again, strict=True))


@pytest.mark.parametrize("kind", [{}, synthetic.BASELINE], ids=["incremental", "baseline"])
def test_in_training_and_not_in_evaluation(
    tmp_path: Path, read: list[tuple[bool, Segment]], kind: dict[str, Any]
) -> None:
    values = synthetic.recipe(tmp_path, documents=3, epochs=1, hidden_pieces=0.5)
    values["model"]["changes"].update(kind)
    assert synthetic.new_run(values).train()
    hidden = dict.fromkeys((True, False), 0)
    for training, segment in read:
        hidden[training] += int((segment.piece_ids == MASK).sum())
    assert hidden[True] > 0
    assert hidden[False] == 0
    assert {training for training, _ in read} == {True, False}


def test_an_encoder_that_does_not_learn_is_refused(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=1, hidden_pieces=0.1, encoder_rate=0)
    with pytest.raises(StreamcorefError, match="hidden_pieces is for an encoder that learns"):
        synthetic.new_run(values)


def test_a_tokenizer_without_a_mask_is_refused() -> None:
    tokenizer = toys.tokenizer()
    tokenizer.tokenizer.mask_token = None
    with pytest.raises(StreamcorefError, match="has none"):
        HiddenPieces(toys.model(toys.config(), 0).encoder, tokenizer, 0.1)
