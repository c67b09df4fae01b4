"""Encodings on disk: the same results, and never those of another encoder or text."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from streamcoref.model.encoder import Encoder
from streamcoref.model.segments import Segment
from streamcoref.training.encodings import EncodingCache
from tests.model import toys
from tests.training import synthetic


def encoder(seed: int = 0) -> Encoder:
    return toys.model(toys.config(encoder={"trainable_from": 2}), seed).encoder


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_what_was_encoded_once_is_read_and_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = encoder()
    segments = toys.segments([8, 12, 8])
    first = EncodingCache(model, tmp_path)(segments)
    for segment, vectors in zip(segments, first, strict=True):
        torch.testing.assert_close(vectors, model([segment])[0], rtol=0, atol=0)

    def refuse(_: list[Segment]) -> list[torch.Tensor]:
        raise AssertionError("encoded again")

    cache = EncodingCache(model, tmp_path)
    monkeypatch.setattr(model, "forward", refuse)
    for vectors, again in zip(first, cache(segments), strict=True):
        assert torch.equal(vectors, again)
    assert len(files(tmp_path)) == 3


def test_another_encoder_or_another_text_has_another_key(tmp_path: Path) -> None:
    segments = toys.segments([8])
    EncodingCache(encoder(), tmp_path)(segments)
    one = files(tmp_path)
    model = encoder()
    with torch.no_grad():
        next(model.parameters())[0, 0] += 1e-6  # the smallest change of one weight
    EncodingCache(model, tmp_path)(segments)
    two = files(tmp_path)
    assert len(two) == 2
    assert one < two
    changed = segments[0].piece_ids.copy()
    changed[3] += 1
    EncodingCache(encoder(), tmp_path)([replace(segments[0], piece_ids=changed)])
    assert len(files(tmp_path)) == 3
    EncodingCache(encoder(), tmp_path)([replace(segments[0], position=100)])  # elsewhere in the text: the same pieces
    assert len(files(tmp_path)) == 3


def test_a_run_ends_with_the_same_weights_with_and_without(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=2)
    values["model"]["changes"]["encoder"]["trainable_from"] = 2
    values["model"]["changes"]["dropout"] = 0.3
    models = []
    for name, cache in [("without", None), ("with", str(tmp_path / "cache")), ("again", str(tmp_path / "cache"))]:
        run = synthetic.new_run(values, folder=str(tmp_path / name), cache=cache)
        run.train()
        models.append((tmp_path / name / "last/model.safetensors").read_bytes())
    assert models[0] == models[1] == models[2]
    assert len(files(tmp_path / "cache")) == sum(len(e.segments) for e in run.start.train[0].examples)


def test_it_is_used_only_where_the_encoder_is_frozen(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=1, epochs=1)
    values["model"]["changes"]["encoder"]["trainable_from"] = 1
    assert synthetic.new_run(values, cache=str(tmp_path / "cache")).train()
    assert not (tmp_path / "cache").exists()
