"""The examples of docs/metrics.md run and mean what they say."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamcoref.document import Document
from streamcoref.formats import write_documents
from streamcoref.mention_labels import MentionLabels
from streamcoref.metrics import Comparison, Scores, score_document
from tests import toy_resolver
from tests.evaluation import toy_evaluation

PAGE = (Path(__file__).parents[2] / "docs/metrics.md").read_text(encoding="utf-8")
ON_CLUSTERS, ON_FILES, ON_TYPES = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)


def test_the_example_on_clusters() -> None:
    names: dict[str, object] = {}
    exec(ON_CLUSTERS, names)
    scores = names["scores"]
    assert isinstance(scores, Scores)
    assert scores.muc.recall == 0.5


def test_the_example_on_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    gold = Document.from_sentences("a", [list("abcd")], [[(0, 1), (1, 2)], [(3, 4)]])
    write_documents([gold, Document.from_sentences("b", [["a"]])], "key.conll", "conll")
    write_documents(
        [Document.from_sentences("a", [list("abcd")], [[(0, 1), (1, 2), (2, 3)]])], "response.jsonl", "jsonlines"
    )
    names: dict[str, object] = {}
    exec(ON_FILES, names)
    scores = score_document(gold.clusters, [[(0, 1), (1, 2), (2, 3)]], singletons=False) + score_document((), ())
    assert names["found"] == Comparison(scores, missing_in_response=1)


def test_the_example_on_types() -> None:
    gold = replace(toy_evaluation.document(1, 80), labels={})
    spans = [span for cluster in gold.clusters for span in cluster]
    gold = replace(gold, labels={span: MentionLabels(("person",)) for span in spans})
    names: dict[str, Any] = {"resolver": toy_resolver.typed_resolver(), "gold": gold}
    exec(ON_TYPES, names)
    assert names["counts"]["person"].gold == len(spans)


def test_the_keys_of_the_json_are_named() -> None:
    for key in Comparison(Scores()).to_dict():
        assert f"`{key}`" in PAGE
