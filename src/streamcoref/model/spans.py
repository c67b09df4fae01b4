"""SPANS: the mentions a segment proposes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import torch
from pydantic import Field, PositiveInt
from torch import Tensor, nn

from streamcoref.checked import Options
from streamcoref.document import Span
from streamcoref.language.lexicon import Lexicon
from streamcoref.language.names import Words
from streamcoref.model.candidates import Candidates, enumerate_candidates, whole_words
from streamcoref.model.mention_score import AnyMentionScorer, MentionScorer, MentionScores
from streamcoref.model.notes import IntArray
from streamcoref.model.segments import Segment
from streamcoref.model.span_vector import SpanVector

_Read = TypeVar("_Read")


class SpanOptions(Options):
    scorer: AnyMentionScorer
    max_width: PositiveInt = 30
    word_boundaries: bool = True
    ratio: float = Field(default=0.4, gt=0)
    ratio_of: Literal["pieces", "words"] = "pieces"
    min_score: float | None = None
    width_size: PositiveInt = 20
    projected_size: PositiveInt | None = None


@dataclass(frozen=True, eq=False)
class SegmentSpans:
    """The k spans kept of a segment, in the order in which they are decided, and what training needs of the others."""

    segment: Segment
    kept: Candidates  # [k]
    vectors: Tensor  # [k, size]
    link_scores: Tensor  # [k]
    prune_scores: Tensor  # [k]
    candidates: Candidates  # [c]
    candidate_scores: Tensor  # [c], by which they were pruned
    known: dict[Any, dict[Words, Any]] = field(
        default_factory=dict
    )  # what `read` has read, by how and by which lexicon

    def __len__(self) -> int:
        return len(self.kept)

    def at(self, rows: IntArray) -> SegmentSpans:
        """These of the spans kept, in this order."""
        index = torch.from_numpy(rows).to(self.vectors.device)
        return replace(
            self,
            kept=self.kept[rows],
            vectors=self.vectors.index_select(0, index),
            link_scores=self.link_scores.index_select(0, index),
            prune_scores=self.prune_scores.index_select(0, index),
        )

    @property
    def starts(self) -> IntArray:
        """Position of the first piece in the text, [k]."""
        return self.kept.starts + self.segment.position

    @property
    def ends(self) -> IntArray:
        """Position of the last piece in the text (inclusive, as in the paper), [k]."""
        return self.kept.ends + self.segment.position

    @cached_property
    def word_spans(self) -> list[Span]:
        """Each span as end-exclusive words of the text."""
        words = self.segment.word_of_piece
        return list(zip(words[self.kept.starts].tolist(), (words[self.kept.ends] + 1).tolist(), strict=True))

    @cached_property
    def texts(self) -> list[Words]:
        """The words of each span."""
        texts, first = self.segment.texts, self.segment.first_word
        return [texts[start - first : end - first] for start, end in self.word_spans]

    def read(self, how: Callable[[Words, Lexicon], _Read], lexicon: Lexicon) -> list[_Read]:
        """What a function says of each span's words. The same words are read once a segment, whoever asks."""
        known: dict[Words, _Read] = self.known.setdefault((how, lexicon), {})
        for words in self.texts:
            if words not in known:
                known[words] = how(words, lexicon)
        return [known[words] for words in self.texts]

    @cached_property
    def mentions(self) -> list[Span | None]:
        """Each span as a gold mention may be it: its words, or None if it starts or ends inside of a word."""
        whole = whole_words(self.segment, self.kept).tolist()
        return [span if is_whole else None for span, is_whole in zip(self.word_spans, whole, strict=True)]

    @property
    def candidate_mentions(self) -> list[Span | None]:
        """The same of all candidates, [c]."""
        words = self.segment.word_of_piece
        starts, ends = words[self.candidates.starts].tolist(), (words[self.candidates.ends] + 1).tolist()
        whole = whole_words(self.segment, self.candidates).tolist()
        return [(a, b) if is_whole else None for a, b, is_whole in zip(starts, ends, whole, strict=True)]


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
            link_scores=scores.link_of(index),
            prune_scores=scores.prune.index_select(0, index),
            candidates=candidates,
            candidate_scores=scores.prune,
        )

    def _prune(self, segment: Segment, scores: Tensor) -> IntArray:
        """Rows of the candidates to keep, in the order of the text."""
        n = len(segment) if self.ratio_of == "pieces" else len(segment.words)
        most, scores = min(int(self.ratio * n), len(scores)), scores.detach()
        if self.min_score is not None:
            rows = (scores >= self.min_score).nonzero().squeeze(1)
            if len(rows) <= most:  # as nearly always: these need not be sorted
                return rows.cpu().numpy()
        return np.sort(torch.topk(scores, most).indices.cpu().numpy())
