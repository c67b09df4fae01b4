"""The recipes that come with the project, and how recipes are read."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from pydantic import BaseModel

from streamcoref.corpora import read_corpus
from streamcoref.errors import StreamcorefError
from streamcoref.model.checkpoint import load_checkpoint
from streamcoref.model.config import ModelConfig
from streamcoref.model.evict import TwoDistancesOptions
from streamcoref.training import read_chain
from streamcoref.training.recipe import Recipe, overlay, parse_setting, read_recipe
from streamcoref.training.start import start_model

ROOT = Path(__file__).resolve().parents[2]
RECIPES = sorted((ROOT / "recipes").glob("*.toml"))
CHAINS = {name: ROOT / "recipes" / name / "chain.toml" for name in ("default", "base")}
LEGS = sorted(path for chain in CHAINS.values() for path in chain.parent.glob("*.toml"))
EXPECTED = {
    *("paper-ontonotes-baseline", "paper-ontonotes-incremental", "litbank", "ontogum"),
    *("small-baseline", "small-baseline-longer", "small-finetuned", "small-incremental", "tiny", "query", "length"),
}


def test_all_recipes_are_there() -> None:
    assert {path.stem for path in RECIPES} == EXPECTED


# Two of them take their config from the bundled model.
KNOWN = [
    pytest.param(p, marks=[pytest.mark.model] if p.stem in ("query", "length") else [], id=p.stem) for p in RECIPES
]


@pytest.mark.parametrize("path", KNOWN)
def test_a_recipe_is_valid_and_so_is_its_model(path: Path) -> None:
    recipe = read_recipe(path)
    config = recipe.model_config_of()
    assert config.kind == ("baseline" if path.stem in BASELINES else "incremental")
    assert {corpus.use for corpus in recipe.corpora} == {"train", "dev"}
    for corpus in recipe.corpora:
        assert corpus.scheme is None or corpus.scheme in config.schemes
    assert recipe.run.folder == Path("runs") / path.stem


BASELINES = {"paper-ontonotes-baseline", "litbank", "ontogum", "small-baseline", "small-baseline-longer"}


@pytest.mark.parametrize("name", CHAINS)
def test_the_legs_of_a_model_follow_each_other(name: str) -> None:
    chain = read_chain(CHAINS[name])
    own = {path.stem for path in LEGS if path.parent.name == name and path.stem != "chain"}
    assert {leg.run.folder.name for leg in chain.legs} == own
    teachers = {model.parent for leg in chain.legs for corpus in leg.corpora for model in corpus.teachers}
    legs = [leg for leg in chain.legs if leg.run.folder not in teachers]
    configs = [leg.model_config_of() for leg in legs]
    baselines = 2 if name == "base" else 1  # which is trained on
    assert [config.kind for config in configs] == ["baseline"] * baselines + ["incremental"] * (len(legs) - baselines)
    for before, leg in pairwise(legs):
        assert leg.model.start_from == before.run.folder / "best"
    for one in ("schemes", "labels", "segments", "genres"):
        assert len({repr(getattr(config, one)) for config in configs}) == 1, one
    spans = [config.spans.model_dump(mode="json") for config in configs]
    weighed = [values["scorer"].pop("own_weights") for values in spans]  # which begin as nothing, in the last leg
    assert all(values == spans[0] for values in spans)
    assert weighed == sorted(weighed)
    assert len({(config.encoder.layers, config.encoder.mix) for config in configs}) == 1
    assert chain.bundle is not None
    assert chain.bundle.source == legs[-1].run.folder / "best"
    for leg, config in zip(legs, configs, strict=True):
        for corpus in leg.corpora:
            assert {corpus.scheme, corpus.labels.scheme if corpus.labels else None} <= {*config.schemes, None}


def test_a_teacher_has_read_none_of_the_texts_that_it_answers() -> None:
    """Or it would have learnt to leave out what is not annotated there."""
    *_, teacher, taught = read_chain(CHAINS["default"]).legs
    annotated = {corpus.path for leg in read_chain(CHAINS["base"]).legs for corpus in leg.corpora}
    trained_on = {teacher.run.folder / "best": {corpus.path for corpus in teacher.corpora}, Path("base"): annotated}
    answered = [corpus for corpus in taught.corpora if corpus.teachers]
    assert {teacher for corpus in answered for teacher in corpus.teachers} == set(trained_on)
    for corpus in answered:
        assert all(corpus.path not in trained_on[one] for one in corpus.teachers)
        # The other knows these alone: what is mentioned in OntoGUM's texts, again or at all.
        assert corpus.scheme in ("ontogum", "gum") or corpus.teachers == (Path("base"),)


@pytest.mark.corpus
def test_no_text_is_learnt_from_that_models_are_measured_with(shared: Path) -> None:
    """Parts of these novels are among AMALGUM's texts."""
    measured = [*(shared / "books").glob("*.txt"), shared / "corpora/novels/1342_pride_and_prejudice.txt"]
    held = {run for path in measured for run in _runs_of_words(path.read_text(encoding="utf-8"))}
    for leg in read_chain(CHAINS["default"]).legs:
        for corpus in leg.corpora:
            if corpus.use != "train" or corpus.path.parts[1] != "amalgum":
                continue
            for document in read_corpus(shared / corpus.path):
                shared_runs = held.intersection(_runs_of_words(" ".join(document.words)))
                assert len(shared_runs) < 20 or document.key in corpus.without, document.key


def _runs_of_words(text: str, length: int = 8) -> list[str]:
    words = re.findall("[a-z]+", text.lower())
    return [" ".join(words[at : at + length]) for at in range(len(words) - length)]


@pytest.mark.parametrize("path", [*RECIPES, *LEGS], ids=lambda path: "-".join(path.parts[-2:]))
def test_every_value_of_a_recipe_has_a_comment(path: Path) -> None:
    """On its line, or on its table's line, or on the line above either."""
    lines = path.read_text(encoding="utf-8").splitlines()
    bare = []
    table_is_commented = False
    for number, line in enumerate(lines):
        commented = "#" in line or (number > 0 and lines[number - 1].startswith("#"))
        if line.startswith("["):
            table_is_commented = commented
        elif "=" in line and not line.startswith("#") and not commented and not table_is_commented:
            bare.append(line)
    assert bare == []


def test_the_papers_values() -> None:
    """Joshi et al. 2019 and Xia et al. 2020, as `docs/training.md` says."""
    baseline = read_recipe(ROOT / "recipes/paper-ontonotes-baseline.toml")
    training = baseline.training
    assert (training.epochs, training.crop, training.clip, training.schedule) == (20, 3, 1.0, "linear_from_start")
    assert (training.encoder_rate, training.head_rate) == (1e-5, 3e-4)
    assert (training.warm_up, training.encoder_decay) == (0.1, 0.01)
    assert (training.warm_up_of, training.clip_groups, training.decay_of) == ("encoder", "apart", "matrices")
    assert (training.adam, training.encoder_eps) == ("tensorflow", 1e-6)
    incremental = read_recipe(ROOT / "recipes/paper-ontonotes-incremental.toml")
    training = incremental.training
    assert (training.epochs, training.patience, training.clip, training.schedule) == (50, 5, 10.0, "constant")
    assert (training.head_rate, training.objective, training.evict) == (2e-4, "published", False)
    assert (training.clip_after, training.backward_gb, training.dev_evict) == ("segment", None, False)
    assert training.patience_from == "best"
    assert (training.teacher_forcing, training.negative_rate, training.mention_loss) == (0.0, 1.0, "off")
    assert str(incremental.model.start_from) == str(baseline.run.folder / "best")
    config: ModelConfig = incremental.model_config_of()
    assert (config.update.name, config.evict.name) == ("alpha", "two_distances")
    assert isinstance(config.evict, TwoDistancesOptions)
    assert config.evict.measure == "start"
    assert config.encoder.trainable_from is not None


@pytest.mark.model
def test_the_query_recipe_has_the_bundled_model_whole() -> None:
    """So that it begins with its answers: every weight is taken, and only the reader is new and learns."""
    recipe = read_recipe(ROOT / "recipes/query.toml")
    bundled = load_checkpoint("default")
    config = recipe.model_config_of()
    same = bundled.config.pair_score.model_dump(exclude={"name"})
    assert config.pair_score.model_dump(include=set(same)) == same
    model, _, conversion = start_model(recipe)
    assert model.encoder.frozen
    assert conversion["not_taken"] == []
    assert {name.split(".")[1] for name in conversion["new"]} == {"reader"}
    assert recipe.training.only == ("pair_score.reader",)
    given = bundled.model.state_dict()
    mine = model.state_dict()
    assert all(torch.equal(tensor, mine[name]) for name, tensor in given.items())
    assert torch.equal(
        mine["pair_score.reader.own.mix"], given["encoder.mix"][: len(mine["pair_score.reader.own.mix"])]
    )
    assert not mine["pair_score.reader.net.output.weight"].any()


def test_settings_are_toml_values_or_text() -> None:
    assert parse_setting("training.epochs=3") == {"training": {"epochs": 3}}
    assert parse_setting("a.b.c = [1, 2]") == {"a": {"b": {"c": [1, 2]}}}
    assert parse_setting("run.folder=runs/x=y") == {"run": {"folder": "runs/x=y"}}
    assert parse_setting('run.folder="3"') == {"run": {"folder": "3"}}
    assert parse_setting("training.evict=true") == {"training": {"evict": True}}


def test_changes_merge_tables_but_another_part_replaces_the_old_one() -> None:
    values = {"segments": {"max_pieces": 64, "max_sentences": 1}, "update": {"name": "alpha", "hidden": 16}}
    assert overlay(values, {"segments": {"max_pieces": 32}})["segments"] == {"max_pieces": 32, "max_sentences": 1}
    assert overlay(values, {"update": {"hidden": 8}})["update"] == {"name": "alpha", "hidden": 8}
    assert overlay(values, {"update": {"name": "mean"}})["update"] == {"name": "mean"}
    assert values["update"] == {"name": "alpha", "hidden": 16}


def test_the_documentation_has_every_value_of_the_schema_once_and_no_other() -> None:
    text = (ROOT / "docs/training.md").read_text(encoding="utf-8")
    for name, field in Recipe.model_fields.items():
        options = field.annotation if name != "corpora" else Recipe.model_fields["corpora"].annotation.__args__[0]
        assert issubclass(options, BaseModel)
        table = text.split(f"## `[[{name}]]`" if name == "corpora" else f"## `[{name}]`")[1].split("\n## ")[0]
        assert sorted(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == sorted(options.model_fields), name


def test_one_corpus_of_several_can_be_changed_by_its_number() -> None:
    path = Path(__file__).parents[2] / "recipes" / "small-baseline.toml"
    before, after = read_recipe(path), read_recipe(path, ["corpora.1.path=elsewhere/train.ids"])
    assert str(after.corpora[1].path) == "elsewhere/train.ids"
    assert after.corpora[1].name == before.corpora[1].name
    assert after.corpora[0] == before.corpora[0]
    for wrong in ("corpora.9.path=x", "corpora.first.path=x"):
        with pytest.raises(StreamcorefError, match="numbered from 0"):
            read_recipe(path, [wrong])
