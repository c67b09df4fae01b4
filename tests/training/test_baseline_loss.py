"""The baseline's loss against a hand computation, and the crop of long documents."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from streamcoref.document import Document
from streamcoref.model.baseline import BaselineModel
from streamcoref.training.loss import choice_loss
from streamcoref.training.steps import Example, baseline_step, clusters_inside, crop_segments
from tests.model import toys
from tests.training import synthetic


def setting(seed: int = 0) -> tuple[BaselineModel, Example]:
    config = toys.config(**synthetic.BASELINE, segments={"max_pieces": 16})
    model = toys.model(config, seed)
    assert isinstance(model, BaselineModel)
    plain = toys.document(seed, 40, longest_sentence=8)
    spans = [(start, start + width) for start in range(36) for width in (1, 2, 3)]
    clusters = [[span for span in spans if sum(span) % 8 == number] for number in range(4)]
    document = Document.from_sentences("toy", plain.sentences, clusters, speakers=["Anna", "Carl"] * 20)
    return model, Example(document, toys.cut(document, 16), None, 0.0)


def step(model: BaselineModel, example: Example, crop: int | None = None) -> float:
    model.zero_grad(set_to_none=True)
    return baseline_step(model, example, crop, model.encoder, np.random.default_rng(0))


def by_hand(model: BaselineModel, example: Example) -> torch.Tensor:
    """-log of the share of all gold antecedents among those compared; of the dummy, if there is none."""
    document = example.document
    spans, antecedents = model.resolve(model.encoder(example.segments), example.segments, model.reading())
    cluster_of = {span: number for number, cluster in enumerate(document.clusters) for span in cluster}
    losses = []
    for i, span in enumerate(spans.words):
        total, right = torch.ones(()), []
        for row, score in zip(antecedents.rows[i].tolist(), antecedents.scores[i], strict=True):
            if row < i:
                total = total + torch.exp(score)
                if span in cluster_of and cluster_of.get(spans.words[row]) == cluster_of[span]:
                    right.append(torch.exp(score))
        losses.append(torch.log(total) - (torch.log(torch.stack(right).sum()) if right else 0.0))
    return torch.stack(losses).sum()


def test_marginal_log_likelihood_and_its_gradients() -> None:
    model, example = setting()
    expected = by_hand(model, example)
    expected.backward()  # type: ignore[no-untyped-call]
    wanted = {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}
    assert step(model, example) == pytest.approx(expected.item(), rel=1e-4)
    for name, parameter in model.named_parameters():
        if name in wanted:
            torch.testing.assert_close(parameter.grad, wanted[name], rtol=1e-3, atol=1e-3)


def test_the_mention_loss_is_added_by_its_weight() -> None:
    model, example = setting()
    links = step(model, example)
    gold = {span for cluster in example.document.clusters for span in cluster}
    spans, _ = model.resolve(model.encoder(example.segments), example.segments, model.reading())
    mentions = 0.0
    for part in spans.parts:
        scores = part.candidate_scores.detach().double().tolist()
        for mention, score in zip(part.candidate_mentions, scores, strict=True):
            mentions += math.log1p(math.exp(-score if mention in gold else score))
    weighted = Example(example.document, example.segments, None, 0.5)
    assert step(model, weighted) == pytest.approx(links + 0.5 * mentions, rel=1e-4)


def test_choices_without_a_right_one_should_be_new() -> None:
    scores = torch.tensor([[1.0, 2.0, -torch.inf], [1.0, 2.0, 0.5]])
    right = torch.tensor([[False, False, False], [True, False, True]])
    total = 1 + math.e + math.e**2
    expected = [math.log(total), math.log((total + math.e**0.5) / (math.e + math.e**0.5))]
    assert choice_loss(scores, right).tolist() == pytest.approx(expected)


def test_a_crop_is_a_stretch_of_segments_and_every_stretch_comes() -> None:
    _, example = setting()
    segments = example.segments
    random = np.random.default_rng(0)
    firsts = set()
    for _ in range(100):
        part = crop_segments(segments, 2, random)
        first = segments.index(part[0])
        assert part == segments[first : first + 2]
        firsts.add(first)
    assert firsts == set(range(len(segments) - 1))
    assert crop_segments(segments, len(segments), random) == crop_segments(segments, None, random) == segments


def test_only_mentions_inside_the_crop_count() -> None:
    _, example = setting()
    part = example.segments[1:3]
    first, end = part[0].first_word, part[1].first_word + len(part[1].words)
    inside = (first, first + 1), (end - 1, end)
    clusters = (
        ((0, 1), inside[0], (end, end + 1)),
        (inside[1],),
        ((0, 1),),
        ((first - 1, first + 1), (end - 1, end + 1)),
    )
    assert clusters_inside(clusters, part) == ((inside[0],), (inside[1],))


def test_a_cropped_step_is_a_step_on_the_crop() -> None:
    model, example = setting()
    part = crop_segments(example.segments, 2, np.random.default_rng(0))
    assert part != example.segments[:2]
    clusters = clusters_inside(example.document.clusters, part)
    document = Document.from_sentences("toy", example.document.sentences, clusters, speakers=example.document.speakers)
    assert step(model, example, crop=2) == pytest.approx(step(model, Example(document, part, None, 0.0)))
