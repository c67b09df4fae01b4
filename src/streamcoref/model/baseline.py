"""The whole-document model that the incremental one is converted from: the paper's JS-L and JS-B.

It keeps the best spans of the whole text and scores each against its best antecedents, so its memory grows with the
text. Encoder, Spans and PairScore are the incremental model's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from streamcoref.document import Span
from streamcoref.model.agreement import agreement, entity_traits
from streamcoref.model.encoder import Encoder
from streamcoref.model.features import bucket
from streamcoref.model.pair_score import CoarseToFineScorer, FeatureTables, Pairs
from streamcoref.model.prune import best_without_crossing
from streamcoref.model.score_table import read_words
from streamcoref.model.segments import IntArray, Segment
from streamcoref.model.spans import Spans
from streamcoref.model.vocabulary import number_of


@dataclass(frozen=True, eq=False)
class DocumentSpans:
    """The k spans kept of a whole text, sorted by (start, end), and the scores of all candidates for training."""

    vectors: Tensor  # [k, size]
    link_scores: Tensor  # [k]
    prune_scores: Tensor  # [k]
    words: list[Span]  # [k], end-exclusive words of the text
    segments: IntArray  # [k]
    speakers: IntArray  # [k], the speaker of the first word
    forms: IntArray  # [k, 2], hashes of the form and of its last word
    traits: IntArray  # [k, SPAN_TRAITS], what agreement is about
    entity_traits: IntArray  # [k, ENTITY_TRAITS], each span as an antecedent: an entity of one mention
    candidate_words: list[IntArray]  # per segment, [c, 2]
    candidate_scores: list[Tensor]  # per segment, [c]


@dataclass(frozen=True, eq=False)
class Antecedents:
    """For each span its best earlier spans. A new entity scores 0."""

    rows: Tensor  # [k, c], rows of the antecedents
    scores: Tensor  # [k, c], -inf where there are fewer than c


class BaselineModel(nn.Module):
    """Coarse-to-fine antecedents over the whole text, with `depth` - 1 higher-order refinements between scorings."""

    def __init__(
        self,
        encoder: Encoder,
        spans: Spans,
        pair_score: CoarseToFineScorer,
        depth: int = 2,
        max_spans: int = 3900,
        genres: Sequence[str] = (),
        schemes: Sequence[str] = (),
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.spans = spans
        self.pair_score = pair_score
        self.depth = depth
        self.max_spans = max_spans
        self.genres = tuple(genres)
        self.schemes = tuple(schemes)
        size = spans.vectors.size
        self.gate = nn.Linear(2 * size, size) if depth > 1 else None

    def forward(
        self,
        segments: Sequence[Segment],
        speakers: Sequence[str] = (),
        genre: str | None = None,
        scheme: str | None = None,
        batch: int = 1,
    ) -> tuple[DocumentSpans, Antecedents]:
        """The segments of a text, `speakers` one a word of the text (or none), to spans and their antecedents."""
        pieces = [
            vectors
            for first in range(0, len(segments), batch)
            for vectors in self.encoder(segments[first : first + batch])
        ]
        return self.resolve(pieces, segments, speakers, genre, scheme)

    def resolve(
        self,
        pieces: Sequence[Tensor],
        segments: Sequence[Segment],
        speakers: Sequence[str],
        genre: str | None,
        scheme: str | None,
    ) -> tuple[DocumentSpans, Antecedents]:
        """The same, from piece vectors that are there already."""
        spans = self._keep(pieces, segments, speakers, number_of(scheme, self.schemes))
        fixed: dict[str, int | None] = {
            "genre": number_of(genre, self.genres),
            "scheme": number_of(scheme, self.schemes),
            "size": int(bucket(np.array(1))),  # an antecedent is one mention
        }
        return spans, self._antecedents(spans, self.pair_score.fold_features(fixed))

    def _keep(
        self, pieces: Sequence[Tensor], segments: Sequence[Segment], speakers: Sequence[str], scheme: int
    ) -> DocumentSpans:
        scored = [self.spans.score(p, s, scheme) for p, s in zip(pieces, segments, strict=True)]
        starts = np.concatenate([c.starts + s.position for (c, _), s in zip(scored, segments, strict=True)])
        ends = np.concatenate([c.ends + s.position for (c, _), s in zip(scored, segments, strict=True)])
        prune = torch.cat([scores.prune for _, scores in scored])
        length = sum(len(s) if self.spans.ratio_of == "pieces" else len(s.words) for s in segments)
        order = torch.argsort(prune.detach(), descending=True, stable=True)
        if self.spans.min_score is not None and not self.training:  # what is dropped cannot learn to be kept
            order = order[prune.detach()[order] >= self.spans.min_score]
        limit = min(self.max_spans, int(self.spans.ratio * length))
        rows = best_without_crossing(order.cpu().numpy(), starts, ends, limit)

        bounds = np.cumsum([0, *(len(c) for c, _ in scored)])
        kept = []
        for number, (segment, (candidates, scores)) in enumerate(zip(segments, scored, strict=True)):
            mine = rows[(rows >= bounds[number]) & (rows < bounds[number + 1])] - bounds[number]
            kept.append(self.spans.keep(pieces[number], segment, candidates, scores, mine))
        words = [span for part in kept for span in part.word_spans]
        forms, traits = zip(*map(read_words, kept), strict=True)
        names = {name: number for number, name in enumerate(dict.fromkeys(speakers))}
        return DocumentSpans(
            vectors=torch.cat([part.vectors for part in kept]),
            link_scores=torch.cat([part.link_scores for part in kept]),
            prune_scores=torch.cat([part.prune_scores for part in kept]),
            words=words,
            segments=np.repeat(np.arange(len(kept)), [len(part) for part in kept]),
            speakers=np.array([names[speakers[a]] if speakers else 0 for a, _ in words], dtype=np.int64),
            forms=np.concatenate(forms),
            traits=np.concatenate(traits),
            entity_traits=entity_traits(np.concatenate(traits)),
            candidate_words=[part.candidate_word_spans for part in kept],
            candidate_scores=[part.candidate_scores for part in kept],
        )

    def _antecedents(self, spans: DocumentSpans, tables: FeatureTables) -> Antecedents:
        count = len(spans.words)
        device = spans.vectors.device
        earlier = torch.ones(count, count, dtype=torch.bool, device=device).tril(-1)
        everyone = np.arange(count)
        pairs = self._pairs(spans, spans.vectors, everyone[:, None], everyone[None, :])
        mentions = spans.link_scores[:, None] + spans.link_scores
        coarse = (mentions + self.pair_score.score(pairs, tables)).masked_fill(~earlier, -torch.inf)
        best, rows = torch.topk(coarse, min(self.pair_score.shortlist or count, count), dim=1)  # [k, c]
        # A row may have fewer antecedents than c: -inf + finite stays -inf, so the fine score needs no mask.
        columns = rows.cpu().numpy()
        vectors = spans.vectors
        for step in range(self.depth):
            scores = best + self.pair_score.refine(self._pairs(spans, vectors, everyone[:, None], columns), tables)
            if step < self.depth - 1:
                vectors = self._refine(vectors, rows, scores)
        return Antecedents(rows, scores)

    def _refine(self, vectors: Tensor, rows: Tensor, scores: Tensor) -> Tensor:
        """Higher order: move each span towards what it expects its antecedents to be (itself, if it is new)."""
        assert self.gate is not None
        weights = torch.softmax(torch.cat([scores.new_zeros(len(scores), 1), scores], dim=1), dim=1)  # [k, 1 + c]
        attended = weights[:, :1] * vectors + (weights[:, 1:, None] * vectors[rows]).sum(1)
        gate = torch.sigmoid(self.gate(torch.cat([vectors, attended], dim=-1)))
        return gate * attended + (1 - gate) * vectors

    def _pairs(self, spans: DocumentSpans, vectors: Tensor, span: IntArray, antecedent: IntArray) -> Pairs:
        """Spans [k, 1] against antecedents [1, k] or [k, c], as rows."""
        scorer = self.pair_score
        values = {
            "distance": bucket(span - antecedent),
            "speaker": spans.speakers[span] == spans.speakers[antecedent],
            "segment": np.clip(spans.segments[span] - spans.segments[antecedent], 0, scorer.features.farthest_segment),
            "exact_match": spans.forms[span, 0] == spans.forms[antecedent, 0],
            "last_word_match": spans.forms[span, 1] == spans.forms[antecedent, 1],
        }
        if "agreement" in scorer.features.names:
            rows_of = antecedent[0] if len(antecedent) == 1 else antecedent
            values["agreement"] = agreement(spans.traits, spans.entity_traits[rows_of])
        features = scorer.features.index({name: v for name, v in values.items() if name in scorer.features.names})
        rows = torch.from_numpy(np.ascontiguousarray(antecedent)).to(vectors.device)
        return Pairs(
            span=vectors[:, None],
            span_reading=scorer.read_spans(vectors)[:, None],
            entity=vectors[rows],
            entity_reading=scorer.read_entities(vectors)[rows],
            features=torch.from_numpy(
                np.broadcast_to(features, np.broadcast_shapes(span.shape, antecedent.shape)).copy()
            ).to(vectors.device),
        )
