"""Algorithm 1 written out: slow, one span and one entity at a time, obviously right. The fast version must agree.

It shares nothing with the fast version but the parameters: no batched scoring, no projections taken apart, no
cached readings, no preallocated memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import torch
from torch import Tensor

from streamcoref.model.config import ModelConfig
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.segments import SPECIAL, Segment
from tests.model.literal_agreement import Mention, literal_agreement


@dataclass(eq=False)
class LiteralEntity:
    id: int
    vector: Tensor
    start: int
    end: int
    best: float
    size: int = 1
    forms: list[tuple[str, ...]] = field(default_factory=list)
    mentions: list[Mention] = field(default_factory=list)


@dataclass(eq=False)
class LiteralLink:
    span: tuple[int, int]
    entity: int
    score: float
    probability: float


def bucket(distance: int) -> int:
    for number, low in reversed(list(enumerate([0, 1, 2, 3, 4, 5, 8, 16, 32, 64]))):
        if distance >= low:
            return number
    return 0


def form(words: tuple[str, ...]) -> tuple[str, ...]:
    lowered = tuple(word.lower() for word in words)
    while len(lowered) > 1 and lowered[-1] in ("'s", "’s", "'", "’"):
        lowered = lowered[:-1]
    return lowered


def mention_of(segment: Segment, first: int, last: int) -> Mention:
    """End-exclusive words of the text, as strings, and who says the first."""
    a, b = first - segment.first_word, last - segment.first_word
    return tuple(word.text for word in segment.words[a:b]), segment.tracks["voices"][a]


def feed_forward(net, x: Tensor) -> Tensor:
    hidden = torch.relu(net.hidden.weight @ x + net.hidden.bias)
    return (net.output.weight @ hidden + net.output.bias)[0]


class LiteralModel:
    def __init__(self, model: IncrementalModel, config: ModelConfig, genre: int = 0, scheme: int = 0) -> None:
        self.model, self.config, self.genre, self.scheme = model, config, genre, scheme

    # Spans

    def span_vector(self, pieces: Tensor, start: int, end: int) -> Tensor:
        """The full vector, before any projection."""
        vectors = self.model.spans.vectors
        inside = pieces[start : end + 1]
        logits = torch.stack([vectors.attention.weight[0] @ x + vectors.attention.bias[0] for x in inside])
        attention = torch.softmax(logits, dim=0)
        head = sum(a * x for a, x in zip(attention, inside, strict=True))
        return torch.cat([pieces[start], pieces[end], vectors.width.weight[end - start], head])

    def mention_scores(self, pieces: Tensor, start: int, end: int) -> tuple[Tensor, Tensor]:
        scorer = self.model.spans.scorer
        if self.config.spans.scorer.name == "feed_forward":
            score = feed_forward(scorer.span, self.span_vector(pieces, start, end))
            score = score + feed_forward(scorer.width, scorer.width_prior.weight[end - start])
            return score, score
        shift = scorer.scheme.weight[self.scheme]
        half = len(shift) // 2
        gelu = torch.nn.functional.gelu
        first = gelu(scorer.start.weight @ pieces[start] + scorer.start.bias + shift[:half])
        last = gelu(scorer.end.weight @ pieces[end] + scorer.end.bias + shift[half:])
        size = half // len(scorer.bias)  # each output has projections of its own
        outputs = []
        for o in range(len(scorer.bias)):
            x, y = first[o * size : (o + 1) * size], last[o * size : (o + 1) * size]
            alone = scorer.alone_start[o] @ x + scorer.alone_end[o] @ y + scorer.bias[o]
            outputs.append(alone + (scorer.product[o] * x * y).sum() + scorer.width.weight[end - start, o])
        return outputs[0], outputs[-1]

    def spans(self, pieces: Tensor, segment: Segment) -> list[tuple[int, int, Tensor, Tensor, Tensor]]:
        """(start, end, vector, link score, prune score) of the spans kept."""
        options = self.config.spans
        word, sentence = segment.word_of_piece.tolist(), segment.sentence_of_piece.tolist()
        candidates = []
        for start in range(len(segment)):
            for end in range(start, min(start + options.max_width, len(segment))):
                if SPECIAL in word[start : end + 1] or sentence[start] != sentence[end]:
                    continue
                if options.word_boundaries and (word[start - 1] == word[start] or word[end] == word[end + 1]):
                    continue
                prune, link = self.mention_scores(pieces, start, end)
                candidates.append((start, end, link, prune))
        length = len(segment) if options.ratio_of == "pieces" else len(set(word) - {SPECIAL})
        best = sorted(candidates, key=lambda c: -float(c[3]))[: int(options.ratio * length)]
        if options.min_score is not None:
            best = [c for c in best if float(c[3]) >= options.min_score]
        kept = []
        for start, end, link, prune in sorted(best, key=lambda c: (c[0], c[1])):
            vector = self.span_vector(pieces, start, end)
            projection = self.model.spans.vectors.projection
            if projection is not None:
                vector = projection.weight @ vector + projection.bias
            kept.append((start, end, vector, link, prune))
        return kept

    # PairScore

    def features(self, names, tables, start: int, end: int, mention: Mention, entity: LiteralEntity) -> Tensor:
        middle, last = (start + end) / 2, (entity.start + entity.end) / 2
        mine = form(mention[0])
        recent = entity.forms[-8:]
        values = {
            "speaker": None,
            "segment": 0,
            "genre": self.genre,
            "scheme": self.scheme,
            "distance": bucket(int(middle - last)),
            "size": bucket(entity.size),
            "exact_match": int(mine in recent),
            "last_word_match": int(mine[-1] in [f[-1] for f in recent]),
            "agreement": literal_agreement(mention, entity.mentions),
        }
        parts = []
        for name in names:
            weight = tables[name].weight
            parts.append(torch.zeros(weight.shape[1]) if values[name] is None else weight[values[name]])
        return torch.cat(parts)

    def pair_scores(self, start, end, x, mention: Mention, entities: list[LiteralEntity]) -> list[float]:
        scorer = self.model.pair_score

        def fine(e: LiteralEntity) -> float:
            features = self.features(scorer.features.names, scorer.features.tables, start, end, mention, e)
            return float(feed_forward(scorer.net, torch.cat([x, e.vector, x * e.vector, features])))

        if self.config.pair_score.name == "feed_forward":
            return [fine(e) for e in entities]
        coarse = []
        for e in entities:
            prior = scorer.prior_features
            features = self.features(prior.names, prior.tables, start, end, mention, e)
            query = scorer.bilinear.weight @ x + scorer.bilinear.bias
            coarse.append(float(query @ e.vector + scorer.prior.weight[0] @ features + scorer.prior.bias[0]))
        best = sorted(range(len(entities)), key=lambda i: -coarse[i])[: scorer.shortlist]
        return [coarse[i] + fine(e) if i in best else -math.inf for i, e in enumerate(entities)]

    # Update

    def update(self, e: LiteralEntity, x: Tensor) -> Tensor:
        name = self.config.update.name
        if name == "alpha":
            weight = torch.sigmoid(feed_forward(self.model.update.net, torch.cat([e.vector, x])))
            return weight * e.vector + (1 - weight) * x
        return {"mean": (e.size * e.vector + x) / (e.size + 1), "first": e.vector, "last": x}[name]

    # Evict

    def stays(self, e: LiteralEntity, position: int) -> bool:
        options = self.config.evict
        if options.name == "none":
            return True
        place = e.start if options.measure == "start" else (e.start + e.end) / 2
        distance = position - place
        if options.name == "two_distances":
            return distance <= (options.singleton if e.size == 1 else options.cluster)
        if options.name == "one_distance":
            return distance <= options.distance
        return distance <= min(e.size * options.distance, options.longest)

    def within_budget(self, entities: list[LiteralEntity], position: int) -> list[LiteralEntity]:
        budget = self.config.evict.budget
        if budget is None:
            return entities

        def salience(e: LiteralEntity) -> float:
            age = position - (e.start + e.end) / 2
            return -age / (e.size * (0.25 + 1 / (1 + math.exp(-e.best))))

        best = sorted(entities, key=salience, reverse=True)[:budget]
        return [e for e in entities if e in best]

    # Algorithm 1

    @torch.no_grad()
    def find_clusters(self, segments: list[Segment]) -> tuple[list[LiteralLink], list[list[int]]]:
        entities: list[LiteralEntity] = []
        links: list[LiteralLink] = []
        evictions: list[list[int]] = []
        next_id = 0
        for segment in segments:
            pieces = self.model.encoder([segment])[0]
            for start, end, x, link, prune in self.spans(pieces, segment):
                first, last = int(segment.word_of_piece[start]), int(segment.word_of_piece[end]) + 1
                mention = mention_of(segment, first, last)
                start, end = start + segment.position, end + segment.position
                scores = [float(link) + s for s in self.pair_scores(start, end, x, mention, entities)]
                top = max(range(len(scores)), key=scores.__getitem__, default=None)
                if top is not None and scores[top] > 0:
                    e = entities[top]
                    e.vector = self.update(e, x)
                    e.start, e.end, e.size, e.best = start, end, e.size + 1, max(e.best, float(prune))
                    score = scores[top]
                else:
                    e = LiteralEntity(next_id, x, start, end, float(prune))
                    next_id += 1
                    entities.append(e)
                    score = 0.0
                e.forms.append(form(mention[0]))
                e.mentions.append(mention)
                total = sum(math.exp(s) for s in scores) + 1
                links.append(LiteralLink((first, last), e.id, score, math.exp(score) / total))
            stay = self.within_budget([e for e in entities if self.stays(e, segment.end)], segment.end)
            evictions.append([e.id for e in entities if e not in stay])
            entities = stay
        return links, evictions
