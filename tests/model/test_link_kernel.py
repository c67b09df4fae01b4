"""The compiled kernel of link scores against numpy, which defines them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch

import streamcoref
from streamcoref.language.versions import LATEST, lexicon
from streamcoref.model import link_kernel, score_table
from streamcoref.model.features import FeatureIndex, PairFeature, PairFeatures
from streamcoref.model.features.identity import Identity
from streamcoref.model.features.likeness import Likeness
from streamcoref.model.features.talk import Part
from streamcoref.model.feed_forward import FeedForward
from streamcoref.model.link_kernel import CompiledRows, compiled_rows
from streamcoref.model.notes import ENTITY, SPAN, Notes
from streamcoref.model.pair_score import FeatureTables
from streamcoref.model.pair_score.coarse_to_fine import RowRefiner
from streamcoref.resolver import Resolver
from tests import toy_resolver
from tests.model.features import pairs

if link_kernel.library() is None:
    reason = "the kernel was not compiled: install the package where there is a C compiler"
    pytest.skip(reason, allow_module_level=True)

SPANS, ENTITIES, ROOM = 120, 50, 60
SIZE, HIDDEN = 24, 64
PLAIN = [pairs.build(name) for name in ("distance", "size", "exact_match", "last_word_match")]
FLAGS = ("mistakes_fade", "titles_tell", "narrators_are_apart")


def features(flags: tuple[bool, ...] = (True, True, True), names: int = 8) -> list[PairFeature]:
    lists = replace(lexicon(LATEST), **dict(zip(FLAGS, flags, strict=True)))
    return [*PLAIN, Identity(names, lists), pairs.build("talk")]


def random_notes(random: np.random.Generator, known: list[PairFeature]) -> tuple[Notes, Notes]:
    """Of few words, genders and voices, so that everything meets, also what would not in a text."""
    spans = Notes.empty([SPAN, *(feature.span_columns for feature in known)], SPANS)
    entities = Notes.empty([ENTITY, *(feature.entity_columns for feature in known)], ROOM)
    words, titles = [-1, 3, 4, 5], [0, 0, 1, 2, 1 << 8, 2 << 8, 3 << 8, 1 | 2 << 8]
    voices = [-3, -2, 0, 1, *range(2, 16)]
    choices: dict[str, list[int]] = {
        "place": list(range(600, 900)),
        "form": words,
        "last_word": words,
        "kind": list(range(9)),
        "title": titles,
        "first": words,
        "last": words,
        "gender": [0, 0, 1, 2, 3, 4, 8, 16],
        "voice": voices,
        "meant": [-1, -1, *range(8)],
        "reversed": [-1, -1, *range(8)],
        "sure": [0, 1, 2],
        **{name: [-1, -1, *range(ENTITIES)] for name in ("says", "should", "before", "calls")},
        "inside": [0, 1],
    }
    for name, values in choices.items():
        spans[name][:] = random.choice(values, SPANS)
    spans["first"][:] = np.where(random.random(SPANS) < 0.5, spans["last"], spans["first"])  # a single word
    quiet = random.random(SPANS) < 0.2
    for name in ("says", "should", "before", "calls"):
        spans[name][quiet] = -1
    choices = {
        "size": [1, 2, 3, 4, 5, 8, 20, 40, 80],
        "place": list(range(0, 700)),
        "forms": [0, 3, 4, 5, 6, 7],
        "last_words": [0, 3, 4, 5, 6, 7],
        "titles": titles,
        "firsts": [0, 3, 4, 5],
        "lasts": [0, 3, 4, 5],
        "called": [0, 0, 0, 1, 2, 7],
        "genders": [0, 0, 0, 0, 1, 3],
        "voices": voices,
        "narrated": [0, 0, 1, 9],
        "told": [0, 2, 9],
    }
    for name, values in choices.items():
        entities[name][:] = random.choice(values, entities[name].shape)
    entities["id"][:] = random.permutation(ROOM)
    entities["called"][:, 0] = np.where(random.random(ROOM) < 0.3, 0, entities["called"][:, 0])
    nameless = entities["called"][:, 0] == 0  # the first place is the first that is taken
    entities["called"][nameless] = 0
    entities["voices"][random.random(ROOM) < 0.2] = 0
    entities["genders"][random.random(ROOM) < 0.2] = 0
    return spans, entities


class Table:
    """A table of random scores as `Shortlists` has it, by the kernel and by numpy."""

    def __init__(self, seed: int, known: list[PairFeature], shortlist: int = 7, hidden: int = HIDDEN) -> None:
        random = np.random.default_rng(seed)
        torch.manual_seed(seed)
        self.length = shortlist
        self.notes, self.entity_notes = random_notes(random, known)
        every = PairFeatures(known, 4)
        self.index: FeatureIndex = every.index({})
        net = FeedForward((SIZE, SIZE, SIZE, every.size), hidden)
        with torch.no_grad():
            tables = FeatureTables(
                score=every.fold(lambda x: x.sum(-1, keepdim=True), {}).squeeze(-1),
                refine=every.fold_apart(lambda x: net.project(3, x), {}),
                product=net.part(2).T.contiguous(),
            )
            rows = torch.randn(ROOM, SIZE + hidden)  # vectors and readings beside each other, as in the memory
            spans, readings = torch.randn(SPANS, SIZE), torch.randn(SPANS, hidden)
            self.refine = RowRefiner(net, shortlist, spans, readings, rows[:, :SIZE], rows[:, SIZE:], tables)
        assert isinstance(tables.score, torch.Tensor)
        self.priors = tables.score.numpy()
        self.products = random.normal(size=(SPANS, ROOM)).astype(np.float32)
        self.among = random.normal(size=(SPANS, SPANS)).astype(np.float32)
        self.scores = np.full((SPANS, ROOM), -np.inf, dtype=np.float32)

    def compiled(self) -> CompiledRows | None:
        arrays = self.priors, self.products, self.among, self.scores
        return compiled_rows(self.index, self.notes, self.entity_notes, *arrays, self.refine, self.length)

    def by_kernel(self, count: int = ENTITIES) -> np.ndarray:
        rows = self.compiled()
        assert rows is not None
        for span in range(SPANS):
            rows.score(span, count)
        return self.scores[:, :count]

    def by_numpy(self, count: int = ENTITIES) -> np.ndarray:
        scores = np.full((SPANS, count), -np.inf, dtype=np.float32)
        known = self.entity_notes.at(slice(0, count))
        for span in range(SPANS):
            index = self.index(self.notes.at(span), known)
            coarse = self.priors[index] + self.products[span, :count]
            best = np.argsort(-coarse, kind="stable")[: self.length]
            scores[span, best] = coarse[best] + self.refine(span, best, index[best])
        return scores


@pytest.mark.parametrize("flags", list(product([False, True], repeat=3)), ids=str)
def test_features_are_numbered_exactly_as_by_numpy(flags: tuple[bool, ...]) -> None:
    """A prior that is the number itself, and nothing added to it: the scores of all entities are their numbers."""
    seen: set[int] = set()
    parts: set[int] = set()
    for seed in range(12):
        known = features(flags, names=3 if seed % 2 else 8)
        table = Table(seed, known, shortlist=ENTITIES)
        table.priors = np.arange(len(table.priors), dtype=np.float32)
        table.products[:] = 0
        table.refine.weight = np.zeros_like(table.refine.weight)
        table.refine.bias = 0.0
        entities = table.entity_notes.at(slice(0, ENTITIES))
        expected = np.array([table.index(table.notes.at(span), entities) for span in range(SPANS)])
        assert np.array_equal(table.by_kernel(), expected)
        for found, name in ((seen, "identity"), (parts, "talk")):
            feature, step = next(pair for pair in table.index.steps if pair[0].name == name)
            found.update(np.unique(expected // step % feature.buckets).tolist())
    assert seen == set(Likeness)
    assert parts == set(Part)


@pytest.mark.parametrize("shortlist", [1, 5, 6, 7, 13, 64])
@pytest.mark.parametrize("count", [1, 5, ENTITIES, ROOM])
def test_scores_are_those_of_numpy(shortlist: int, count: int) -> None:
    table = Table(shortlist, features(), shortlist)
    expected = table.by_numpy(count)
    scores = table.by_kernel(count)
    assert np.array_equal(np.isinf(scores), np.isinf(expected)), "the same shortlist"
    assert np.isfinite(scores).sum() == SPANS * min(shortlist, count)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=2e-5)


@pytest.mark.parametrize("share", [1.0, 0.5, 0.125])
def test_an_entity_that_a_span_changes_is_blended_for_those_that_follow(share: float) -> None:
    table = Table(0, features())
    expected = table.products.copy()
    expected[41:, 7] += np.float32(share) * (table.among[41:, 40] - expected[41:, 7])
    rows = table.compiled()
    assert rows is not None
    rows.changed(7, 40, share)
    np.testing.assert_allclose(table.products, expected, rtol=0, atol=1e-6)
    assert np.array_equal(np.delete(table.products, 7, 1), np.delete(expected, 7, 1))
    if share == 1:
        assert np.array_equal(table.products[41:, 7], table.among[41:, 40])


class Nearness(PairFeature):
    """One that somebody has added."""

    name = "nearness"
    buckets = 2

    def compare(self, spans: Notes, entities: Notes) -> np.ndarray:
        return np.asarray(spans["place"] - entities["place"] < 20)


def test_what_it_does_not_know_is_left_to_numpy() -> None:
    assert Table(0, features()).compiled() is not None
    assert Table(0, [*features(), Nearness()]).compiled() is None
    assert Table(0, features(), hidden=HIDDEN + 8).compiled() is None
    assert Table(0, features(), shortlist=65).compiled() is None


KNOWN = ["distance", "size", "exact_match", "last_word_match", "identity", "talk"]


def make_resolver() -> Resolver:
    pair_score = {"name": "coarse_to_fine", "hidden": 32, "shortlist": 5, "features": KNOWN}
    return toy_resolver.make_resolver(pair_score={**pair_score, "prior_features": ["distance", "identity"]})


@pytest.fixture
def without_kernel(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    with monkeypatch.context() as patch:
        patch.setattr(link_kernel, "library", lambda: None)
        yield patch


def decisions(resolver: Resolver, text: str) -> list[tuple[int, int, int]]:
    events = []
    stream = resolver.stream()
    for at in range(0, len(text), 500):
        events += list(stream.feed(text[at : at + 500]))
    events += list(stream.close())
    return toy_resolver.mentions(events)


def test_a_text_is_resolved_alike_without_it(without_kernel: pytest.MonkeyPatch) -> None:
    text = " ".join(toy_resolver.plain_text(seed, 400) for seed in range(3))
    by_numpy = decisions(make_resolver(), text)
    without_kernel.undo()
    used = 0
    with pytest.MonkeyPatch.context() as patch:
        score = CompiledRows.score

        def counted(self: CompiledRows, span: int, count: int) -> None:
            nonlocal used
            used += 1
            score(self, span, count)

        patch.setattr(CompiledRows, "score", counted)
        assert decisions(make_resolver(), text) == by_numpy
    assert used > 100
    assert len({entity for *_, entity in by_numpy}) > 5


@pytest.mark.model
def test_the_bundled_model_uses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[CompiledRows | None] = []

    def noted(*arguments: Any, **named: Any) -> CompiledRows | None:
        rows.append(compiled_rows(*arguments, **named))
        return rows[-1]

    monkeypatch.setattr(score_table, "compiled_rows", noted)
    streamcoref.load().resolve("Anna Weber lost her keys. She looked for them everywhere.")
    assert rows
    assert None not in rows
