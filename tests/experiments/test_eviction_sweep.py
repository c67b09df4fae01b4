"""`eviction` end to end: every policy of the sweep, its recall, its peak, and what F1 is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from streamcoref.experiments.eviction import EvictionSweepOptions, families
from streamcoref.experiments.gold_memory import follow, gold_segments
from streamcoref.formats import write_documents
from streamcoref.metrics import score_documents
from streamcoref.model.evict import parse_eviction
from tests.evaluation import toy_evaluation as toy
from tests.experiments import toy_experiments as toys
from tests.experiments.toy_experiments import table
from tests.model.toys import tokenizer

DOCUMENTS = [toy.document(seed, 300) for seed in (1, 2)]


def config(folder: Path) -> dict[str, Any]:
    return {
        "tokenizer": str(folder),
        "max_pieces": 32,
        "singleton": [20, 60],
        "cluster": [40, 80],
        "one_distance": [40],
        "size_times_distance": [30],
        "longest": 90,
        "budget": [8],
        "corpora": [{"name": "plain", "path": str(folder / "plain.jsonl")}],
    }


def test_the_papers_sweep_is_the_default() -> None:
    options = EvictionSweepOptions.model_validate({"tokenizer": "x", "corpora": [{"name": "a", "path": "b"}]})
    policies = {policy for family in families(options) for policy in family.policies}
    pairs = [(s, c) for s in (200, 300, 400, 500, 600, 900) for c in (400, 600, 800, 1000, 1200, 1800) if s <= c]
    assert {p for p in policies if p.startswith("two")} == {
        f"two_distances:singleton={s},cluster={c}" for s, c in pairs
    }
    kinds = {parse_eviction(policy).name for policy in policies}
    assert kinds == {"two_distances", "one_distance", "size_times_distance", "none"}
    assert any(parse_eviction(policy).budget for policy in policies)


def test_a_sweep(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    write_documents(DOCUMENTS, tmp_path / "plain.jsonl", "jsonlines")
    tokenizer().tokenizer.save_pretrained(tmp_path)
    toys.run("eviction", config(tmp_path), tmp_path)
    page = (tmp_path / "out/eviction.md").read_text(encoding="utf-8")
    header, *rows = table(page, "All policies")
    assert header == ["policy", "recall %", "lost", "peak entities", "mean peak", "F1 %"]
    assert len(rows) == 3 + 1 + 1 + 1 + 1  # a singleton distance beyond the other is no policy
    for policy, recall, lost, peak, mean_peak, f1 in rows:
        found = [follow(gold_segments(d, tokenizer(), 32), parse_eviction(policy).build()) for d in DOCUMENTS]
        kept, antecedents = sum(o.kept for o in found), sum(o.antecedents for o in found)
        assert recall == f"{100 * kept / antecedents:.2f}"
        assert int(lost) == antecedents - kept
        assert int(peak) == max(o.peak_entities for o in found)
        assert mean_peak == f"{sum(o.peak_entities for o in found) / 2:.1f}"
        pairs = [(d.clusters, o.clusters) for d, o in zip(DOCUMENTS, found, strict=True)]
        assert f1 == f"{100 * score_documents(pairs, singletons=False).conll_f1:.2f}"
    assert rows[-1][:3] == ["none", "100.00", "0"]
    assert rows[-1][-1] == "100.00"
    assert float(rows[0][1]) < 99
    grid = table(page, "Two distances: recall in percent (peak entities)")
    assert grid[0] == ["singletons", "all at 40", "all at 80"]
    assert grid[2][1] == "–"
    assert grid[1][1] == f"{rows[0][1]} ({rows[0][3]})"
    assert "a recall of 99.57% on OntoNotes 5.0 (training) for two_distances:singleton=600,cluster=1200" in page
    smallest = table(page, "Smallest peak with a recall of at least 99.57%, by family")
    assert len(smallest) == 1 + 5
    cells = json.loads((tmp_path / "out/results.json").read_text())["cells"]
    assert list(cells) == [
        f"plain | {name}"
        for name in (
            *("two distances, singletons 20", "two distances, singletons 60"),
            *("one distance", "size x distance", "budget", "none"),
        )
    ]
    html = (tmp_path / "out/eviction-plain.html").read_text(encoding="utf-8")
    assert "99.57% (OntoNotes, 600" in html
