"""`segments` and `ablation`: models trained by changed recipes, figures that can be made again by hand."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.evaluation.changes import with_eviction
from streamcoref.experiments.ablation import AblationOptions, settings_of
from streamcoref.experiments.segment_lengths import Length, SegmentLengthOptions, with_segments
from streamcoref.model.checkpoint import load_checkpoint
from tests.evaluation import toy_evaluation as toy
from tests.experiments import toy_experiments as toys
from tests.experiments.toy_experiments import table
from tests.training import synthetic

PLOTS = ("matplotlib", "plotly")


@pytest.fixture
def recipe(tmp_path: Path) -> Path:
    for name in PLOTS:
        pytest.importorskip(name)
    values = synthetic.recipe(tmp_path, documents=2, epochs=1)
    return synthetic.write_recipe(tmp_path / "recipe.toml", values)


def cells(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "out/results.json").read_text())["cells"]
    return found


def test_segment_lengths(tmp_path: Path, recipe: Path) -> None:
    config = {
        "recipe": str(recipe),
        "train": [{"sentences": 1}, {"pieces": 32}],
        "inference": [{"sentences": 5}, {"pieces": 16}],
        "most_pieces": 64,
        "corpora": [{"name": "toy", "path": str(tmp_path / "toy2.jsonl")}],
    }
    toys.run("segments", config, tmp_path / "x")
    page = (tmp_path / "x/out/segments.md").read_text(encoding="utf-8")
    header, *rows = table(page, "toy: average F1 by segment length in inference")
    assert header == ["trained with", "5 sentences", "16 pieces"]
    assert [row[0] for row in rows] == ["1 sentence", "32 pieces"]
    runs = tmp_path / "x/out/runs"
    for row, name in zip(rows, ("1-sentence", "32-pieces"), strict=True):
        for figure, length in zip(row[1:], (Length(sentences=5), Length(pieces=16)), strict=True):
            checkpoint = with_eviction(load_checkpoint(runs / name / "best"), "none")
            checkpoint = with_segments(checkpoint, length, 64)
            documents = [synthetic.document(seed) for seed in range(2)]
            assert figure == f"{100 * evaluate(checkpoint, [EvaluationCorpus('toy', documents)]).scores.conll_f1:.2f}"
    trained = json.loads((runs / "1-sentence/recipe.json").read_text())
    segments = {"max_pieces": 64, "max_sentences": 1, "sentences_as": "counted"}
    assert trained["model"]["changes"]["segments"] == segments
    trained = json.loads((runs / "32-pieces/recipe.json").read_text())
    assert trained["model"]["changes"]["segments"] == segments | {"max_pieces": 32, "max_sentences": None}
    assert sorted(path.name for path in (runs / "32-pieces").iterdir()) == ["best", "log.jsonl", "recipe.json"]
    papers = table(page, "The paper's Table 4: OntoNotes 5.0, development")
    assert papers[-1] == ["512 pieces", "67.1", "77.7", "75.6", "79.7"]
    assert list(cells(tmp_path / "x")) == [
        *("1 sentence | training", "1 sentence | 5 sentences | toy", "1 sentence | 16 pieces | toy"),
        *("32 pieces | training", "32 pieces | 5 sentences | toy", "32 pieces | 16 pieces | toy"),
    ]


def test_segments_are_cut_as_named() -> None:
    checkpoint = toy.checkpoint()
    document = toy.document(1, 200)

    def segments(length: Length) -> list[int]:
        return [len(segment) for segment in with_segments(checkpoint, length, 128).segmenter.cut(document)]

    assert len(segments(Length(sentences=1))) == len(document.sentences)
    assert len(segments(Length(sentences=5))) == -(-len(document.sentences) // 5)
    assert max(segments(Length(pieces=40))) <= 40 < max(segments(Length(pieces=128)))


def test_sentences_as_published() -> None:
    document = toy.document(1, 200)
    changed = with_segments(toy.checkpoint(), Length(sentences=2), 128, "published")
    ends = [segment.words[-1].sentence for segment in changed.segmenter.cut(document)]
    assert ends[:3] == [2, 4, 6]  # the first has three sentences


def test_the_lengths_of_the_paper_are_the_default() -> None:
    values = {"recipe": "r.toml", "corpora": [{"name": "a", "path": "b"}]}
    options = SegmentLengthOptions.model_validate(values)
    names = ["1 sentence", "5 sentences", "10 sentences", "128 pieces", "256 pieces", "384 pieces", "512 pieces"]
    assert [length.name for length in options.train] == [length.name for length in options.inference] == names


def ablation(recipe: Path) -> dict[str, Any]:
    factors = [{"key": "training.teacher_forcing", "values": [0.5]}]
    return {"recipe": str(recipe), "seeds": [1, 2], "factors": factors}


def test_ablation_has_mean_and_spread_over_seeds(tmp_path: Path, recipe: Path) -> None:
    toys.run("ablation", ablation(recipe), tmp_path / "x")
    page = (tmp_path / "x/out/ablation.md").read_text(encoding="utf-8")
    header, *rows = table(page, "Settings")
    found = cells(tmp_path / "x")
    first = mean(100 * found[f"the recipe as it is | seed {seed}"]["dev_f1"] for seed in (1, 2))
    for row, name in zip(rows, ("the recipe as it is", "training.teacher_forcing=0.5"), strict=True):
        figures = [100 * found[f"{name} | seed {seed}"]["dev_f1"] for seed in (1, 2)]
        row = dict(zip(header, row, strict=True))
        assert row["setting"] == name
        assert row["seeds"] == "2"
        assert row["mean F1"] == f"{mean(figures):.2f}"
        assert row["standard deviation"] == f"{stdev(figures):.2f}"
        assert (row["lowest"], row["highest"]) == (f"{min(figures):.2f}", f"{max(figures):.2f}")
        assert row["to the first"] == f"{mean(figures) - first:+.2f}"
    runs = sorted((tmp_path / "x/out/runs").iterdir())
    assert len(runs) == 4
    for run in runs:
        assert sorted(path.name for path in run.iterdir()) == ["log.jsonl", "recipe.json"]  # no gigabytes are left
    recipes = [json.loads((run / "recipe.json").read_text())["training"] for run in runs]
    assert [(r["teacher_forcing"], r["seed"]) for r in recipes] == [(0.0, 1), (0.0, 2), (0.5, 1), (0.5, 2)]
    # the figure of a run is that of the same recipe trained by hand
    values = synthetic.recipe(tmp_path, documents=2, epochs=1, teacher_forcing=0.5, seed=2)
    by_hand = synthetic.new_run(values, folder=str(tmp_path / "by hand"))
    by_hand.train()
    assert found["training.teacher_forcing=0.5 | seed 2"]["dev_f1"] == by_hand.standing.best


def options(**values: Any) -> AblationOptions:
    return AblationOptions.model_validate({"recipe": "r.toml", **values})


def test_grids() -> None:
    factors = [
        {"key": "training.clip", "values": [1.0, 5.0]},
        {"key": "model.changes.update.name", "values": ["mean", "last"]},
    ]
    each = settings_of(options(factors=factors))
    assert [setting.name for setting in each] == [
        "the recipe as it is",
        *("training.clip=1.0", "training.clip=5.0", "model.changes.update.name=mean", "model.changes.update.name=last"),
    ]
    assert each[0].changes == {}
    assert each[3].changes == {"model": {"changes": {"update": {"name": "mean"}}}}
    product = settings_of(options(factors=factors, combine="product"))
    assert len(product) == 4
    assert product[1].name == "training.clip=1.0, model.changes.update.name=last"
    assert product[1].changes == {
        "training": {"clip": 1.0},
        "model": {"changes": {"update": {"name": "last"}}},
    }


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"factors": [{"key": "training.seed", "values": [1]}]}, "training.seed is not a factor; give seeds"),
        ({"seeds": [1, 1]}, "give every key of factors and every seed only once"),
        ({"factors": [{"key": "clip", "values": [1]}]}, "factors.0.key: String should match pattern"),
        ({"factors": [{"key": "training.clips", "values": [1]}]}, "training.clips: unknown key"),
        ({"factors": []}, "factors: "),
        ({"recipe": "gone.toml"}, "cannot read the recipe gone.toml"),
    ],
)
def test_wrong_grids_are_named_before_anything_is_trained(
    tmp_path: Path, recipe: Path, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(StreamcorefError) as caught:
        toys.run("ablation", ablation(recipe) | changes, tmp_path / "x")
    assert said in str(caught.value)
    assert not (tmp_path / "x/out").exists()


def test_a_recipe_without_dev_corpus_is_refused(tmp_path: Path, recipe: Path) -> None:
    values = synthetic.recipe(tmp_path, documents=2, epochs=1)
    values["corpora"] = values["corpora"][:1]
    synthetic.write_recipe(recipe, values)
    with pytest.raises(StreamcorefError, match="this recipe has no corpus for dev"):
        toys.run("ablation", ablation(recipe), tmp_path / "x")


def test_a_recipe_that_changed_is_noticed(tmp_path: Path, recipe: Path) -> None:
    config = ablation(recipe) | {"seeds": [1]}
    toys.run("ablation", config, tmp_path / "x")
    synthetic.write_recipe(recipe, synthetic.recipe(tmp_path, documents=2, epochs=2))
    with pytest.raises(StreamcorefError, match=r"made with other values of config\.recipe\.training\.epochs"):
        toys.run("ablation", config, tmp_path / "x")
