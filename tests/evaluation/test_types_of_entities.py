"""Types in an evaluation: counted by corpus, printed, written as JSON; labels beside a corpus."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streamcoref import Document, MentionLabels, StreamcorefError
from streamcoref.cli import app
from streamcoref.evaluation import EvaluationCorpus, answers, evaluate, settle, tables, to_dict
from streamcoref.formats import write_documents
from streamcoref.metrics import TypeCounts, add_types, count_types
from streamcoref.model.checkpoint import save_checkpoint
from tests.evaluation import toy_evaluation as toy
from tests.toy_resolver import TYPES, resolver, typed_resolver


def labelled(seed: int, words: int) -> Document:
    document = toy.document(seed, words)
    spans = [span for cluster in document.clusters for span in cluster]
    return replace(document, labels={span: MentionLabels((TYPES[sum(span) % 4],)) for span in spans[1:]})


TYPED, PLAIN = [labelled(1, 200), labelled(2, 100)], [toy.document(3, 60)]


def test_counts_by_corpus_in_tables_and_json() -> None:
    corpora = [EvaluationCorpus("typed", TYPED, singletons=False), EvaluationCorpus("plain", PLAIN, singletons=False)]
    checkpoint = typed_resolver().checkpoint
    found = evaluate(checkpoint, corpora)
    expected = add_types(
        count_types(gold.clusters, gold.labels, answered.document.entities, singletons=False)
        for gold, answered in zip(
            TYPED, answers(checkpoint, corpora[:1], [settle(corpora[0], checkpoint.config)]), strict=True
        )
    )
    assert found.types == expected
    assert sum(counts.right for counts in expected.values()) > 0
    assert found.documents[2].types == {}
    every = sum(expected.values(), TypeCounts())
    by_title = {table.title: table for table in tables(found)}
    rows = [row for section in by_title["Types"].sections for row in section]
    assert {row[0] for row in rows} == {"all", "typed"}
    shares = (every.precision, every.recall, every.f1, every.accuracy)
    assert [row for row in rows if row[:2] == ["typed", "all"]] == [
        ["typed", "all", f"{every.gold:,}", *(f"{100 * share:.2f}" for share in shares)]
    ]
    groups = {(group["kind"], group["name"]): group for group in to_dict(found)["groups"]}
    assert groups["corpus", "typed"]["types"]["all"]["f1"] == every.f1
    assert groups["corpus", "typed"]["types"]["person"]["mentions"] == expected["person"].gold
    assert "types" not in groups["corpus", "plain"]


def test_a_model_without_types_is_not_asked_for_them() -> None:
    found = evaluate(resolver().checkpoint, [EvaluationCorpus("typed", TYPED, singletons=False)])
    assert found.types == {}
    assert "Types" not in {table.title for table in tables(found)}
    assert "types" not in to_dict(found)["groups"][0]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save_checkpoint("model", typed_resolver().checkpoint, "# A model of a test\n")
    write_documents([replace(one, labels={}) for one in TYPED], "one.jsonl", "jsonlines")
    write_documents(PLAIN, "two.jsonl", "jsonlines")
    write_documents(TYPED, "labels.jsonl", "jsonlines")
    return tmp_path


def run(*arguments: str) -> Any:
    result = CliRunner().invoke(app, ["evaluate", "model", *arguments, "--no-singletons", "--json"])
    if result.exception is not None:
        raise result.exception
    return json.loads(result.stdout)


@pytest.mark.usefixtures("here")
def test_labels_beside_a_corpus() -> None:
    expected = to_dict(evaluate(typed_resolver().checkpoint, [EvaluationCorpus("one", TYPED, singletons=False)]))
    assert run("one.jsonl", "--labels", "labels.jsonl")["groups"][0]["types"] == expected["groups"][0]["types"]
    both = run("one.jsonl", "two.jsonl", "--labels", "one=labels.jsonl")
    types = {group["name"]: group.get("types") for group in both["groups"] if group["kind"] == "corpus"}
    assert types == {"one": expected["groups"][0]["types"], "two": None}
    assert "types" not in run("one.jsonl")["groups"][0]


@pytest.mark.usefixtures("here")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["one.jsonl", "two.jsonl", "--labels", "labels.jsonl"], "say whose they are, as in one=labels.jsonl"),
        (["one.jsonl", "--labels", "other=labels.jsonl"], "there is no corpus called other; there are one"),
        (["one.jsonl", "--labels", "nowhere"], "no such file or folder"),
        (["two.jsonl", "--labels", "labels.jsonl"], "there are no labels for the document toy/3"),
    ],
)
def test_labels_that_are_nobodys(arguments: list[str], message: str) -> None:
    with pytest.raises(StreamcorefError, match=message):
        run(*arguments)
