"""The documents of a recipe: how often they come, and what their corpora say of them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from streamcoref.errors import StreamcorefError
from streamcoref.training.data import epoch_order
from tests.training import synthetic


@pytest.mark.parametrize(("weight", "times"), [(0.0, 0), (0.5, 3), (1.0, 6), (2.5, 15)])
def test_a_corpus_comes_as_often_as_its_weight_says(tmp_path: Path, weight: float, times: int) -> None:
    values = synthetic.recipe(tmp_path)
    other = synthetic.corpus(tmp_path / "other.jsonl", documents=2)
    values["corpora"][0]["weight"] = weight
    values["corpora"].append({"name": "other", "path": str(other), "use": "train"})
    corpora = synthetic.new_run(values).start.train
    order = epoch_order(corpora, 1, 0)
    assert sum(any(example is e for e in corpora[0].examples) for example in order) == times
    assert len(order) == times + 2
    assert order == epoch_order(corpora, 1, 0)
    assert weight == 0 or order != epoch_order(corpora, 1, 1) or order != epoch_order(corpora, 1, 2)


def test_documents_that_are_learnt_from_at_once_are_of_one_length(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    corpora = synthetic.new_run(values).start.train
    example = corpora[0].examples[0]
    segment = example.segments[0]
    lengths = [1, 4, 2, 2, 9, 1, 4, 1, 9]
    lengthy = [replace(corpora[0], examples=[replace(example, segments=[segment] * n) for n in lengths])]

    def counts(**options: int) -> list[int]:
        return [len(one.segments) for one in epoch_order(lengthy, 1, 0, **options)]

    pairs = counts(together=2)
    assert sorted(pairs) == sorted(lengths)
    assert sorted(zip(pairs[:8:2], pairs[1:8:2], strict=True)) == [(1, 1), (2, 2), (4, 4), (9, 9)]
    assert pairs[8] == 1  # only the last step may be short
    assert pairs[:8:2] != sorted(pairs[:8:2])  # short ones first would be a lesson of its own
    cropped = counts(together=2, crop=4)  # of the longer ones as much is read as of those of four
    assert sorted(cropped) == sorted(lengths)
    assert all({a, b} <= {4, 9} for a, b in zip(cropped[:8:2], cropped[1:8:2], strict=True) if max(a, b) > 2)


@pytest.mark.parametrize(("mention_loss", "weights"), [("off", [0, 0]), ("singletons", [0.5, 0]), ("all", [0.5, 0.5])])
def test_the_mention_loss_is_for_the_corpora_that_it_is_meant_for(
    tmp_path: Path, mention_loss: str, weights: list[float]
) -> None:
    values = synthetic.recipe(tmp_path, mention_loss=mention_loss, mention_weight=0.5)
    values["corpora"] = [{**values["corpora"][0], "name": str(flag), "singletons": flag} for flag in (True, False)]
    corpora = synthetic.new_run(values).start.train
    assert [corpus.examples[0].mention_weight for corpus in corpora] == weights


def test_genre_and_scheme_of_a_corpus_reach_its_documents(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    values["model"]["changes"]["schemes"] = ["unknown", "ours"]
    values["corpora"][0] |= {"genre": "wb", "scheme": "ours"}
    example = synthetic.new_run(values).start.train[0].examples[0]
    assert (example.document.genre, example.scheme) == ("wb", "ours")
    values["corpora"][0]["scheme"] = "theirs"
    with pytest.raises(StreamcorefError, match="corpus toy: the model has no scheme 'theirs'; it has unknown, ours"):
        synthetic.new_run(values)


def test_weights_that_leave_no_document_are_refused(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    values["corpora"][0]["weight"] = 0.0
    with pytest.raises(StreamcorefError, match="the weights of the training corpora leave no document"):
        synthetic.new_run(values)


def test_documents_may_be_left_out(tmp_path: Path) -> None:
    values = synthetic.recipe(tmp_path)
    keys = [example.document.key for example in synthetic.new_run(values).start.train[0].examples]
    values["corpora"][0]["without"] = keys[:2]
    assert [example.document.key for example in synthetic.new_run(values).start.train[0].examples] == keys[2:]
    values["corpora"][0]["without"] = ["nobody"]
    with pytest.raises(StreamcorefError, match=r"corpus toy: .* has no document nobody to leave out"):
        synthetic.new_run(values)
