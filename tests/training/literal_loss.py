"""The incremental loss written out: one span and one entity at a time, gradients by plain autograd over Python lists.

It follows Algorithm 1 as `tests.model.literal` does, computes every span's right entities from scratch, from the gold
clusters (as pieces) and all decisions so far, and shares nothing with the fast version but the parameters.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor

from streamcoref.document import Clusters
from streamcoref.model.segments import Segment
from tests.model.literal import LiteralEntity, LiteralModel, feed_forward, form, mention_of

Pieces = tuple[int, int]  # the first and the last piece of a span, in the whole text


def gold_pieces(segments: list[Segment], clusters: Clusters) -> list[list[Pieces]]:
    """The clusters as pieces: from the first piece of a mention's first word to the last piece of its last one."""
    places: dict[int, list[int]] = {}
    for segment in segments:
        for piece, word in enumerate(segment.word_of_piece.tolist()):
            places.setdefault(word, []).append(segment.position + piece)
    return [[(places[a][0], places[b - 1][-1]) for a, b in cluster] for cluster in clusters]


def nothing(_: list[Tensor]) -> None: ...


@dataclass
class LiteralRun:
    losses: Tensor  # of each span
    labelled: list[bool]  # whether it should join an entity
    decisions: list[tuple[tuple[int, int], int]]  # span, entity
    evicted: int


class LiteralLoss(LiteralModel):
    """`detach_after` tells for each segment whether gradients stop at its end; `evict` whether entities leave.

    `at_end` gets the losses of each segment before they do.
    """

    def run(
        self,
        segments: list[Segment],
        clusters: Clusters,
        objective: str,
        teacher_forcing: bool,
        evict: bool,
        detach_after: Callable[[int], bool],
        at_end: Callable[[list[Tensor]], None] = nothing,
    ) -> LiteralRun:
        gold = gold_pieces(segments, clusters)
        cluster_of = {span: number for number, cluster in enumerate(gold) for span in cluster}
        self.before = {b: a for cluster in gold for a, b in pairwise(sorted(cluster))}
        self.known: dict[Pieces | None, int] = {}  # to the authors' program: the entities of spans
        entities: list[LiteralEntity] = []
        history: list[tuple[tuple[int, int], int]] = []
        placed: list[tuple[Pieces, int]] = []
        losses: list[Tensor] = []
        labelled: list[bool] = []
        evicted = 0
        for number, segment in enumerate(segments):
            pieces = self.model.encoder([segment])[0]
            first_loss = len(losses)
            for start, end, x, link, prune in self.spans(pieces, segment):
                first, last = int(segment.word_of_piece[start]), int(segment.word_of_piece[end]) + 1
                mention = mention_of(segment, first, last)
                start, end = start + segment.position, end + segment.position
                right = self.right_entities((start, end), cluster_of, placed, entities, objective)
                labelled.append(bool(right))
                seen, decisive = self.all_scores(start, end, x, mention, entities, right)
                shown = {i: link + score for i, score in seen.items()}
                total = torch.exp(torch.stack([link.new_zeros(()), *shown.values()])).sum()
                wanted = [torch.exp(shown[i]) for i in right if i in shown]
                losses.append(torch.log(total) - (torch.log(torch.stack(wanted).sum()) if right else 0.0))
                best = max(decisive, key=decisive.__getitem__, default=None)
                joined = best if best is not None and float(link) + decisive[best] > 0 else None
                if teacher_forcing:
                    joined = max(right, default=None)
                if joined is None:
                    e = LiteralEntity(1 + max((entity for _, entity in history), default=-1), x, start, end, 0.0)
                    entities.append(e)
                else:
                    e = entities[joined]
                    e.vector = self.update(e, x)
                    e.start, e.end, e.size = start, end, e.size + 1
                e.best = max(e.best, float(prune))
                e.forms.append(form(mention[0]))
                e.mentions.append(mention)
                history.append(((first, last), e.id))
                placed.append(((start, end), e.id))
                self.known[start, end] = e.id
            self.known = {(e.start, e.end): e.id for e in entities}
            at_end(losses[first_loss:])
            if evict:
                stay = [e for e in entities if self.stays(e, segment.end)]
                evicted += len(entities) - len(stay)
                entities = stay
            if detach_after(number):
                for e in entities:
                    e.vector = e.vector.detach()
        return LiteralRun(torch.stack(losses), labelled, history, evicted)

    def right_entities(self, span, cluster_of, history, entities, objective: str) -> list[int]:
        """Places in the list of entities alive."""
        place = {e.id: i for i, e in enumerate(entities)}
        if objective == "published":
            held = self.known.get(self.before.get(span))
            return [place[held]] if held in place else []
        antecedents = [
            place[entity]
            for earlier, entity in history
            if span in cluster_of and cluster_of.get(earlier) == cluster_of[span] and entity in place
        ]
        return antecedents[-1:] if objective == "most_recent" else sorted(set(antecedents))

    def all_scores(self, start, end, x, mention, entities, right) -> tuple[dict[int, Tensor], dict[int, float]]:
        """Pair scores as the loss sees them, right entities on the shortlist in any case, and as decisions see them."""
        scorer = self.model.pair_score

        def fine(e: LiteralEntity) -> Tensor:
            features = self.features(scorer.features.names, scorer.features.tables, start, end, mention, e)
            return feed_forward(scorer.net, torch.cat([x, e.vector, x * e.vector, features]))

        if self.config.pair_score.name == "feed_forward":
            scores = {i: fine(e) for i, e in enumerate(entities)}
            return scores, {i: float(score) for i, score in scores.items()}
        prior = scorer.prior_features
        query = scorer.bilinear.weight @ x + scorer.bilinear.bias
        coarse = {}
        for i, e in enumerate(entities):
            features = self.features(prior.names, prior.tables, start, end, mention, e)
            coarse[i] = query @ e.vector + scorer.prior.weight[0] @ features + scorer.prior.bias[0]
        decisive = sorted(coarse, key=lambda i: -float(coarse[i]))[: scorer.shortlist]
        learnt = sorted(coarse, key=lambda i: (i not in right, -float(coarse[i])))[: scorer.shortlist]
        return (
            {i: coarse[i] + fine(entities[i]) for i in learnt},
            {i: float(coarse[i] + fine(entities[i])) for i in decisive},
        )
