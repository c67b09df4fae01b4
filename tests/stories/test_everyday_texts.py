"""Everyday texts are answered at least as well as they were: a floor for each, and one for all of them together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import streamcoref
from streamcoref import Document
from streamcoref.document import Clusters
from streamcoref.metrics import Scores, score_document
from streamcoref.text import document_from_text
from tests.stories.everyday_texts import TEXTS
from tests.stories.marked import parse

if TYPE_CHECKING:
    from streamcoref import Resolver

# CoNLL F1, in percent, singletons dropped. What the bundled model reaches, rounded down: never to be lowered.
FLOORS = {
    "a press report": 50,
    "a chat": 49,
    "a support ticket": 75,
    "an encyclopedia article": 56,
    "a recipe": 25,
    "minutes of a meeting": 74,
    "a court report": 44,
    "a first-person story": 61,
    "an e-mail thread": 60,
    "a scientific abstract": 61,
}
TOGETHER = 58


def marked_document(name: str) -> Document:
    """A text with its marked mentions as gold clusters."""
    text, places = parse(TEXTS[name])
    document = document_from_text(name, text)
    starts = {start: word for word, (start, _) in enumerate(document.offsets)}
    ends = {end: word + 1 for word, (_, end) in enumerate(document.offsets)}
    clusters: Clusters = tuple(tuple((starts[a], ends[b]) for a, b in spans) for spans in places.values())
    return Document(name, document.words, document.sentence_ends, clusters, text=text, offsets=document.offsets)


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return streamcoref.load()


def scores(resolver: Resolver, name: str) -> Scores:
    document = resolver.resolve(document=marked_document(name))
    return score_document(document.clusters, document.predicted_clusters or (), singletons=False)


@pytest.mark.model
@pytest.mark.parametrize("name", TEXTS)
def test_no_text_is_answered_worse(resolver: Resolver, name: str) -> None:
    assert 100 * scores(resolver, name).conll_f1 >= FLOORS[name]


@pytest.mark.model
def test_all_together(resolver: Resolver) -> None:
    total = sum((scores(resolver, name) for name in TEXTS), Scores())
    assert 100 * total.conll_f1 >= TOGETHER


@pytest.mark.parametrize("name", TEXTS)
def test_every_entity_is_mentioned_again(name: str) -> None:
    document = marked_document(name)
    assert len(document.clusters) >= 7
    assert all(len(cluster) > 1 for cluster in document.clusters)
    assert 100 <= len(document.words) <= 220
