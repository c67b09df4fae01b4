"""`streamcoref evaluate`, run as a user runs it, on small random models."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from streamcoref.cli import app
from streamcoref.cli.remedies import sentence
from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, answers, settle
from streamcoref.formats import read_documents, write_documents
from streamcoref.metrics import score_documents
from streamcoref.model.checkpoint import load_checkpoint, save_checkpoint
from tests.evaluation import toy_evaluation as toy

# Four people speak in the first; the third is in a row of lengths of its own.
PLAIN = [
    replace(toy.document(1, 80), speakers=tuple("abcd" * 20), genre="talk"),
    toy.document(2, 40),
    toy.document(3, 400),
]
WITH_SINGLETONS = [toy.document(4, 60, singletons=5), toy.document(5, 100, singletons=8)]


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    for kind in ("incremental", "baseline"):
        save_checkpoint(folder / kind, toy.checkpoint(kind), "# A model of a test\n")
    return folder


@pytest.fixture(scope="session")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    write_documents(PLAIN, folder / "plain.jsonl", "jsonlines")
    (folder / "litbank" / "files").mkdir(parents=True)
    for document in WITH_SINGLETONS:
        name = document.key.replace("/", "-")
        write_documents([document], folder / "litbank" / "files" / f"{name}.jsonl", "jsonlines")
    (folder / "litbank" / "dev.ids").write_text("toy-5\ntoy-4\n")
    return folder


def run(*arguments: object, command: str = "evaluate", status: int = 0) -> str:
    result = CliRunner().invoke(app, [command, *map(str, arguments)])
    if isinstance(result.exception, StreamcorefError) and not status:
        raise StreamcorefError(sentence(result.exception))
    assert result.exit_code == status, result.output
    return result.stdout


def as_json(*arguments: object, command: str = "evaluate") -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run(*arguments, "--json", command=command))
    return data


def scores(found: dict[str, Any], kind: str = "all", name: str = "all") -> dict[str, Any]:
    group: dict[str, Any] = next(g["scores"] for g in found["groups"] if (g["kind"], g["name"]) == (kind, name))
    return group


def by_hand(model: Path, documents: list[Document], singletons: bool, scheme: str = "plain") -> dict[str, Any]:
    """One document at a time through the library, whose own tests hold it to the model; scored here."""
    checkpoint = load_checkpoint(model)
    pairs = []
    for document in documents:
        corpus = EvaluationCorpus("by hand", [document], scheme, singletons)
        ((answered, _),) = answers(checkpoint, [corpus], [settle(corpus, checkpoint.config)])
        assert answered.predicted_clusters is not None
        pairs.append((document.clusters, answered.predicted_clusters))
    return score_documents(pairs, singletons).to_dict()


@pytest.mark.parametrize("kind", ["incremental", "baseline"])
def test_groups_equal_predicting_and_scoring_by_hand(models: Path, corpora: Path, kind: str) -> None:
    model = models / kind
    found = as_json(model, corpora / "plain.jsonl", corpora / "litbank" / "dev.ids", "--batch", 2)
    assert scores(found, "corpus", "plain") == by_hand(model, PLAIN, False)
    assert scores(found, "corpus", "litbank") == by_hand(model, WITH_SINGLETONS[::-1], True, "litbank")
    assert scores(found, "speakers", "2+") == by_hand(model, PLAIN[:1], False)
    assert scores(found, "genre", "talk") == by_hand(model, PLAIN[:1], False)
    assert scores(found, "length", "257-512") == by_hand(model, PLAIN[2:], False)
    assert scores(found)["documents"] == 5
    assert [(c["name"], c["scheme"], c["singletons"]) for c in found["model"]["corpora"]] == [
        ("plain", "plain", False),
        ("litbank", "litbank", True),
    ]
    assert found["model"]["peak_tensor_bytes"] is None


@pytest.mark.parametrize("singletons", [True, False])
@pytest.mark.parametrize(
    ("kind", "format_name"), [("incremental", "jsonlines"), ("incremental", "pieces"), ("baseline", "conll")]
)
def test_score_gives_the_same_figures_for_written_predictions(
    models: Path, tmp_path: Path, kind: str, format_name: str, singletons: bool
) -> None:
    key = tmp_path / "key.jsonl"
    write_documents(WITH_SINGLETONS, key, "jsonlines")
    keep = "--singletons" if singletons else "--no-singletons"
    target = tmp_path / "answers"
    found = as_json(models / kind, key, keep, "--predictions", target, "--predictions-format", format_name)
    scored = as_json(key, target, *([] if singletons else ["--drop-singletons"]), command="score")
    assert scored | scores(found) == scored
    assert 0 < scored["conll_f1"] < 1
    sizes = [len(cluster) for d in read_documents(target) for cluster in d.predicted_clusters or d.clusters]
    assert (1 in sizes) == singletons


def test_table(models: Path, corpora: Path) -> None:
    text = run(models / "incremental", corpora / "plain.jsonl", corpora / "litbank" / "dev.ids")
    figures = by_hand(models / "incremental", PLAIN, False)
    row = next(line.split() for line in text.splitlines() if line.startswith(" plain "))
    assert row[:5] == ["plain", "3", *(f"{100 * figures['muc'][f]:.2f}" for f in ("precision", "recall", "f1"))]
    assert row[-2:] == [f"{100 * figures['conll_f1']:.2f}", f"{100 * figures['mentions']['f1']:.2f}"]
    for name in ("pieces 0-128", "speakers 2+", "genre talk", "peak entities alive", "time in the encoder %"):
        assert f" {name} " in text
    assert "memory" not in text
    assert "litbank: scheme litbank, singletons kept" in text
    assert "plain: scheme plain, singletons dropped" in text


def test_a_model_that_cannot_tell_singletons_is_said_to_answer_none(tmp_path: Path, corpora: Path) -> None:
    save_checkpoint(tmp_path / "m", toy.checkpoint(singletons=False), "# card\n")
    assert "singletons kept, of which this model answers none" in run(tmp_path / "m", corpora / "litbank" / "dev.ids")


def test_baseline_and_memory(models: Path, corpora: Path) -> None:
    other = ("--baseline", models / "baseline")
    text = run(models / "incremental", corpora / "plain.jsonl", *other, "--memory", "--markdown")
    ours = by_hand(models / "incremental", PLAIN, False)["conll_f1"]
    theirs = by_hand(models / "baseline", PLAIN, False)["conll_f1"]
    cells = (
        f"{100 * ours:.2f} | {100 * theirs:.2f} | {100 * (ours - theirs):+.2f} | {100 * (theirs - ours) / theirs:.2f}"
    )
    assert f"| all | 3 | {cells} |" in text
    assert f"| corpus plain | 3 | {cells} |" in text
    memory = next(line for line in text.splitlines() if "peak tensor memory" in line).split("|")
    assert 0 < float(memory[2]) < float(memory[3])
    # the same model as its own baseline, but for eviction: the paper's last column
    same = as_json(models / "incremental", corpora / "plain.jsonl", "--no-evict", "--baseline", models / "incremental")
    assert same["model"]["peak_entities"] > same["baseline"]["peak_entities"]


def test_scheme_is_for_the_model_and_for_a_baseline_that_has_it(models: Path, corpora: Path, tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "b", toy.checkpoint("baseline", schemes=["only"]), "# card\n")
    found = as_json(
        models / "incremental", corpora / "plain.jsonl", "--scheme", "litbank", "--baseline", tmp_path / "b"
    )
    assert found["model"]["corpora"][0]["scheme"] == "litbank"
    assert found["baseline"]["corpora"][0]["scheme"] == "only"


def test_policy_and_segment_length(models: Path, corpora: Path) -> None:
    def entities(*options: object) -> int:
        peak: int = as_json(models / "incremental", corpora / "plain.jsonl", *options)["model"]["peak_entities"]
        return peak

    own = entities()
    assert entities("--no-evict") == entities("--evict", "none") > own
    assert entities("--evict", '{"name": "none", "budget": 4}') < own
    assert entities("--evict", "one_distance:distance=1", "--segment-length", 16) < own


def test_threads(models: Path, corpora: Path) -> None:
    before = torch.get_num_threads()
    try:
        run(models / "incremental", corpora / "plain.jsonl", "--threads", before + 1)
        assert torch.get_num_threads() == before + 1
    finally:
        torch.set_num_threads(before)


def test_names_of_corpora(models: Path, corpora: Path, tmp_path: Path) -> None:
    first, second = corpora / "plain.jsonl", tmp_path / "plain.jsonl"
    shutil.copy(first, second)
    with pytest.raises(StreamcorefError, match=f"two corpora are called plain; .* as in other={second}"):
        run(models / "incremental", first, second)
    found = as_json(models / "incremental", first, f"mine={second}")
    assert [c["name"] for c in found["model"]["corpora"]] == ["plain", "mine"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--json", "--markdown"], "--json and --markdown"),
        (["--no-evict", "--evict", "none"], "contradict"),
        (["--force"], "give its file too"),
        (["--evict", "lru"], "unknown name 'lru'"),
        (["--segment-length", "1000"], "positions for 128 only"),
        (["--scheme", "craft"], "no scheme 'craft'"),
        (["--format", "odt"], "no format 'odt'"),
        (["--predictions", "-"], "standard output is for the tables"),
        (["--predictions", "a.docx"], "a.docx: the name does not tell the format to write"),
        (["--predictions", "a.docx"], "; add --predictions-format FORMAT"),
        (["--predictions", "a.sqlite"], "sqlite is written while a text is resolved"),
        (["--predictions", "a", "--predictions-format", "events"], "events is written while a text is resolved"),
        (["--predictions", "a", "--predictions-format", "odt"], "no format 'odt'"),
        (["--predictions", "a.jsonl", "--predictions-format", "text"], "can only be read"),
        (["--predictions", "nowhere/a.jsonl"], "no folder nowhere"),
        (["--baseline", "./nowhere"], "no model folder ./nowhere"),
        (["./nowhere.jsonl"], "nowhere.jsonl: no such file or folder"),
    ],
)
def test_mistakes(
    models: Path,
    corpora: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(StreamcorefError) as caught:
        run(models / "incremental", corpora / "plain.jsonl", *options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.iterdir())


def test_an_existing_file_is_replaced_only_by_force(models: Path, corpora: Path, tmp_path: Path) -> None:
    target = tmp_path / "answers.jsonl"
    target.write_text("precious")
    arguments = (models / "incremental", corpora / "plain.jsonl", "--predictions", target)
    with pytest.raises(StreamcorefError, match="use --force"):
        run(*arguments)
    assert target.read_text() == "precious"
    run(*arguments, "--force")
    assert [document.key for document in read_documents(target)] == [document.key for document in PLAIN]


def test_faults_show_before_the_model_works(models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("the model was run")

    monkeypatch.setattr("streamcoref.evaluation.measure.predict", never)
    key = tmp_path / "key.jsonl"
    write_documents([PLAIN[1], replace(PLAIN[0], words=("white space", *PLAIN[0].words[1:]))], key, "jsonlines")
    with pytest.raises(StreamcorefError, match="word 0 is 'white space'"):
        run(models / "incremental", key, "--predictions", tmp_path / "a", "--predictions-format", "conll")
    with key.open("a") as stream:
        stream.write("{broken\n")
    with pytest.raises(StreamcorefError, match=r"key\.jsonl:3"):
        run(models / "incremental", key)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("a.conll", "cross, which the format conll cannot express"),
        ("/dev/full", "/dev/full: cannot be written: No space left on device"),
    ],
)
def test_figures_survive_predictions_that_cannot_be_written(
    models: Path, corpora: Path, tmp_path: Path, target: str, message: str
) -> None:
    result = CliRunner().invoke(
        app,
        [
            *("evaluate", str(models / "incremental"), str(corpora / "plain.jsonl"), "--json"),
            *("--baseline", str(models / "baseline")),
            *("--predictions", str(tmp_path / target), "--predictions-format", "conll" if "conll" in target else "csv"),
        ],
    )
    assert isinstance(result.exception, StreamcorefError)
    assert message in str(result.exception)
    found = json.loads(result.stdout)
    assert scores(found) == by_hand(models / "incremental", PLAIN, False)
    assert found["groups"][0]["baseline"] == by_hand(models / "baseline", PLAIN, False)
    assert not list(tmp_path.iterdir())
