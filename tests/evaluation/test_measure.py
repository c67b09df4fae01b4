"""Evaluation: figures equal to predicting and scoring by hand, and what is measured beside them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.evaluation import EvaluationCorpus, answers, evaluate, settle
from streamcoref.evaluation.gold import count_gold
from streamcoref.formats import write_documents
from streamcoref.metrics import Scores, score_document, score_documents
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.evict import BoolArray, EvictionOptions, EvictionPolicy
from streamcoref.model.memory import EntityMemory
from tests.evaluation import toy_evaluation as toy
from tests.model import toys
from tests.model.toy_answers import answer

PLAIN = [toy.document(seed, words) for seed, words in ((1, 90), (2, 30), (3, 200))]
WITH_SINGLETONS = [toy.document(seed, words, singletons=5) for seed, words in ((4, 60), (5, 100))]


def by_hand(checkpoint: Checkpoint, documents: list[Document], scheme: str, singletons: bool) -> Scores:
    pairs = []
    for document in documents:
        found = answer(checkpoint, document, singletons, scheme).predicted_clusters
        assert found is not None
        pairs.append((document.clusters, found))
    return score_documents(pairs, singletons=singletons)


@pytest.mark.parametrize("kind", ["incremental", "baseline"])
@pytest.mark.parametrize("batch", [1, 3])
def test_figures_equal_those_by_hand(kind: str, batch: int) -> None:
    checkpoint = toy.checkpoint(kind)
    corpora = [EvaluationCorpus("plain one", PLAIN), EvaluationCorpus("other", WITH_SINGLETONS)]
    found = evaluate(checkpoint, corpora, batch=batch)
    plain = by_hand(checkpoint, PLAIN, "plain", False)
    other = by_hand(checkpoint, WITH_SINGLETONS, "plain", True)
    assert sum((d.scores for d in found.documents if d.corpus == "plain one"), Scores()) == plain
    assert sum((d.scores for d in found.documents if d.corpus == "other"), Scores()) == other
    assert found.scores.conll_f1 == pytest.approx((plain + other).conll_f1)
    assert 0 < plain.conll_f1 < 1
    assert [d.key for d in found.documents] == [d.key for d in PLAIN + WITH_SINGLETONS]


def test_singletons_are_kept_where_they_are_annotated() -> None:
    # 20 clusters, 1 of them a singleton: the 5% that count; then one in 21
    spans = [((i, i + 1), (i, i + 2)) for i in range(0, 38, 2)]
    some = replace(toy.document(1, 60), clusters=(*spans, ((50, 51),)))
    fewer = replace(some, clusters=(*some.clusters, ((52, 53), (53, 54))))
    config = toy.checkpoint().config
    assert settle(EvaluationCorpus("x", [some]), config).singletons
    assert not settle(EvaluationCorpus("x", [fewer]), config).singletons
    assert not settle(EvaluationCorpus("x", PLAIN), config).singletons
    assert settle(EvaluationCorpus("x", WITH_SINGLETONS), config).singletons
    assert not settle(EvaluationCorpus("x", WITH_SINGLETONS, singletons=False), config).singletons
    assert settle(EvaluationCorpus("x", PLAIN, singletons=True), config).singletons


def test_only_a_model_that_can_tell_singletons_is_asked_for_them() -> None:
    asked, unable = toy.checkpoint(), toy.checkpoint(singletons=False)
    corpora = [EvaluationCorpus("x", WITH_SINGLETONS)]
    told, none = evaluate(asked, corpora), evaluate(unable, corpora)
    assert told.scores.key_mentions == none.scores.key_mentions  # those of the key count for both
    assert told.scores.response_mentions > none.scores.response_mentions
    assert (told.corpora[0].answers_singletons, none.corpora[0].answers_singletons) == (True, False)


def test_the_scheme_follows_the_name_or_the_wish() -> None:
    checkpoint = toy.checkpoint()
    plain = by_hand(checkpoint, PLAIN, "plain", False)
    litbank = by_hand(checkpoint, PLAIN, "litbank", False)
    assert plain != litbank
    assert evaluate(checkpoint, [EvaluationCorpus("litbank", PLAIN)]).scores == litbank
    assert evaluate(checkpoint, [EvaluationCorpus("else", PLAIN)]).scores == plain
    assert evaluate(checkpoint, [EvaluationCorpus("litbank", PLAIN, scheme="plain")]).scores == plain
    with pytest.raises(StreamcorefError, match="no scheme 'craft'; its schemes: plain, litbank"):
        evaluate(checkpoint, [EvaluationCorpus("litbank", PLAIN, scheme="craft")])


def test_what_a_record_says() -> None:
    checkpoint = toy.checkpoint()
    dialogue = replace(PLAIN[0], speakers=("Ann", "Bob", "") * 30, genre="talk")
    first, second = evaluate(checkpoint, [EvaluationCorpus("x", [dialogue, PLAIN[1]])]).documents
    assert (first.speakers, first.genre, first.words, first.corpus) == (2, "talk", 90, "x")
    assert (second.speakers, second.genre, second.words) == (0, None, 30)
    assert first.pieces == sum(map(len, checkpoint.tokenizer(dialogue.words))) > 90
    assert first.peak_bytes is None


def test_peak_entities_are_those_alive_before_an_eviction() -> None:
    checkpoint = toy.checkpoint()
    alive: set[int] = set()
    peak = left = 0
    for result in toys.read(checkpoint.model, checkpoint.config, checkpoint.segmenter.cut(PLAIN[2])):
        alive |= {link.entity for link in result.links}
        peak = max(peak, len(alive))
        alive -= {record.id for record in result.evicted}
        left = max(left, len(alive))
    assert evaluate(checkpoint, [EvaluationCorpus("x", [PLAIN[2]])]).peak_entities == peak > left
    assert evaluate(toy.checkpoint("baseline"), [EvaluationCorpus("x", [PLAIN[1]])]).peak_entities is None


class SlowPolicy(EvictionPolicy):
    def __call__(self, memory: EntityMemory, position: int) -> BoolArray:
        time.sleep(0.05)
        return np.zeros(len(memory), dtype=bool)


@pytest.fixture
def slow() -> Iterator[str]:
    """The name of a policy that takes its time."""

    class SlowOptions(EvictionOptions):
        name: Literal["slow"] = "slow"

        def policy(self) -> EvictionPolicy:
            return SlowPolicy()

    yield "slow"
    del EvictionOptions.kinds["slow"]


def test_time_is_split_into_encoder_and_rest(slow: str) -> None:
    checkpoint = toy.checkpoint(evict={"name": slow})
    checkpoint.model.encoder.model.register_forward_pre_hook(lambda *_: time.sleep(0.2))
    began = time.perf_counter()
    found = evaluate(checkpoint, [EvaluationCorpus("x", [PLAIN[1]], singletons=False)])
    whole = time.perf_counter() - began
    segments = len(checkpoint.segmenter.cut(PLAIN[1]))
    assert found.encoder_seconds >= 0.2 * segments
    assert found.other_seconds >= 0.05 * segments
    assert found.encoder_seconds + found.other_seconds <= whole


def failing() -> Iterator[Document]:
    yield PLAIN[1]
    raise ZeroDivisionError


@pytest.mark.parametrize("training", [True, False])
def test_the_model_is_left_as_it_was(training: bool) -> None:
    """Also where an evaluation fails, and where it is broken off."""
    checkpoint = toy.checkpoint()
    model = checkpoint.model.train(training)
    weights = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    corpus = EvaluationCorpus("x", PLAIN)
    evaluate(checkpoint, [corpus], memory=True)
    assert model.training is training
    with pytest.raises(ZeroDivisionError):
        evaluate(checkpoint, [EvaluationCorpus("x", failing(), singletons=False)])
    assert model.training is training
    some = answers(checkpoint, [corpus], [settle(corpus, checkpoint.config)])
    expected = next(some)
    some.close()
    assert model.training is training
    assert all(torch.equal(tensor, weights[name]) for name, tensor in model.state_dict().items())
    model.eval()
    assert answer(checkpoint, PLAIN[0], scheme="plain") == expected.document


def test_a_model_in_training_is_evaluated_without_dropout() -> None:
    checkpoint = toy.checkpoint(dropout=0.5)
    corpora = [EvaluationCorpus("x", PLAIN[:2])]
    expected = evaluate(checkpoint, corpora).scores
    checkpoint.model.train()
    assert evaluate(checkpoint, corpora).scores == expected
    assert checkpoint.model.training


def test_memory_is_flat_for_one_kind_and_grows_for_the_other() -> None:
    short, long = toy.document(6, 150), toy.document(6, 600)
    soon = {"name": "one_distance", "distance": 20}

    def peaks(kind: str) -> tuple[int, int]:
        found = evaluate(toy.checkpoint(kind, evict=soon), [EvaluationCorpus("x", [short, long])], memory=True)
        first, second = (document.peak_bytes for document in found.documents)
        assert first is not None
        assert second is not None
        assert found.peak_bytes == max(first, second)
        return first, second

    first, second = peaks("incremental")
    assert 0 < second < 1.3 * first
    first, second = peaks("baseline")
    assert second > 3 * first


def test_documents_pass_one_by_one() -> None:
    read = 0

    def stream() -> Iterator[Document]:
        nonlocal read
        for document in PLAIN:
            read += 1
            yield document

    checkpoint = toy.checkpoint()
    corpora = [EvaluationCorpus("x", stream(), singletons=False)]
    for number, found in enumerate(answers(checkpoint, corpora, [settle(corpora[0], checkpoint.config)]), start=1):
        assert read == number
        assert found.document.predicted_clusters is not None
        assert found.result.scores == score_document(found.document.clusters, found.document.predicted_clusters)


def test_a_stream_leaves_singletons_to_be_said() -> None:
    with pytest.raises(StreamcorefError, match="corpus 'x': these documents can be read only once"):
        evaluate(toy.checkpoint(), [EvaluationCorpus("x", iter(PLAIN))])


def test_paths_and_formats(tmp_path: Path) -> None:
    write_documents(PLAIN, tmp_path / "plain.jsonl", "jsonlines")
    checkpoint = toy.checkpoint()
    found = evaluate(checkpoint, [EvaluationCorpus("x", str(tmp_path / "plain.jsonl"))])
    assert found.scores == by_hand(checkpoint, PLAIN, "plain", False)
    with pytest.raises(InputError, match=r"plain\.jsonl"):
        evaluate(checkpoint, [EvaluationCorpus("x", tmp_path / "plain.jsonl", format="conll")])


CONLL = """#begin document (a/b); part 000
a/b 0 0 Anna - (1)
a/b 0 1 saw - (2)
a/b 0 2 her - (1)|(2)
a/b 0 3 ship - (2)

#end document
"""


def test_a_conll_key_counts_as_the_official_scorer_reads_it(tmp_path: Path) -> None:
    (tmp_path / "k.conll").write_text(CONLL)
    found = evaluate(toy.checkpoint(), [EvaluationCorpus("x", tmp_path / "k.conll")])
    # two clusters of two mentions, the mention in both counted in the first; a Document would have one of four
    assert found.scores.muc.recall_denominator == 2
    assert found.scores.ceafe.recall_denominator == 2


def test_a_corpus_without_gold_is_no_corpus(tmp_path: Path) -> None:
    (tmp_path / "story.txt").write_text("Ann slept.")
    (tmp_path / "empty.jsonl").write_text("")
    with pytest.raises(StreamcorefError, match="'x' has no coreference clusters"):
        count_gold(EvaluationCorpus("x", tmp_path / "story.txt"))
    with pytest.raises(StreamcorefError, match="'x' has no documents"):
        count_gold(EvaluationCorpus("x", tmp_path / "empty.jsonl"))


def test_empty_documents_count() -> None:
    empty = Document("empty", (), ())
    for kind in ("incremental", "baseline"):
        found = evaluate(toy.checkpoint(kind), [EvaluationCorpus("x", [empty, PLAIN[1]])])
        assert found.scores.documents == 2
        assert found.documents[0].pieces == 0
        assert found.documents[0].peak_entities == (0 if kind == "incremental" else None)


@pytest.mark.corpus
@pytest.mark.parametrize(("name", "kept"), [("litbank", True), ("ontogum", False)])
def test_singletons_of_published_corpora(shared: Path, name: str, kept: bool) -> None:
    for part in ("train.ids", "dev.ids"):
        assert count_gold(EvaluationCorpus(name, shared / "corpora" / name / part)).has_singletons is kept
