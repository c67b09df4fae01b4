"""The official scorer's own reference cases, to five decimals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamcoref.document import Span, merge_clusters
from streamcoref.formats.conll2012 import read_raw
from streamcoref.metrics import Scores, score_documents

pytestmark = pytest.mark.corpus

A_TO_N = (
    "A1 A2 A3 A4 A5 A6 A7 A8 A9 A10 A11 A12 A13 B1 C1 D1 E1 F1 G1 H1 I1 J1 K1 L1 M1 M2 M3 M4 M5 M6 N1 N2 N3 N4 N5 N6"
)
# The cases with a mention in two clusters of the response: there a Document, which merges such clusters, would do
# something else than the official scorer, which leaves the mention in the first.
SHARED_MENTION = {"A8", "A9"}


@pytest.fixture(scope="module")
def cases(shared: Path) -> dict[str, dict[str, Any]]:
    return {case["id"]: case for case in json.loads((shared / "scorer-cases/cases.json").read_text("utf-8"))}


def clusters(path: Path) -> list[list[list[Span]]]:
    with path.open(encoding="utf-8") as lines:
        return [document.clusters for document in read_raw(lines, path)]


def scores(shared: Path, case: dict[str, Any]) -> Scores:
    sides = (clusters(shared / "scorer-cases" / case[side]) for side in ("key", "response"))
    return score_documents(zip(*sides, strict=True))


def test_every_case_is_tried(cases: dict[str, dict[str, Any]]) -> None:
    assert sorted(cases) == sorted(A_TO_N.split())
    assert len(cases) == 36


@pytest.mark.parametrize("name", A_TO_N.split())
def test_case(shared: Path, cases: dict[str, dict[str, Any]], name: str) -> None:
    metrics = scores(shared, cases[name]).metrics()
    expected = cases[name]["expected_recall_precision_f1"]
    assert expected
    for metric, figures in expected.items():
        ours = metrics[metric].recall, metrics[metric].precision, metrics[metric].f1
        assert [f"{x:.5f}" for x in ours] == [f"{x:.5f}" for x in figures], metric


def test_which_cases_share_a_mention_between_clusters(shared: Path, cases: dict[str, dict[str, Any]]) -> None:
    found = {
        name
        for name, case in cases.items()
        for side in ("key", "response")
        for document in clusters(shared / "scorer-cases" / case[side])
        if len(merge_clusters(document)) < len(document)
    }
    assert found == SHARED_MENTION
