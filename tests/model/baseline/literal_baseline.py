"""The whole-document baseline written out: slow, one pair of spans at a time, obviously right.

It shares nothing with the fast version but the parameters, and the literal span vectors and mention scores.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from streamcoref.model.baseline import BaselineModel
from streamcoref.model.config import ModelConfig
from streamcoref.model.segments import SPECIAL, Segment
from tests.model.literal import LiteralModel, bucket, feed_forward, form, mention_of
from tests.model.literal_agreement import Mention, literal_agreement


@dataclass(eq=False)
class LiteralSpan:
    words: tuple[int, int]  # end-exclusive words of the text
    start: int  # pieces of the text, the end inclusive
    end: int
    segment: int
    vector: Tensor
    link: float
    prune: float
    speaker: str
    form: tuple[str, ...]
    mention: Mention


def cross(a: LiteralSpan, b: LiteralSpan) -> bool:
    return a.start < b.start <= a.end < b.end or b.start < a.start <= b.end < a.end


class LiteralBaseline:
    def __init__(self, model: BaselineModel, config: ModelConfig, genre: int = 0, scheme: int = 0) -> None:
        self.model, self.config, self.genre, self.scheme = model, config, genre, scheme

    # Spans

    def candidates(self, segments: Sequence[Segment], speakers: Sequence[str]) -> list[LiteralSpan]:
        """Every candidate of every segment, in the order of the text."""
        options = self.config.spans
        literal = LiteralModel(self.model, self.config, self.genre, self.scheme)
        found = []
        for number, segment in enumerate(segments):
            pieces = self.model.encoder([segment])[0]
            word, sentence = segment.word_of_piece.tolist(), segment.sentence_of_piece.tolist()
            for start in range(len(segment)):
                for end in range(start, min(start + options.max_width, len(segment))):
                    if SPECIAL in word[start : end + 1] or sentence[start] != sentence[end]:
                        continue
                    if options.word_boundaries and (word[start - 1] == word[start] or word[end] == word[end + 1]):
                        continue
                    prune, link = literal.mention_scores(pieces, start, end)
                    vector = literal.span_vector(pieces, start, end)
                    projection = self.model.spans.vectors.projection
                    if projection is not None:
                        vector = projection.weight @ vector + projection.bias
                    a, b = word[start], word[end] + 1
                    found.append(
                        LiteralSpan(
                            words=(a, b),
                            start=segment.position + start,
                            end=segment.position + end,
                            segment=number,
                            vector=vector,
                            link=float(link),
                            prune=float(prune),
                            speaker=speakers[a] if speakers else "",
                            form=form(mention_of(segment, a, b)[0]),
                            mention=mention_of(segment, a, b),
                        )
                    )
        return found

    def keep(self, candidates: list[LiteralSpan], segments: Sequence[Segment]) -> list[LiteralSpan]:
        """Best first, none crossing another, no more than k of the whole text; in the order of the text."""
        options = self.config.spans
        if options.ratio_of == "pieces":
            length = sum(len(segment) for segment in segments)
        else:
            length = sum(len(segment.words) for segment in segments)
        k = min(self.config.higher_order.max_spans, int(options.ratio * length))
        kept: list[LiteralSpan] = []
        for span in sorted(candidates, key=lambda s: -s.prune):
            if options.min_score is not None and span.prune < options.min_score:
                continue
            if len(kept) < k and not any(cross(span, other) for other in kept):
                kept.append(span)
        return sorted(kept, key=lambda s: (s.start, s.end))

    # Antecedents

    def features(self, tables, names: Sequence[str], i: int, j: int, spans: list[LiteralSpan]) -> Tensor:
        span, antecedent = spans[i], spans[j]
        values = {
            "distance": bucket(i - j),
            "speaker": int(span.speaker == antecedent.speaker),
            "segment": min(span.segment - antecedent.segment, 2),
            "genre": self.genre,
            "scheme": self.scheme,
            "size": bucket(1),
            "exact_match": int(span.form == antecedent.form),
            "last_word_match": int(span.form[-1] == antecedent.form[-1]),
            "agreement": literal_agreement(span.mention, [antecedent.mention]),
        }
        return torch.cat([tables[name].weight[values[name]] for name in names])

    def coarse(self, spans: list[LiteralSpan], i: int, j: int) -> float:
        scorer = self.model.pair_score
        prior = scorer.prior_features
        query = scorer.bilinear.weight @ spans[i].vector + scorer.bilinear.bias
        distance = self.features(prior.tables, prior.names, i, j, spans)
        bonus = float(scorer.prior.weight[0] @ distance + scorer.prior.bias[0])
        return spans[i].link + spans[j].link + float(query @ spans[j].vector) + bonus

    def fine(self, spans: list[LiteralSpan], vectors: list[Tensor], i: int, j: int) -> float:
        scorer = self.model.pair_score
        features = self.features(scorer.features.tables, scorer.features.names, i, j, spans)
        x, y = vectors[i], vectors[j]
        return float(feed_forward(scorer.net, torch.cat([x, y, x * y, features])))

    def refine(self, vectors: list[Tensor], scores: list[dict[int, float]]) -> list[Tensor]:
        """Each span moves towards its expected antecedent; the dummy, of score 0, stands for itself."""
        gate = self.model.gate
        refined = []
        for i, x in enumerate(vectors):
            weights = {i: 1.0, **{j: math.exp(score) for j, score in scores[i].items()}}
            total = sum(weights.values())
            attended = sum(weight / total * vectors[j] for j, weight in weights.items())
            f = torch.sigmoid(gate.weight @ torch.cat([x, attended]) + gate.bias)
            refined.append(f * attended + (1 - f) * x)
        return refined

    @torch.no_grad()
    def __call__(
        self, segments: Sequence[Segment], speakers: Sequence[str] = ()
    ) -> tuple[list[LiteralSpan], list[dict[int, float]]]:
        """The spans kept, and for each the scores of its best antecedents by their place among the spans."""
        spans = self.keep(self.candidates(segments, speakers), segments)
        shortlists: list[dict[int, float]] = []
        for i in range(len(spans)):
            coarse = {j: self.coarse(spans, i, j) for j in range(i)}
            best = sorted(coarse, key=coarse.__getitem__, reverse=True)[: self.model.pair_score.shortlist]
            shortlists.append({j: coarse[j] for j in best})
        vectors = [span.vector for span in spans]
        scores: list[dict[int, float]] = []
        for step in range(self.config.higher_order.depth):
            if step:
                vectors = self.refine(vectors, scores)
            scores = [
                {j: coarse + self.fine(spans, vectors, i, j) for j, coarse in shortlist.items()}
                for i, shortlist in enumerate(shortlists)
            ]
        return spans, scores


def literal_clusters(spans: list[LiteralSpan], scores: list[dict[int, float]]) -> list[list[tuple[int, int]]]:
    """Each span joins its best antecedent's cluster if that scores above 0; clusters of one mention are left out."""
    cluster_of: list[list[tuple[int, int]]] = []
    for span, antecedents in zip(spans, scores, strict=True):
        best = max(antecedents, key=antecedents.__getitem__, default=None)
        cluster = cluster_of[best] if best is not None and antecedents[best] > 0 else []
        cluster.append(span.words)
        cluster_of.append(cluster)
    unique = {id(cluster): cluster for cluster in cluster_of}
    return [cluster for cluster in unique.values() if len(cluster) > 1]
