"""SPANS: the mentions a segment proposes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn

from streamcoref.model.candidates import Candidates, enumerate_candidates
from streamcoref.model.mention_score import MentionScorer, MentionScores
from streamcoref.model.segments import IntArray, Segment
from streamcoref.model.span_vector import SpanVector


@dataclass(frozen=True, eq=False)
class SegmentSpans:
    """The k spans kept of a segment, in the order of the text, and what training needs of those that were not."""

    segment: Segment
    kept: Candidates  # [k]
    vectors: Tensor  # [k, size]
    link_scores: Tensor  # [k]
    prune_scores: Tensor  # [k]
    candidates: Candidates  # [c]
    candidate_scores: Tensor  # [c], by which they were pruned

    def __len__(self) -> int:
        return len(self.kept)

    @property
    def starts(self) -> IntArray:
        """Position of the first piece in the text, [k]."""
        return self.kept.starts + self.segment.position

    @property
    def ends(self) -> IntArray:
        """Position of the last piece in the text (inclusive, as in the paper), [k]."""
        return self.kept.ends + self.segment.position

    @property
    def word_spans(self) -> list[tuple[int, int]]:
        """Each span as end-exclusive words of the text."""
        words = self.segment.word_of_piece
        return list(zip(words[self.kept.starts].tolist(), (words[self.kept.ends] + 1).tolist(), strict=True))

    @property
    def candidate_word_spans(self) -> IntArray:
        """Each candidate as end-exclusive words of the text, [c, 2]."""
        words = self.segment.word_of_piece
        return np.stack([words[self.candidates.starts], words[self.candidates.ends] + 1], axis=1)


class Spans(nn.Module):
    """Candidates, scores, pruning, vectors. Only spans that are kept get a vector.

    At most `int(ratio * n)` spans are kept a segment, n its pieces (special ones counted, as in the paper) or its
    words, and of those only the ones with a mention score of at least `min_score`, where that is given.
    """

    def __init__(
        self,
        vectors: SpanVector,
        scorer: MentionScorer,
        max_width: int,
        ratio: float,
        ratio_of: Literal["pieces", "words"] = "pieces",
        word_boundaries: bool = True,
        min_score: float | None = None,
    ) -> None:
        super().__init__()
        self.vectors = vectors
        self.scorer = scorer
        self.max_width = max_width
        self.ratio = ratio
        self.ratio_of = ratio_of
        self.word_boundaries = word_boundaries
        self.min_score = min_score

    def forward(self, pieces: Tensor, segment: Segment, scheme: int = 0) -> SegmentSpans:
        """Pieces [n, hidden] of a segment to the spans it proposes."""
        candidates, scores = self.score(pieces, segment, scheme)
        return self.keep(pieces, segment, candidates, scores, self._prune(segment, scores.prune))

    def score(self, pieces: Tensor, segment: Segment, scheme: int) -> tuple[Candidates, MentionScores]:
        candidates = enumerate_candidates(segment, self.max_width, self.word_boundaries)
        return candidates, self.scorer(pieces, candidates, self.vectors, scheme)

    def keep(
        self, pieces: Tensor, segment: Segment, candidates: Candidates, scores: MentionScores, rows: IntArray
    ) -> SegmentSpans:
        """The chosen rows of the candidates, with their vectors."""
        kept = candidates[rows]
        index = torch.from_numpy(rows).to(pieces.device)
        return SegmentSpans(
            segment=segment,
            kept=kept,
            vectors=self.vectors(pieces, kept),
            link_scores=scores.link[index],
            prune_scores=scores.prune[index],
            candidates=candidates,
            candidate_scores=scores.prune,
        )

    def _prune(self, segment: Segment, scores: Tensor) -> IntArray:
        """Rows of the candidates to keep, in the order of the text."""
        n = len(segment) if self.ratio_of == "pieces" else len(segment.words)
        best, rows = torch.topk(scores.detach(), min(int(self.ratio * n), len(scores)))
        if self.min_score is not None:
            rows = rows[best >= self.min_score]
        return np.sort(rows.cpu().numpy())
