"""Training as the authors train, written out: three optimizer steps, one after another, in plain arithmetic.

The incremental model (Xia et al. 2020) as their program goes through a document, the baseline (Joshi et al. 2019) as
its TensorFlow code does. Nothing is shared with the fast version but the parameters and the order of documents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from streamcoref.model.baseline import BaselineModel
from streamcoref.model.config import ModelConfig
from streamcoref.model.incremental import IncrementalModel
from streamcoref.training.steps import Example
from tests.model.baseline.literal_baseline import LiteralBaseline, LiteralSpan
from tests.model.literal import LiteralModel, feed_forward
from tests.training.literal_loss import LiteralLoss, gold_pieces


def genre_of(config: ModelConfig, example: Example) -> int:
    known = {genre: number for number, genre in enumerate(config.genres)}
    return known.get(example.document.key[:2], 0)


def clip(parameters: Iterable[nn.Parameter], norm: float) -> bool:
    """Scale the gradients of all these parameters down to a norm, if theirs is larger; whether it was."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    length = math.sqrt(sum(float((g.double() ** 2).sum()) for g in gradients))
    for gradient in gradients:
        gradient *= min(1.0, norm / length)
    return length > norm


@dataclass
class Moments:
    """Adam's, of one parameter: exponential means of its gradients and of their squares."""

    mean: Tensor
    square: Tensor
    steps: int = 0

    def add(self, gradient: Tensor) -> None:
        self.mean = 0.9 * self.mean + 0.1 * gradient
        self.square = 0.999 * self.square + 0.001 * gradient**2
        self.steps += 1


@dataclass
class LiteralTrainer:
    model: nn.Module
    moments: dict[str, Moments] = field(default_factory=dict)
    clipped: list[bool] = field(default_factory=list)  # each time: whether there was something to clip

    def moments_of(self, name: str, parameter: nn.Parameter) -> Moments:
        assert parameter.grad is not None
        moments = self.moments.setdefault(name, Moments(torch.zeros_like(parameter), torch.zeros_like(parameter)))
        moments.add(parameter.grad)
        return moments

    def learning(self) -> dict[str, nn.Parameter]:
        return {name: p for name, p in self.model.named_parameters() if p.grad is not None}

    def parameters(self) -> Mapping[str, Tensor]:
        return {name: p.detach() for name, p in self.model.named_parameters()}


class LiteralIncrementalTrainer(LiteralTrainer):
    """Losses go backward and gradients are clipped after each segment, entities are detached; a step a document."""

    def step(self, config: ModelConfig, example: Example, rate: float, norm: float) -> float:
        model = self.model
        assert isinstance(model, IncrementalModel)
        model.zero_grad(set_to_none=True)

        def at_end(losses: list[Tensor]) -> None:
            if losses:
                torch.stack(losses).sum().backward(retain_graph=True)
                self.clipped.append(clip(model.parameters(), norm))

        run = LiteralLoss(model, config, genre_of(config, example)).run(
            example.segments, example.document.clusters, "published", False, False, lambda _: True, at_end
        )
        with torch.no_grad():
            for name, parameter in self.learning().items():
                moments = self.moments_of(name, parameter)
                mean = moments.mean / (1 - 0.9**moments.steps)
                square = moments.square / (1 - 0.999**moments.steps)
                parameter -= rate * mean / (square.sqrt() + 1e-8)
        return float(run.losses.sum())


class LiteralBaselineTrainer(LiteralTrainer):
    """The TensorFlow code's optimizers: BERT's for the encoder, TensorFlow's Adam for the rest, each with its norm."""

    def step(self, config: ModelConfig, example: Example, rates: tuple[float, float], number: int, total: int) -> float:
        model = self.model
        assert isinstance(model, BaselineModel)
        model.zero_grad(set_to_none=True)
        loss = LiteralBaselineLoss(model, config, genre_of(config, example))(example)
        loss.backward()  # type: ignore[no-untyped-call]
        heads = [p for name, p in model.named_parameters() if not name.startswith("encoder.")]
        self.clipped += [clip(model.encoder.parameters(), 1.0), clip(heads, 1.0)]
        down = 1 - number / total
        warm = int(0.1 * total)
        with torch.no_grad():
            for name, parameter in self.learning().items():
                moments = self.moments_of(name, parameter)
                if name.startswith("encoder."):
                    rate = rates[0] * (number / warm if number < warm else down)
                    change = moments.mean / (moments.square.sqrt() + 1e-6)
                    if "LayerNorm" not in name and not name.endswith("bias"):
                        change = change + 0.01 * parameter
                    parameter -= rate * change
                else:
                    rate = rates[1] * down * math.sqrt(1 - 0.999**moments.steps) / (1 - 0.9**moments.steps)
                    parameter -= rate * moments.mean / (moments.square.sqrt() + 1e-8)
        return float(loss)


class LiteralBaselineLoss(LiteralBaseline):
    """-log of the share of all gold antecedents, by pieces, with gradients; of the dummy, if there are none."""

    def __call__(self, example: Example) -> Tensor:
        segments, speakers = example.segments, example.document.speakers
        with torch.no_grad():
            kept = self.keep(self.candidates(segments, speakers), segments)
        self.pieces = self.model.encoder(segments)
        gold = gold_pieces(segments, example.document.clusters)
        cluster_of = {span: number for number, cluster in enumerate(gold) for span in cluster}
        mentions = [self.mention(span, segments[span.segment].position) for span in kept]
        vectors = [vector for vector, _ in mentions]
        shortlists: list[dict[int, Tensor]] = []
        for i in range(len(kept)):
            coarse = {j: self.coarse_score(kept, mentions, i, j) for j in range(i)}
            best = sorted(coarse, key=lambda j: -float(coarse[j]))[: self.model.pair_score.shortlist]
            shortlists.append({j: coarse[j] for j in best})
        scores: list[dict[int, Tensor]] = []
        for step in range(self.config.higher_order.depth):
            if step:
                vectors = self.refined(vectors, scores)
            scores = [
                {j: score + self.fine_score(kept, vectors, i, j) for j, score in shortlist.items()}
                for i, shortlist in enumerate(shortlists)
            ]
        losses = []
        for i, span in enumerate(kept):
            total = 1 + sum(torch.exp(score) for score in scores[i].values())
            mine = cluster_of.get((span.start, span.end))
            right = [
                torch.exp(score)
                for j, score in scores[i].items()
                if mine is not None and cluster_of.get((kept[j].start, kept[j].end)) == mine
            ]
            losses.append(torch.log(torch.as_tensor(total)) - (torch.log(sum(right)) if right else 0.0))
        return torch.stack(losses).sum()

    def mention(self, span: LiteralSpan, position: int) -> tuple[Tensor, Tensor]:
        literal = LiteralModel(self.model, self.config, self.genre, self.scheme)
        pieces, start, end = self.pieces[span.segment], span.start - position, span.end - position
        return literal.span_vector(pieces, start, end), literal.mention_scores(pieces, start, end)[1]

    def coarse_score(self, spans: list[LiteralSpan], mentions: list[tuple[Tensor, Tensor]], i: int, j: int) -> Tensor:
        scorer = self.model.pair_score
        (x, mine), (y, theirs) = mentions[i], mentions[j]
        prior = self.features(scorer.prior_features.tables, scorer.prior_features.names, i, j, spans)
        bonus = scorer.prior.weight[0] @ prior + scorer.prior.bias[0]
        return mine + theirs + (scorer.bilinear.weight @ x + scorer.bilinear.bias) @ y + bonus

    def fine_score(self, spans: list[LiteralSpan], vectors: list[Tensor], i: int, j: int) -> Tensor:
        scorer = self.model.pair_score
        features = self.features(scorer.features.tables, scorer.features.names, i, j, spans)
        x, y = vectors[i], vectors[j]
        return feed_forward(scorer.net, torch.cat([x, y, x * y, features]))

    def refined(self, vectors: list[Tensor], scores: list[dict[int, Tensor]]) -> list[Tensor]:
        gate = self.model.gate
        assert gate is not None
        result = []
        for i, x in enumerate(vectors):
            weights = {i: torch.ones(()), **{j: torch.exp(score) for j, score in scores[i].items()}}
            total = sum(weights.values())
            attended = sum(weight / total * vectors[j] for j, weight in weights.items())
            f = torch.sigmoid(gate.weight @ torch.cat([x, attended]) + gate.bias)
            result.append(f * attended + (1 - f) * x)
        return result
