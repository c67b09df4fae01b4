"""`main` and `length`: the figures are those of `evaluate`, the paper's stand beside them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamcoref.errors import InputError, StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, evaluate
from streamcoref.evaluation.changes import with_eviction
from streamcoref.evaluation.report import figures
from streamcoref.experiments.evaluating import evaluation_of
from streamcoref.formats import write_documents
from streamcoref.metrics import Scores
from streamcoref.model.checkpoint import load_checkpoint
from tests.evaluation import toy_evaluation as toy
from tests.experiments import toy_experiments as toys
from tests.experiments.toy_experiments import DOCUMENTS, OTHERS, table

pytest.importorskip("matplotlib")
pytest.importorskip("plotly")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comparison")
    toys.models(folder)
    toys.corpora(folder)
    return folder


@pytest.fixture(scope="module")
def main_page(place: Path) -> str:
    toys.run("main", toys.comparison(place), place / "main")
    return (place / "main/out/main.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def length_page(place: Path) -> str:
    toys.run("length", toys.comparison(place), place / "length")
    return (place / "length/out/length.md").read_text(encoding="utf-8")


def by_hand(place: Path, model: str, documents: list[Any], name: str, evict: str | None = None) -> Scores:
    checkpoint = load_checkpoint(place / model)
    if evict is not None:
        checkpoint = with_eviction(checkpoint, evict)
    return evaluate(checkpoint, [EvaluationCorpus(name, documents)]).scores


def test_main_has_every_metric_and_the_loss(place: Path, main_page: str) -> None:
    header, *rows = table(main_page, "plain")
    assert header == ["model", "docs", *figures(Scores()), "difference", "relative loss %"]
    base = by_hand(place, "baseline", DOCUMENTS, "plain")
    ours = by_hand(place, "incremental", DOCUMENTS, "plain")
    stay = by_hand(place, "incremental", DOCUMENTS, "plain", "none")
    assert ours != stay
    for row, name, scores in zip(rows, ("baseline", "incremental", "all stay"), (base, ours, stay), strict=False):
        difference = 100 * (scores.conll_f1 - base.conll_f1)
        loss = 100 * (base.conll_f1 - scores.conll_f1) / base.conll_f1
        shown = [f"{100 * v:.2f}" for v in figures(scores).values()]
        assert row == [name, "3", *shown, f"{difference:+.2f}", f"{loss:.2f}"]


def test_main_has_the_papers_rows(main_page: str) -> None:
    rows = {row[0]: row for row in table(main_page, "plain")}
    assert rows["paper: incremental"][-4:] == ["79.4", "–", "-0.2", "0.25"]  # the 0.3 % of the abstract
    assert rows["paper: JS-L"][2:5] == ["85.8", "84.8", "85.3"]


def test_all_corpora_are_sums_not_means(place: Path, main_page: str) -> None:
    whole = by_hand(place, "incremental", DOCUMENTS, "plain") + by_hand(place, "incremental", OTHERS, "litbank")
    row = {row[0]: row for row in table(main_page, "all corpora")}["incremental"]
    assert row[1] == "5"
    assert row[2:13] == [f"{100 * v:.2f}" for v in figures(whole).values()]


def test_it_is_said_how_a_corpus_was_read(main_page: str) -> None:
    assert "- incremental on litbank: scheme litbank, singletons kept\n" in main_page
    assert "- baseline on plain: scheme plain, singletons dropped\n" in main_page


def test_length_has_the_papers_rows_beside_ours(place: Path, length_page: str) -> None:
    header, *rows = table(length_page, "plain")
    assert header[:8] == [
        "documents",
        "docs",
        "baseline",
        "incremental",
        "difference",
        "all stay",
        "difference",
        "paper: docs",
    ]
    found = {row[0]: row for row in rows}
    assert found["pieces 257-512"][7:] == ["78", "82.9", "83.4", "83.4"]
    assert found["speakers 2+"][7:] == ["75", "76.7", "75.0", "75.0"]
    base = 100 * by_hand(place, "baseline", DOCUMENTS[2:], "plain").conll_f1
    ours = 100 * by_hand(place, "incremental", DOCUMENTS[2:], "plain").conll_f1
    stay = 100 * by_hand(place, "incremental", DOCUMENTS[2:], "plain", "none").conll_f1
    assert found["pieces 257-512"][1:7] == [
        *("1", f"{base:.2f}", f"{ours:.2f}", f"{ours - base:+.2f}", f"{stay:.2f}", f"{stay - base:+.2f}"),
    ]
    speakers = 100 * by_hand(place, "incremental", DOCUMENTS[:1], "plain").conll_f1
    assert found["speakers 2+"][3] == f"{speakers:.2f}"


def test_length_has_a_second_reading_as_the_papers_code_counts(place: Path) -> None:
    """By the number of the last word, and genres bc and tc instead of speakers."""
    keys = ["bc/1", "tcx", "nw/3", "bn/4"]
    lengths = zip(keys, (129, 130, 60, 60), strict=True)
    documents = [replace(toy.document(seed, words), key=key) for seed, (key, words) in enumerate(lengths)]
    write_documents(documents, place / "keys.jsonl", "jsonlines")
    config = toys.comparison(place) | {"corpora": [{"name": "keys", "path": str(place / "keys.jsonl")}]}
    toys.run("length", config, place / "keys")
    page = (place / "keys/out/length.md").read_text(encoding="utf-8")
    found = {row[0]: row for row in table(page, "keys, as the paper's code counts")}
    assert {name: row[1] for name, row in found.items() if name != "documents"} == {
        "all": "4",
        "last word 0-128": "3",
        "last word 129-256": "1",
        "speakers 1": "2",
        "speakers 2+": "2",
    }
    assert found["last word 0-128"][7:] == ["57", "84.6", "84.5", "84.5"]
    scores = by_hand(place, "incremental", documents[:2], "keys")
    assert found["speakers 2+"][3] == f"{100 * scores.conll_f1:.2f}"
    by_pieces = {row[0]: row[1] for row in table(page, "keys")}
    assert by_pieces["speakers 1"] == "4"
    assert "pieces 0-128" in by_pieces


def test_what_is_stored_gives_the_evaluation_back(place: Path, main_page: str) -> None:
    assert main_page
    values = json.loads((place / "main/out/results.json").read_text())
    assert set(values["cells"]) == {
        f"{model} | {corpus}" for model in ("baseline", "incremental", "all stay") for corpus in ("plain", "litbank")
    }
    cell = values["cells"]["incremental | plain"]
    evaluation = evaluation_of(cell)
    assert evaluation.scores == by_hand(place, "incremental", DOCUMENTS, "plain")
    assert cell["scores"]["conll_f1"] == evaluation.scores.conll_f1
    assert [d.key for d in evaluation.documents] == [d.key for d in DOCUMENTS]


def test_plots_are_there_in_both_forms(place: Path, main_page: str, length_page: str) -> None:
    assert main_page
    assert length_page
    for name in ("main", "length"):
        assert (place / name / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "all stay" in (place / name / "out" / f"{name}.html").read_text(encoding="utf-8")


def test_a_model_or_corpus_that_changed_under_its_name_is_noticed(tmp_path: Path) -> None:
    toys.models(tmp_path)
    toys.corpora(tmp_path)
    config = toys.comparison(tmp_path)
    config["corpora"] = config["corpora"][1:]
    toys.run("main", config, tmp_path)
    with (tmp_path / "litbank.jsonl").open("a", encoding="utf-8") as stream:
        stream.write("\n")
    with pytest.raises(InputError, match=r"made with other values of files\..*litbank\.jsonl; choose another folder"):
        toys.run("main", config, tmp_path)


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("baseline=none of them", "there is no model 'none of them'; the models are baseline, incremental, all stay"),
        ("models.1.name=baseline", "models: two are called baseline; give one another name"),
        ("corpora.1.name=plain", "corpora: two are called plain; give one another name"),
        ("models.0.paper=JS-M", "models.0.paper: Input should be 'JS-L', 'JS-B'"),
        ("models.0.preset=tiny", "model baseline: give a path, a recipe, or a preset and a tokenizer"),
        ("models.0.evict=none", "whole-document baseline, which holds no entities"),
        ("models.1.evict=sometimes", "eviction policy sometimes: unknown name 'sometimes'"),
        ("models.1.segment_length=4000", "this encoder has positions for 128 only"),
        ("models.1.path=no/such/model", "there is no model folder no/such/model"),
        ("corpora.0.path=gone.jsonl", "gone.jsonl: no such file or folder"),
        ("corpora.0.scheme=other", "the model has no scheme 'other'"),
        ("corpora=[]", "corpora: "),
        ("spam=1", "spam: unknown key"),
        ("run.threads=0", "run.threads: Input should be greater than 0"),
    ],
)
def test_wrong_configs_are_named_in_one_sentence(place: Path, tmp_path: Path, setting: str, said: str) -> None:
    with pytest.raises(StreamcorefError) as caught:
        toys.run("main", toys.comparison(place), tmp_path, [setting])
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_how_it_runs_may_change(place: Path, tmp_path: Path) -> None:
    config = toys.comparison(place)
    config["models"] = config["models"][:1]
    toys.run("main", config, tmp_path)
    before = (tmp_path / "out/results.json").read_bytes()
    toys.run("main", config, tmp_path, ["run.batch=3", "run.threads=1"])
    assert (tmp_path / "out/results.json").read_bytes() == before
