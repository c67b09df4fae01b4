"""A scorer that reads words: added by name, nothing else touched."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pytest
import torch
from torch import Tensor

from streamcoref.document import Document
from streamcoref.model.candidates import enumerate_candidates
from streamcoref.model.config import ModelConfig
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.pair_score import FeatureTables, Pairs, PairScorer, PairScorerOptions
from streamcoref.model.parts import Surroundings
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.text_context import TextContext, text_contexts
from tests.model import toys


class WordOverlapScorer(PairScorer):
    """The share of a mention's words that the entity's remembered mentions have, above a half."""

    reading_size = 0
    uses_text = True

    def __init__(self, options: WordOverlapOptions, around: Surroundings) -> None:
        super().__init__()
        self.features = options.pair_features(around, ())
        self.seen: list[Pairs] = []

    def read_spans(self, spans: Tensor) -> Tensor:
        return spans[:, :0]

    def read_entities(self, entities: Tensor) -> Tensor:
        return entities[:, :0]

    def fold_features(self, fixed: Mapping[str, int | None]) -> FeatureTables:
        return FeatureTables(torch.zeros(1))

    def score(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        self.seen.append(pairs)
        assert pairs.span_text is not None
        mine = mention(pairs.span_text)
        return torch.tensor(
            [len(mine & set().union(*map(mention, texts))) / len(mine) - 0.5 for texts in pairs.entity_texts]
        )


class WordOverlapOptions(PairScorerOptions):
    name: Literal["word_overlap_of_a_test"] = "word_overlap_of_a_test"

    def build(self, around: Surroundings) -> PairScorer:
        return WordOverlapScorer(self, around)


def mention(text: TextContext) -> set[str]:
    return {word.lower() for word in text.words[text.start : text.end]}


def make(**changes: Any) -> tuple[IncrementalModel, ModelConfig, WordOverlapScorer]:
    values: dict[str, Any] = {"pair_score": {"name": "word_overlap_of_a_test"}, "evict": {"name": "none"}, **changes}
    config = toys.config(**values)
    model = toys.model(config, 0)
    with torch.no_grad():  # mention scores of zero: links depend on the words alone
        for parameter in model.spans.scorer.parameters():
            parameter.zero_()
    assert isinstance(model, IncrementalModel)
    assert isinstance(model.pair_score, WordOverlapScorer)
    return model, config, model.pair_score


SENTENCES = [
    ["Anna", "met", "Carl", "."],
    ["Carl", "gave", "Anna", "the", "letter", "."],
    ["the", "captain", "saw", "Anna", "."],
    ["Carl", "lost", "it", "."],
]


def test_it_links_by_words() -> None:
    model, config, _ = make(spans={"ratio": 100.0, "max_width": 1})
    document = Document.from_sentences("x", SENTENCES)
    segments = toys.cut(document, 16)
    assert len(segments) > 1
    clusters: dict[int, list[str]] = {}
    for result in toys.read(model, config, segments):
        for link in result.links:
            clusters.setdefault(link.entity, []).append(document.words[link.span[0]].lower())
            assert link.score == (0.0 if link.is_new else 0.5)
    # every word is an entity of its own ("captain" has two pieces, more than a span may have here)
    assert sorted(clusters.values()) == sorted(
        [w.lower()] * sum(x.lower() == w.lower() for x in document.words)
        for w in dict.fromkeys(w.lower() for w in document.words)
        if w.lower() != "captain"
    )


def test_it_is_handed_the_sentence_of_the_span_and_of_each_mention() -> None:
    model, config, scorer = make(spans={"ratio": 100.0, "max_width": 1})
    document = Document.from_sentences("x", SENTENCES)
    segments = toys.cut(document, 16)
    links = [link for result in toys.read(model, config, segments) for link in result.links]
    contexts: dict[int, list[TextContext]] = {}
    asked = iter(scorer.seen)
    for number, link in enumerate(links):
        start, end = link.span
        sentence = document.sentence_of_word[start]
        first = (0, *document.sentence_ends)[sentence]
        expected = TextContext(tuple(SENTENCES[sentence]), start - first, end - first)
        if number:
            pairs = next(asked)
            assert pairs.span_text == expected
            assert sorted(map(repr, pairs.entity_texts)) == sorted(
                repr(tuple(texts[-scorer.contexts :])) for texts in contexts.values()
            )
            assert len(pairs.entity) == len(pairs.entity_texts)
        contexts.setdefault(link.entity, []).append(expected)


def test_an_entity_remembers_its_latest_mentions_only() -> None:
    model, config, _ = make(spans={"ratio": 100.0, "max_width": 1})
    document = Document.from_sentences("x", [["Anna", w] for w in "saw met left found lost gave took asked".split()])
    state = model.new_state()
    toys.read(model, config, toys.cut(document, 12), state)
    assert len(state.memory.texts) == len(state.memory)
    anna = state.memory.texts[int(np.flatnonzero(state.memory.sizes == 8)[0])]
    assert [text.words[1] for text in anna] == ["lost", "gave", "took", "asked"]


def test_texts_leave_with_their_entities() -> None:
    model, config, _ = make(spans={"ratio": 100.0, "max_width": 1}, evict={"name": "none", "budget": 3})
    state = model.new_state()
    segments = toys.cut(toys.document(0, 120), 24)
    for segment in segments:
        (result,) = toys.read(model, config, [segment], state)
        assert len(state.memory) == len(state.memory.texts) == 3
        assert all(record.texts for record in result.evicted)
    latest = {text.words[text.start : text.end] for texts in state.memory.texts for text in texts}
    assert latest <= {(word,) for word in toys.WORDS}


@pytest.mark.parametrize("cut", [1, 2, 4])
def test_a_saved_state_keeps_the_texts(cut: int) -> None:
    model, config, _ = make()
    segments = toys.cut(toys.document(1, 120), 24)
    whole = [result.links for result in toys.read(model, config, segments)]
    state = model.new_state()
    first = [result.links for result in toys.read(model, config, segments[:cut], state)]
    loaded = model.load_state(state.to_bytes())
    assert loaded.memory.texts == state.memory.texts
    assert first + [result.links for result in toys.read(model, config, segments[cut:], loaded)] == whole
    assert any(not link.is_new for links in whole[cut:] for link in links)


def test_scorers_that_do_not_read_text_keep_none() -> None:
    model = toys.model(toys.config(), 0)
    assert isinstance(model, IncrementalModel)
    state = model.new_state()
    toys.read(model, toys.config(), toys.cut(toys.document(0, 60), 24), state)
    assert len(state.memory) > 0
    assert state.memory.texts == []


@pytest.mark.parametrize("max_pieces", [12, 24, 64])
def test_contexts_of_every_candidate(max_pieces: int) -> None:
    """The sentence as far as the segment holds it, whatever pieces its words have."""
    document = toys.document(5, 80, longest_sentence=30)
    bounds = list(pairwise((0, *document.sentence_ends)))
    for segment in toys.cut(document, max_pieces):
        candidates = enumerate_candidates(segment, 8)
        nothing = torch.zeros(len(candidates))
        spans = SegmentSpans(segment, candidates, nothing[:, None], nothing, nothing, candidates, nothing)
        last = segment.first_word + len(segment.words)
        for (start, end), context in zip(spans.word_spans, text_contexts(spans), strict=True):
            a, b = bounds[document.sentence_of_word[start]]
            a, b = max(a, segment.first_word), min(b, last)
            assert context == TextContext(document.words[a:b], start - a, end - a)
            assert context.words[context.start : context.end] == document.words[start:end]
