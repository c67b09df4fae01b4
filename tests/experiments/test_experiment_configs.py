"""The configs that come with the project, and docs/reproducing.md, which names them and the paper's figures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from streamcoref.experiments.ablation import AblationOptions, settings_of
from streamcoref.experiments.catalogue import EXPERIMENTS
from streamcoref.experiments.options import read_options
from streamcoref.experiments.paper import EVICTION_POLICY, EVICTION_RECALL, TABLE_1, TABLE_2, TABLE_3, TABLE_4
from streamcoref.experiments.training_runs import base_recipe, changed_recipe
from streamcoref.model.evict import parse_eviction
from tests.conftest import ROOT

CONFIGS = sorted((ROOT / "recipes/experiments").glob("*.toml"))
TEXT = (ROOT / "docs/reproducing.md").read_text(encoding="utf-8")


def experiment_of(path: Path) -> str:
    return path.stem.removeprefix("ontonotes-").removesuffix("-paper-sizes")


def test_every_experiment_has_a_config_for_open_corpora_and_for_ontonotes() -> None:
    names = {path.stem for path in CONFIGS}
    on_ontonotes = {f"ontonotes-{name}" for name in EXPERIMENTS if name != "books"}  # it has no novels
    assert names == {*EXPERIMENTS, *on_ontonotes, "memory-paper-sizes"}


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_a_config_is_valid_and_commented(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = read_options(EXPERIMENTS[experiment_of(path)].options, path)
    for line in path.read_text(encoding="utf-8").splitlines():
        assert "=" not in line or "#" in line, line
    monkeypatch.chdir(ROOT)
    for model in getattr(options, "models", ()):
        assert model.evict is None or parse_eviction(model.evict)
    if isinstance(options, AblationOptions):
        recipe = base_recipe(options.recipe, options.settings)
        for setting in settings_of(options):
            changed_recipe(recipe, setting.changes, Path("x")).model_config_of()


def test_every_value_of_a_config_is_in_the_documentation() -> None:
    for experiment in EXPERIMENTS.values():
        for name in experiment.options.model_fields:
            assert f"`{name}`" in TEXT or f"`[{name}]`" in TEXT, f"{experiment.name}: {name}"


def rows(title: str) -> list[list[str]]:
    part = TEXT.split(f"**{title}**")[1].split("\n\n")[1]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines()[2:]]


def test_the_papers_figures_are_the_same_in_code_and_documentation() -> None:
    assert [tuple(map(float, row[1:])) for row in rows("Table 1")] == list(TABLE_1.values())
    assert [(int(r[1]), float(r[2]), float(r[3]), float(r[5])) for r in rows("Table 2")] == list(TABLE_2.values())
    for _, _, base, ours, difference, _ in rows("Table 2"):
        assert float(difference) == pytest.approx(float(ours) - float(base))
    assert [(row[1], float(row[2])) for row in rows("Table 3")] == list(TABLE_3.values())
    assert {row[0]: tuple(map(float, row[1:])) for row in rows("Table 4")} == TABLE_4
    assert f"{EVICTION_RECALL}%" in TEXT
    assert parse_eviction(EVICTION_POLICY).model_dump(include={"singleton", "cluster"}) == {
        "singleton": 600,
        "cluster": 1200,
    }


def test_commands_name_what_is_there() -> None:
    commands = re.findall(r"^streamcoref experiment (\w+) --config (\S+)", TEXT, re.MULTILINE)
    assert {name for name, _ in commands} - {"NAME"} == set(EXPERIMENTS)
    for name, config in commands:
        if name != "NAME":
            assert (ROOT / config).is_file()
            assert experiment_of(Path(config)) == name


@pytest.mark.corpus
def test_the_document_of_the_cluster_map_is_in_its_corpus(shared: Path) -> None:
    from streamcoref.corpora import read_corpus

    text = (ROOT / "recipes/experiments/clusters.toml").read_text(encoding="utf-8")
    (key,) = re.findall(r'^document = "(.*?)"', text, re.MULTILINE)
    assert key in {document.key for document in read_corpus(shared / "corpora/ontogum/dev.ids")}
