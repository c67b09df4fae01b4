"""What becomes of a model that is handed to others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import load_checkpoint, save_checkpoint
from streamcoref.model.features.agreement import Value
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer
from streamcoref.training import BundleOptions, bundle
from streamcoref.training.bundling import bundled_mb, lean, penalise
from tests.evaluation import toy_evaluation
from tests.model import toys


def test_the_card_stays_and_heads_that_only_taught_leave(tmp_path: Path) -> None:
    labels: dict[str, Any] = {"types": ["person", "place"], "statuses": ["new", "giv:act"]}
    given = toy_evaluation.checkpoint(labels=labels, encoder={"trainable_from": 1, "attention_dropout": 0.0})
    save_checkpoint(tmp_path / "run", given, "# A run\n")
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "README.md").write_text("# By hand\n", encoding="utf-8")
    bundle(BundleOptions(source=tmp_path / "run", folder=tmp_path / "model", weights="float32"))
    assert (tmp_path / "model" / "README.md").read_text(encoding="utf-8") == "# By hand\n"
    made = load_checkpoint(tmp_path / "model")
    assert made.config.labels.heads == {"types": ("person", "place")}
    assert (made.config.encoder.trainable_from, made.config.encoder.attention_dropout) == (None, None)
    mine, theirs = made.model.state_dict(), given.model.state_dict()
    assert {name for name in theirs if name not in mine} == {n for n in theirs if n.startswith("labels.heads.statuses")}
    assert all(torch.equal(tensor, theirs[name]) for name, tensor in mine.items())
    bundle(BundleOptions(source=tmp_path / "run", folder=tmp_path / "other", heads=()))
    assert load_checkpoint(tmp_path / "other").config.labels.heads == {}


def test_in_eight_bits_and_in_files_as_planned(tmp_path: Path) -> None:
    given = toy_evaluation.checkpoint(labels={"types": ["person", "place"], "kinds": ["PROP", "PRON"]})
    save_checkpoint(tmp_path / "run", given, "# A run\n")
    options = BundleOptions(source=tmp_path / "run", folder=tmp_path / "model", weights="int8", max_file_mb=0.03)
    bundle(options)
    made = load_checkpoint(tmp_path / "model").model.state_dict()
    assert made.keys() == {name for name in given.model.state_dict() if not name.startswith("labels.heads.kinds.")}
    files = {file.name: file.stat().st_size for file in sorted((tmp_path / "model").glob("*.safetensors"))}
    assert len(files) > 1
    assert max(files.values()) <= 30_000
    planned = bundled_mb(options, given.model)
    assert planned.keys() == files.keys()
    assert sum(planned.values()) * 1e6 <= sum(files.values()) + 50_000 * len(files)  # rounded to 0.1 MB
    one = bundled_mb(options.model_copy(update={"max_file_mb": 95}), given.model)
    assert one.keys() == {"model.safetensors"}


@torch.no_grad()
def test_conflicts_cost_the_penalty_and_nothing_else_changes() -> None:
    scorer = {"name": "coarse_to_fine", "hidden": 8, "shortlist": 4, "feature_size": 4}
    names = {"features": ["distance", "agreement"], "prior_features": ["distance", "agreement"]}
    model = toys.model(toys.config(pair_score=scorer | names), 0)
    assert isinstance(model.pair_score, CoarseToFineScorer)

    def tables() -> tuple[torch.Tensor, torch.Tensor]:
        folded = model.pair_score.fold_features({"genre": 0, "scheme": 0})
        assert folded.refine is not None
        return folded.score.reshape(10, len(Value)), folded.refine[torch.arange(10 * len(Value))]

    score, refine = tables()
    penalise(model, 2.5)
    expected = torch.zeros(len(Value))
    conflicts = [Value.SHARED_NAME, Value.OTHER_NAME, Value.OTHER_GENDER, Value.OTHER_SPEAKER, Value.SAME_SPEAKER_OTHER]
    expected[conflicts] = 2.5
    after, refine_after = tables()
    torch.testing.assert_close(score - after, expected.expand(10, -1), atol=1e-4, rtol=0)
    assert torch.equal(refine_after, refine)


@torch.no_grad()
def test_schemes_lean_as_they_are_told_and_no_other_does(tmp_path: Path) -> None:
    light = {"name": "light", "size": 16, "two_outputs": True, "own_weights": True}
    given = toy_evaluation.checkpoint(spans={"scorer": light}, schemes=["one", "two"])
    save_checkpoint(tmp_path / "run", given, "# A run\n")
    bundle(
        BundleOptions(source=tmp_path / "run", folder=tmp_path / "model", weights="float32", biases={"two": (1, -2)})
    )
    made = load_checkpoint(tmp_path / "model").model
    (segment,) = toys.segments([30])
    pieces = torch.randn(len(segment), made.encoder.hidden_size)
    every = torch.arange(len(given.model.spans.score(pieces, segment, 0)[0]))
    for scheme, mention, link in ((0, 0, 0), (1, 1, -2)):
        before, after = (model.spans.score(pieces, segment, scheme)[1] for model in (given.model.eval(), made))
        torch.testing.assert_close(
            after.prune - before.prune, torch.full_like(before.prune, mention), atol=1e-4, rtol=0
        )
        added = after.link_of(every) - before.link_of(every)
        torch.testing.assert_close(added, torch.full_like(added, link), atol=1e-4, rtol=0)


def test_an_earlier_model_is_blended_in(tmp_path: Path) -> None:
    given = toy_evaluation.checkpoint()
    models = [given, given._replace(model=toys.model(given.config, 7))]
    for name, checkpoint in zip(("last", "first"), models, strict=True):
        save_checkpoint(tmp_path / name, checkpoint, "# A run\n")
    options = {"source": tmp_path / "last", "folder": tmp_path / "model", "weights": "float32"}
    bundle(BundleOptions(**options, earlier={"model": tmp_path / "first", "share": 0.25}))
    made = load_checkpoint(tmp_path / "model").model.state_dict()
    last, first = (checkpoint.model.state_dict() for checkpoint in models)
    for name, tensor in made.items():
        if tensor.is_floating_point():
            torch.testing.assert_close(tensor, 0.75 * last[name] + 0.25 * first[name], atol=1e-5, rtol=1e-4)


def test_who_cannot_lean_says_so() -> None:
    model = toys.model(toys.config(schemes=["one"]), 0)
    with pytest.raises(StreamcorefError, match="the model has no scheme 'three'; it has one"):
        lean(model, {"three": (1, 0)})
    with pytest.raises(StreamcorefError, match="only a scorer with own_weights and two outputs has biases of schemes"):
        lean(model, {"one": (1, 0)})
