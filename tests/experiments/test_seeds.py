"""`main` and `length` with models that they train themselves, by several seeds."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.model.checkpoint import load_checkpoint
from tests.experiments import toy_experiments as toys
from tests.experiments.toy_experiments import table
from tests.training import synthetic

pytest.importorskip("matplotlib")
pytest.importorskip("plotly")

SEEDS = [1, 2, 3]


def config(folder: Path) -> dict[str, Any]:
    recipe = synthetic.write_recipe(folder / "toy.toml", synthetic.recipe(folder, documents=3, epochs=1))
    trained = {"recipe": str(recipe), "settings": ["training.head_rate=0.002"], "seeds": SEEDS}
    return {
        "models": [
            {"name": "ours", **trained, "paper": "ours"},
            {"name": "all stay", **trained, "evict": "none"},
        ],
        "corpora": [{"name": "toy", "path": str(folder / "toy3.jsonl")}],
    }


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("seeds")
    toys.run("main", config(folder), folder / "main")
    return folder


def cells(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "main/out/results.json").read_text())["cells"]
    return found


def runs(place: Path) -> dict[int, Path]:
    folder = place / "main/out/runs"
    return {seed: folder / f"toy-training.head_rate=0.002-seed-{seed}" for seed in SEEDS}


def test_each_seed_is_trained_once_for_both_models(place: Path) -> None:
    assert set((place / "main/out/runs").iterdir()) == set(runs(place).values())
    for seed, folder in runs(place).items():
        training = json.loads((folder / "recipe.json").read_text())["training"]
        assert (training["seed"], training["head_rate"]) == (seed, 0.002)
        assert not (folder / "last").exists()


def test_the_best_by_dev_f1_is_chosen_and_kept(place: Path) -> None:
    found = cells(place)
    dev = {seed: found[f"training | {folder.name}"]["dev_f1"] for seed, folder in runs(place).items()}
    chosen = found["ours | chosen"]["seed"]
    assert dev[chosen] == max(dev.values())
    kept = load_checkpoint(place / "main/out/models/ours")
    scores = evaluate(kept, [EvaluationCorpus("toy", place / "toy3.jsonl")]).scores
    assert scores.to_dict() == found[f"ours | seed {chosen} | toy"]["scores"]
    page = (place / "main/out/main.md").read_text(encoding="utf-8")
    rows = {row[0]: row for row in table(page, "toy")}
    assert rows["ours"][-3] == f"{100 * scores.conll_f1:.2f}"


def test_best_mean_and_spread_are_reported(place: Path) -> None:
    page = (place / "main/out/main.md").read_text(encoding="utf-8")
    header, *rows = table(page, "Seeds: average F1 of the run that was chosen by dev F1, and of all")
    assert [row[:3] for row in rows] == [
        ["ours", "dev of the recipe", "3"],
        ["ours", "toy", "3"],
        ["all stay", "dev of the recipe", "3"],
        ["all stay", "toy", "3"],
    ]
    found = cells(place)
    figures = [100 * found[f"ours | seed {seed} | toy"]["scores"]["conll_f1"] for seed in SEEDS]
    row = dict(zip(header, rows[1], strict=True))
    assert row["mean"] == f"{mean(figures):.2f}"
    assert row["standard deviation"] == f"{stdev(figures):.2f}"
    assert (row["lowest"], row["highest"]) == (f"{min(figures):.2f}", f"{max(figures):.2f}")
    assert row["chosen"] == f"{figures[SEEDS.index(found['ours | chosen']['seed'])]:.2f}"


def test_nothing_is_done_twice(place: Path) -> None:
    before = (place / "main/out/results.json").read_bytes()
    toys.run("main", config(place), place / "main")
    assert (place / "main/out/results.json").read_bytes() == before


def test_a_recipe_that_changed_is_noticed(place: Path) -> None:
    changed = config(place)
    synthetic.write_recipe(place / "toy.toml", synthetic.recipe(place, documents=3, epochs=2))
    with pytest.raises(StreamcorefError, match=r"made with other values of config\.recipes\.ours\.training\.epochs"):
        toys.run("main", changed, place / "main")


def test_a_seed_is_given_once(tmp_path: Path) -> None:
    wrong = config(tmp_path)
    wrong["models"][0]["seeds"] = [1, 1]
    with pytest.raises(StreamcorefError, match="model ours: give every seed only once"):
        toys.run("main", wrong, tmp_path / "x")
