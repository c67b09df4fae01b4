"""Mention scores of all candidates: how much each looks like a mention.

Every scorer gives two numbers a span: `prune`, by which spans are kept (and singletons found), and `link`, which is
added to the pair scores. They are the same number unless the scorer was built with two outputs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from streamcoref.model.candidates import Candidates
from streamcoref.model.feed_forward import FeedForward
from streamcoref.model.span_vector import SpanVector, blocks

BAND = 32  # starts whose products with the ends behind them are computed at once
BLOCK = 512  # candidates scored at once: their hidden layers (512 x 3000 floats, 6 MB) stay near the cache


@dataclass(frozen=True, eq=False)
class MentionScores:
    prune: Tensor  # [c]
    link: Tensor  # [c]


class MentionScorer(nn.Module, ABC):
    """The interface. `scheme` is the number of the corpus' annotation scheme, which a scorer may ignore."""

    @abstractmethod
    def forward(self, pieces: Tensor, spans: Candidates, vectors: SpanVector, scheme: int) -> MentionScores:
        """Pieces [n, hidden] and c candidates to their scores. `vectors` lends its attention and width tables."""


class FeedForwardMentionScorer(MentionScorer):
    """The paper's: FF(span vector) + FF(width embedding), over a width table of its own.

    No span vector is built: pieces are projected once, and a candidate's hidden layer is the sum of its start's,
    its end's, its width's and the attention-weighted sum of its pieces' projections.
    """

    def __init__(self, vectors: SpanVector, hidden: int, max_width: int, width_size: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.span = FeedForward(vectors.part_sizes, hidden, dropout)
        self.width_prior = nn.Embedding(max_width, width_size)
        self.width = FeedForward([width_size], hidden, dropout)

    def forward(self, pieces: Tensor, spans: Candidates, vectors: SpanVector, scheme: int) -> MentionScores:
        start, end, head = (self.span.project(part, pieces) for part in (0, 1, 3))  # [n, hidden] each
        start = start + self.span.hidden.bias
        width = self.span.project(2, vectors.dropout(vectors.width.weight))  # [widths, hidden]
        prior = self.width(self.width_prior.weight)  # [widths]
        starts = torch.from_numpy(spans.starts).to(pieces.device)
        ends = torch.from_numpy(spans.ends).to(pieces.device)
        scores = []
        for rows, low, high in blocks(spans, BLOCK):
            a, b = starts[rows], ends[rows]
            attention = vectors.attention_weights(pieces[low:high], a - low, b - low)  # [block, high - low]
            hidden = torch.addmm(start[a] + end[b] + width[b - a], attention, head[low:high])
            scores.append(self.span.finish(hidden) + prior[b - a])
        score = torch.cat(scores) if scores else pieces.new_zeros(0)
        return MentionScores(prune=score, link=score)


class LightMentionScorer(MentionScorer):
    """For small models: projections of start and end, each scored alone and by their weighted product.

    All spans together are one batch of products, whose cost does not depend on the number of candidates. The
    annotation scheme shifts both projections, since what counts as a mention differs between corpora.
    """

    def __init__(
        self,
        hidden_size: int,
        size: int,
        max_width: int,
        schemes: int = 1,
        two_outputs: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        outputs = 2 if two_outputs else 1
        self.start = nn.Linear(hidden_size, size)
        self.end = nn.Linear(hidden_size, size)
        self.scheme = nn.Embedding(schemes, 2 * size)
        self.alone_start = nn.Linear(size, outputs)
        self.alone_end = nn.Linear(size, outputs, bias=False)
        self.product = nn.Parameter(torch.randn(outputs, size) / size)
        self.width = nn.Embedding(max_width, outputs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pieces: Tensor, spans: Candidates, vectors: SpanVector, scheme: int) -> MentionScores:
        shift_start, shift_end = self.scheme.weight[scheme].chunk(2)
        start = self.dropout(F.gelu(self.start(pieces) + shift_start))  # [n, size]
        end = self.dropout(F.gelu(self.end(pieces) + shift_end))  # [n, size]
        a = torch.from_numpy(spans.starts).to(pieces.device)
        b = torch.from_numpy(spans.ends).to(pieces.device)
        alone = self.alone_start(start)[a] + self.alone_end(end)[b]  # [c, outputs]
        scores = (alone + self.width.weight[b - a]).T + self._products(start, end, a, b)  # [outputs, c]
        return MentionScores(prune=scores[0], link=scores[-1])

    def _products(self, start: Tensor, end: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """The weighted products of starts a and ends b, [outputs, c].

        Ends lie less than the greatest width behind their starts, so a block of starts needs only a window of ends.
        """
        window = BAND + self.width.num_embeddings - 1
        count = -(-len(start) // BAND)
        starts = F.pad(start, (0, 0, 0, count * BAND - len(start))).view(count, BAND, -1)
        ends = F.pad(end, (0, 0, 0, count * BAND + window - len(end))).unfold(0, window, BAND)[:count]
        grid = torch.matmul(starts * self.product[:, None, None], ends)  # [outputs, count, BAND, window]
        block = a // BAND
        return grid[:, block, a - block * BAND, b - block * BAND]
