"""`clusters`: shares that make up the entities, places that repeat, labels with all that the paper's have."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.errors import StreamcorefError
from streamcoref.experiments.cluster_map import beginning
from streamcoref.experiments.span_records import final_shares, span_records
from streamcoref.model.incremental import IncrementalModel
from tests.evaluation import toy_evaluation as toy
from tests.experiments import toy_experiments as toys
from tests.experiments.toy_experiments import DOCUMENTS
from tests.model.toys import read

RULES = [{"name": "alpha", "hidden": 16}, {"name": "mean"}, {"name": "first"}, {"name": "last"}]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["name"]))
def test_an_entity_is_the_sum_of_its_spans_by_their_shares(rule: dict[str, Any]) -> None:
    checkpoint = toy.checkpoint(update=rule, evict={"name": "none"})
    model, document = checkpoint.model, DOCUMENTS[0]
    assert isinstance(model, IncrementalModel)
    records, vectors = span_records(checkpoint, document, "plain")
    state = model.new_state()
    results = read(model, checkpoint.config, checkpoint.segmenter.cut(document), state, scheme="plain")
    links = [link for result in results for link in result.links]
    assert [(r.span, r.entity) for r in records] == [(link.span, link.entity) for link in links]
    sizes = Counter(record.entity for record in records)
    assert max(sizes.values()) > 1
    for slot, entity in enumerate(state.memory.ids.tolist()):
        mine = [number for number, record in enumerate(records) if record.entity == entity]
        shares = torch.tensor([records[number].share for number in mine])
        assert shares.sum().item() == pytest.approx(1.0, abs=1e-5)
        whole = (shares[:, None] * vectors[mine]).sum(0)
        torch.testing.assert_close(whole, state.memory.rows[slot, : vectors.shape[1]], atol=1e-4, rtol=1e-4)


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 1)), max_size=20))
def test_shares_of_an_entity_sum_to_one(spans: list[tuple[int, float]]) -> None:
    entities = [entity for entity, _ in spans]
    own = [1.0 if entity not in entities[:n] else share for n, (entity, share) in enumerate(spans)]
    shares = final_shares(entities, own)
    for entity in set(entities):
        assert sum(s for e, s in zip(entities, shares, strict=True) if e == entity) == pytest.approx(1.0)
    assert final_shares([1, 2, 1, 1], [1.0, 1.0, 0.5, 0.25]) == [0.375, 1.0, 0.375, 0.25]


def test_a_baseline_has_no_entities_to_map() -> None:
    with pytest.raises(StreamcorefError, match="this model is a baseline"):
        span_records(toy.checkpoint("baseline"), DOCUMENTS[0])


def config(folder: Path) -> dict[str, Any]:
    return {
        "document": "toy/1",
        "perplexity": 5,
        "model": {"name": "m", "path": str(folder / "incremental")},
        "corpus": {"name": "plain", "path": str(folder / "plain.jsonl")},
    }


@pytest.fixture
def place(tmp_path: Path) -> Path:
    toys.models(tmp_path)
    toys.corpora(tmp_path)
    return tmp_path


def spans(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "out/results.json").read_text())["cells"]["map"]["spans"]
    return found


def test_the_beginning_of_a_document_ends_with_a_sentence() -> None:
    whole = DOCUMENTS[0]
    part = beginning(whole, 40)
    end = next(end for end in whole.sentence_ends if end >= 40)
    assert part.sentences == tuple(
        s for s, last in zip(whole.sentences, whole.sentence_ends, strict=True) if last <= end
    )
    assert part.speakers == whole.speakers[:end]
    mentions = [{span for cluster in d.clusters for span in cluster} for d in (whole, part)]
    assert mentions[1] == {span for span in mentions[0] if span[1] <= end} < mentions[0]
    assert beginning(whole, None) is beginning(whole, 10_000) is whole


def test_the_map_of_a_document(place: Path) -> None:
    for name in ("matplotlib", "plotly", "openTSNE"):
        pytest.importorskip(name)
    toys.run("clusters", config(place), place / "a", ["words=40"])
    found = spans(place / "a")
    document = beginning(DOCUMENTS[0], 40)
    records, _ = span_records(toy.checkpoint(), document, "plain")
    assert [(tuple(s["words"]), s["entity"]) for s in found] == [(r.span, r.entity) for r in records]
    gold = {span: number for number, cluster in enumerate(document.clusters) for span in cluster}
    assert [s["gold"] for s in found] == [gold.get(tuple(s["words"]), -1) for s in found]
    assert {s["gold"] for s in found} > {-1}
    assert all(s["text"] == document.span_text(tuple(s["words"])) for s in found)
    html = (place / "a/out/clusters.html").read_text(encoding="utf-8")
    page = (place / "a/out/clusters.md").read_text(encoding="utf-8")
    joined = next(s for s in found if Counter(x["entity"] for x in found)[s["entity"]] > 1)
    label = f"{joined['text']} ({joined['gold']}, {joined['alpha']:.2f})"
    assert json.dumps(label.replace("'", "&#x27;"))[1:-1] in html
    assert f"| {joined['entity']} | {joined['text']} | {joined['gold']} | {joined['alpha']:.3f} |" in page
    assert "singletons" in html
    assert "#c8c8c8" in html


def test_a_document_that_is_not_there_or_too_short_is_named(place: Path) -> None:
    for name in ("matplotlib", "plotly", "openTSNE"):
        pytest.importorskip(name)
    with pytest.raises(StreamcorefError, match=r"has no document 'toy/9'; it has toy/1, toy/2, toy/3"):
        toys.run("clusters", config(place), place, ["document=toy/9"])
    with pytest.raises(StreamcorefError, match=r"document 'toy/1': the model keeps \d spans of it, too few for a map"):
        toys.run("clusters", config(place), place, ["words=1"])
