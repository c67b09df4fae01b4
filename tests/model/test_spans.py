"""Spans: scores as the plain computation gives them, pruning as the options say."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import torch

from streamcoref.document import Document
from streamcoref.language import LATEST, Lexicon, lexicon
from streamcoref.language.names import Words
from streamcoref.model.candidates import enumerate_candidates
from streamcoref.model.config import build_model
from streamcoref.model.mention_score import BLOCK
from streamcoref.model.segments import Segment
from streamcoref.model.span_vector import blocks
from streamcoref.model.spans import SegmentSpans, Spans
from tests.model import toys


def segment_of(words: int, longest_sentence: int = 20, seed: int = 0) -> Segment:
    (segment,) = toys.cut(toys.document(seed, words, longest_sentence), 2000)
    return segment


def make(seed: int = 0, **options: Any) -> Spans:
    return toys.model(toys.config(spans=options), seed).spans


def random_pieces(segment: Segment, seed: int = 0) -> torch.Tensor:
    return torch.randn(len(segment), 32, generator=torch.Generator().manual_seed(seed))


@torch.inference_mode()
def propose(spans: Spans, segment: Segment) -> SegmentSpans:
    return spans(random_pieces(segment), segment)


def plain_vector(spans: Spans, pieces: torch.Tensor, start: int, end: int) -> torch.Tensor:
    inside = pieces[start : end + 1]
    attention = torch.softmax(spans.vectors.attention(inside)[:, 0], dim=0)
    width = spans.vectors.width.weight[end - start]
    return torch.cat([pieces[start], pieces[end], width, attention @ inside])


@pytest.mark.parametrize("word_boundaries", [True, False])
@torch.inference_mode()
def test_every_mention_score_equals_the_plain_computation(word_boundaries: bool) -> None:
    segment = segment_of(240)
    pieces = random_pieces(segment)
    spans = make(word_boundaries=word_boundaries)
    candidates, scores = spans.score(pieces, segment, 0)
    assert len(candidates) > 2 * BLOCK  # so that blocks begin and end in the midst of them
    rows = [plain_vector(spans, pieces, a, b) for a, b in zip(candidates.starts, candidates.ends, strict=True)]
    scorer: Any = spans.scorer
    widths = torch.from_numpy(candidates.ends - candidates.starts)
    expected = scorer.span(torch.stack(rows)) + scorer.width(scorer.width_prior.weight[widths])
    torch.testing.assert_close(scores.prune, expected, atol=1e-4, rtol=1e-5)
    few = torch.tensor([7, 3, 40])
    torch.testing.assert_close(scores.link_of(few), expected[few], atol=1e-4, rtol=1e-5)


@torch.inference_mode()
def test_light_scores_equal_the_plain_computation() -> None:
    spans = make(scorer={"name": "light", "size": 16, "two_outputs": True})
    segment = segment_of(60)
    pieces = random_pieces(segment)
    candidates, scores = spans.score(pieces, segment, 0)
    link = scores.link_of(torch.arange(len(candidates)))
    scorer: Any = spans.scorer
    shift = scorer.scheme.weight[0]
    for row, (a, b) in enumerate(zip(candidates.starts, candidates.ends, strict=True)):
        first = torch.nn.functional.gelu(scorer.start(pieces[a]) + shift[:32]).view(2, 16)  # an output a row
        last = torch.nn.functional.gelu(scorer.end(pieces[b]) + shift[32:]).view(2, 16)
        product = (scorer.product * first * last).sum(-1)
        alone = (scorer.alone_start * first).sum(-1) + (scorer.alone_end * last).sum(-1) + scorer.bias
        both = alone + product + scorer.width.weight[b - a]
        assert scores.prune[row].item() == pytest.approx(both[0].item(), abs=1e-4)
        assert link[row].item() == pytest.approx(both[1].item(), abs=1e-4)
    assert not torch.allclose(scores.prune, link)
    few = torch.tensor([7, 3, 40])
    torch.testing.assert_close(scores.link_of(few), link[few], atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_schemes_with_weights_of_their_own_begin_alike_and_learn_apart() -> None:
    light = {"name": "light", "size": 16, "two_outputs": True, "own_weights": True}
    spans = toys.model(toys.config(spans={"scorer": light}, schemes=["one", "two"]), 0).spans
    scorer: Any = spans.scorer
    scorer.scheme.weight.zero_()
    segment = segment_of(30)
    pieces = random_pieces(segment)
    every = torch.arange(len(spans.score(pieces, segment, 0)[0]))
    before = [spans.score(pieces, segment, scheme)[1] for scheme in (0, 1)]
    links = [one.link_of(every) for one in before]
    torch.testing.assert_close(before[0].prune, before[1].prune, atol=0, rtol=0)
    scorer.own[1] = -torch.stack([scorer.alone_start, scorer.alone_end, scorer.product])  # nothing is left of them
    prior = scorer.bias + scorer.width.weight
    one, two = (spans.score(pieces, segment, scheme) for scheme in (0, 1))
    torch.testing.assert_close(one[1].prune, before[0].prune, atol=0, rtol=0)
    widths = torch.from_numpy(two[0].ends - two[0].starts)
    torch.testing.assert_close(two[1].prune, prior[widths, 0], atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(two[1].link_of(every), prior[widths, 1], atol=1e-4, rtol=1e-5)
    torch.testing.assert_close(one[1].link_of(every), links[0], atol=0, rtol=0)


@torch.inference_mode()
def test_one_output_serves_pruning_and_linking() -> None:
    segment = segment_of(30)
    spans = make(scorer={"name": "light", "size": 16, "two_outputs": False})
    _, scores = spans.score(random_pieces(segment), segment, 0)
    torch.testing.assert_close(scores.prune, scores.link, atol=0, rtol=0)


@torch.inference_mode()
def test_the_scheme_shifts_light_scores() -> None:
    light = {"name": "light", "size": 16}
    spans = toys.model(toys.config(spans={"scorer": light}, schemes=["one", "two"]), 0).spans
    segment = segment_of(30)
    one, two = (spans.score(random_pieces(segment), segment, scheme)[1] for scheme in (0, 1))
    assert not torch.allclose(one.prune, two.prune)


@pytest.mark.parametrize("projected_size", [None, 12])
@torch.inference_mode()
def test_vectors_of_the_kept_spans(projected_size: int | None) -> None:
    segment = segment_of(40)
    pieces = random_pieces(segment)
    spans = make(projected_size=projected_size)
    kept = spans(pieces, segment)
    plain = torch.stack(
        [plain_vector(spans, pieces, a, b) for a, b in zip(kept.kept.starts, kept.kept.ends, strict=True)]
    )
    expected = plain if spans.vectors.projection is None else spans.vectors.projection(plain)
    assert kept.vectors.shape == (len(kept), projected_size or 3 * 32 + 4)
    assert spans.vectors.size == kept.vectors.shape[1]
    torch.testing.assert_close(kept.vectors, expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("ratio_of", ["pieces", "words"])
@pytest.mark.parametrize("ratio", [0.1, 0.25, 0.4])
def test_how_many_are_kept(ratio_of: str, ratio: float) -> None:
    segment = segment_of(50)
    assert len(segment) > len(segment.words) + 2
    kept = propose(make(ratio=ratio, ratio_of=ratio_of), segment)
    n = len(segment) if ratio_of == "pieces" else 50
    assert len(kept) == int(ratio * n)


def test_a_large_ratio_keeps_every_candidate() -> None:
    segment = segment_of(20)
    kept = propose(make(ratio=100.0), segment)
    assert len(kept) == len(kept.candidates) == len(enumerate_candidates(segment, 8))


def test_the_best_are_kept_in_the_order_of_the_text() -> None:
    kept = propose(make(), segment_of(60))
    spans = list(zip(kept.kept.starts.tolist(), kept.kept.ends.tolist(), strict=True))
    assert all(a < b for a, b in pairwise(spans))
    everyone = dict(
        zip(
            zip(kept.candidates.starts.tolist(), kept.candidates.ends.tolist(), strict=True),
            kept.candidate_scores.tolist(),
            strict=True,
        )
    )
    worst = min(everyone[span] for span in spans)
    assert all(score <= worst for span, score in everyone.items() if span not in set(spans))
    assert kept.prune_scores.tolist() == [everyone[span] for span in spans]


def test_a_minimum_score_drops_spans_before_linking() -> None:
    segment = segment_of(60)
    without = propose(make(ratio=1.0), segment)
    limit = float(without.prune_scores.median())
    kept = propose(make(ratio=1.0, min_score=limit), segment)
    assert kept.prune_scores.tolist() == [s for s in without.prune_scores.tolist() if s >= limit]
    assert 0 < len(kept) < len(without)
    assert len(kept.candidates) == len(without.candidates)  # training sees them all
    assert len(propose(make(min_score=1e6), segment)) == 0
    few, all_above = propose(make(ratio=0.2), segment), propose(make(ratio=0.2, min_score=-1e6), segment)
    assert all_above.word_spans == few.word_spans  # of more than may be kept, the best


def test_spans_may_cross() -> None:
    kept = propose(make(ratio=100.0), segment_of(12, longest_sentence=12))
    spans = kept.word_spans
    assert any(a < c < b < d for a, b in spans for c, d in spans)


def test_positions_and_words_are_those_of_the_text() -> None:
    document = toys.document(4, 80)
    segments = toys.cut(document, 40)
    assert len(segments) > 2
    before = 0
    for segment in segments:
        kept = propose(make(ratio=100.0), segment)
        assert kept.starts.tolist() == (kept.kept.starts + before).tolist()
        assert kept.ends.tolist() == (kept.kept.ends + before).tolist()
        for start, end in kept.word_spans:
            assert segment.first_word <= start < end <= segment.first_word + len(segment.words)
            assert document.sentence_of_word[start] == document.sentence_of_word[end - 1]
        assert kept.candidate_mentions == kept.mentions == kept.word_spans
        before += len(segment)


def test_the_same_words_are_read_once_a_segment_in_whatever_order_spans_stand() -> None:
    asked: list[Words] = []

    def shout(words: Words, _lexicon: Lexicon) -> str:
        asked.append(words)
        return " ".join(words).upper()

    kept = propose(make(ratio=100.0), segment_of(60))
    turned = kept.at(np.arange(len(kept))[::-1].copy())
    for _ in range(2):
        assert kept.read(shout, lexicon(LATEST)) == [" ".join(words).upper() for words in kept.texts]
        assert turned.read(shout, lexicon(LATEST)) == [" ".join(words).upper() for words in turned.texts]
    assert len(asked) == len(set(kept.texts)) < len(kept)
    kept.read(shout, lexicon(1))  # of which other things are known
    assert len(asked) == 2 * len(set(kept.texts))


def test_blocks_cover_the_spans_and_their_pieces() -> None:
    candidates = enumerate_candidates(segment_of(60), 8)
    runs = blocks(candidates, 50)
    assert [rows.start for rows, _, _ in runs] == list(range(0, len(candidates), 50))
    assert runs[-1][0].stop == len(candidates)
    for rows, low, high in runs:
        assert low == candidates.starts[rows].min()
        assert high == candidates.ends[rows].max() + 1
    assert blocks(candidates[np.arange(0)], 50) == []


def test_no_candidates_no_spans() -> None:
    """The only word is wider than a span may be."""
    document = Document.from_sentences("x", [["unbelievable"]])
    (segment,) = toys.cut(document, 64)
    kept = propose(make(max_width=2), segment)
    assert len(kept) == 0
    assert kept.vectors.shape == (0, 100)
    assert kept.word_spans == []


def test_gradients_flow_to_every_parameter_of_the_scorer() -> None:
    segment = segment_of(30)
    spans = build_model(toys.config()).spans
    kept = spans(random_pieces(segment), segment)
    (kept.vectors.sum() + kept.candidate_scores.sum()).backward()
    assert all(parameter.grad is not None for parameter in spans.parameters())
