"""Mention scores of all candidates: how much each looks like a mention.

Every scorer gives two numbers a span: `prune`, by which spans are kept (and singletons found), and `link`, which is
added to the pair scores. They are the same number unless the scorer was built with two outputs.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
import torch.nn.functional as F
from pydantic import BeforeValidator, PositiveInt, SerializeAsAny
from torch import Tensor, nn

from streamcoref.model.candidates import Candidates
from streamcoref.model.feed_forward import FeedForward
from streamcoref.model.linear import Linear, linear
from streamcoref.model.parts import PartOptions, Surroundings
from streamcoref.model.span_vector import SpanVector, blocks

BAND = 32  # starts whose products with the ends behind them are computed at once: a power of 2
BLOCK = 512  # candidates scored at once: their hidden layers (512 x 3000 floats, 6 MB) stay near the cache
PRIOR = (
    -3.0,
    -1.7,
)  # of pruning: a candidate in twenty is a mention; of linking: the best of 30 antecedents ties with none


@dataclass(frozen=True, eq=False)
class MentionScores:
    """`link` may be what computes it for some rows [k] of the candidates: most of them are never linked."""

    prune: Tensor  # [c]
    link: Tensor | Callable[[Tensor], Tensor]  # [c]

    def link_of(self, rows: Tensor) -> Tensor:
        return self.link[rows] if isinstance(self.link, Tensor) else self.link(rows)


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
        width = self.span.project(2, vectors.width_dropout(vectors.width.weight))  # [widths, hidden]
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
    annotation scheme shifts the projections, since what counts as a mention differs between corpora. With two outputs
    each has projections of its own: the link loss would else bend those that pruning learns from. The second is
    computed only for spans that are kept.

    With `own_weights` each scheme also weighs the projections in its own way: a shift alone cannot say that the things
    of a story are mentions by one scheme and none by the other, where both are asked of the same texts.
    """

    def __init__(
        self,
        hidden_size: int,
        size: int,
        max_width: int,
        schemes: int = 1,
        two_outputs: bool = False,
        own_weights: bool = False,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.size, self.outputs = size, 2 if two_outputs else 1
        self.start = Linear(hidden_size, self.outputs * size)
        self.end = Linear(hidden_size, self.outputs * size)
        self.scheme = nn.Embedding(schemes, 2 * self.outputs * size)
        self.alone_start = nn.Parameter(torch.randn(self.outputs, size) / size**0.5)
        self.alone_end = nn.Parameter(torch.randn(self.outputs, size) / size**0.5)
        self.product = nn.Parameter(torch.randn(self.outputs, size) / size**0.5)
        # What each scheme adds to these three, and to the bias: at first nothing
        self.own = nn.Parameter(torch.zeros(schemes, 3, self.outputs, size)) if own_weights else None
        self.own_bias = nn.Parameter(torch.zeros(schemes, self.outputs)) if own_weights else None
        # Training begins with what is known: few candidates are mentions, and few pairs corefer. Without it the
        # first hundreds of steps would learn only that, at the cost of the encoder.
        self.bias = nn.Parameter(torch.tensor(PRIOR[: self.outputs] if two_outputs else (0.0,)))
        self.width = nn.Embedding(max_width, self.outputs)
        self.dropout = nn.Dropout(dropout)

    def forward(self, pieces: Tensor, spans: Candidates, vectors: SpanVector, scheme: int) -> MentionScores:
        a = torch.from_numpy(spans.starts).to(pieces.device)
        b = torch.from_numpy(spans.ends).to(pieces.device)
        start, end = self._project(0, pieces, pieces, scheme)  # [n, size] each
        by_start, by_end, by_both = self._weights(0, scheme)
        alone = (start @ by_start).index_select(0, a) + (end @ by_end).index_select(0, b)
        prune = alone + self._priors(0, b - a, scheme) + self._products(start * by_both, end, a, b)

        def link(rows: Tensor) -> Tensor:
            first, last = a[rows], b[rows]
            ends = pieces.index_select(0, first), pieces.index_select(0, last)  # [k, hidden] each
            start, end = self._project(1, *ends, scheme)  # [k, size] each
            by_start, by_end, by_both = self._weights(1, scheme)
            alone = start @ by_start + end @ by_end
            return alone + self._priors(1, last - first, scheme) + (start * by_both * end).sum(-1)

        return MentionScores(prune, link if self.outputs == 2 else prune)

    def _weights(self, output: int, scheme: int) -> tuple[Tensor, Tensor, Tensor]:
        """Of starts, of ends and of their products, [size] each."""
        start, end, product = self.alone_start[output], self.alone_end[output], self.product[output]
        if self.own is None:
            return start, end, product
        own = self.own[scheme, :, output]
        return start + own[0], end + own[1], product + own[2]

    def _project(self, output: int, starts: Tensor, ends: Tensor, scheme: int) -> list[Tensor]:
        """Pieces that spans start with and that they end with, [n, hidden] each, to [n, size] each."""
        own = slice(output * self.size, (output + 1) * self.size)
        parts = zip((self.start, self.end), (starts, ends), self.scheme.weight[scheme].chunk(2), strict=True)
        return [
            self.dropout(F.gelu(linear(pieces, layer.weight[own], layer.bias[own] + shift[own])))
            for layer, pieces, shift in parts
        ]

    def _priors(self, output: int, widths: Tensor, scheme: int) -> Tensor:
        priors: Tensor = self.width.weight[:, output] + self.bias[output]
        if self.own_bias is not None:
            priors = priors + self.own_bias[scheme, output]
        return priors.index_select(0, widths)

    def _products(self, start: Tensor, end: Tensor, a: Tensor, b: Tensor) -> Tensor:
        """The products of starts a and ends b, [c], of [n, size] each.

        Ends lie less than the greatest width behind their starts, so a block of starts needs only a window of ends.
        """
        length = len(start)
        window = BAND + self.width.num_embeddings - 1
        count = -(-length // BAND)
        starts = F.pad(start, (0, 0, 0, count * BAND - length)).view(count, BAND, -1)
        ends = F.pad(end, (0, 0, 0, count * BAND + window - length)).unfold(0, window, BAND)[:count]
        grid = torch.bmm(starts, ends)  # [count, BAND, window]
        first = a & -BAND  # the first start of its block
        return grid.view(-1).index_select(0, a * window + b - first)


class MentionScorerOptions(PartOptions):
    @abstractmethod
    def build(self, around: Surroundings, vectors: SpanVector) -> MentionScorer: ...


class FeedForwardMentionScorerOptions(MentionScorerOptions):
    name: Literal["feed_forward"] = "feed_forward"
    hidden: PositiveInt = 3000
    width_size: PositiveInt = 20

    def build(self, around: Surroundings, vectors: SpanVector) -> MentionScorer:
        return FeedForwardMentionScorer(vectors, self.hidden, around.max_width, self.width_size, around.dropout)


class LightMentionScorerOptions(MentionScorerOptions):
    name: Literal["light"] = "light"
    size: PositiveInt = 256
    two_outputs: bool = True
    own_weights: bool = False  # of each scheme

    def build(self, around: Surroundings, vectors: SpanVector) -> MentionScorer:
        return LightMentionScorer(
            around.hidden_size,
            self.size,
            around.max_width,
            around.schemes,
            self.two_outputs,
            self.own_weights,
            around.dropout,
        )


AnyMentionScorer = Annotated[SerializeAsAny[MentionScorerOptions], BeforeValidator(MentionScorerOptions.choose)]
