"""The paper's span vector: [first piece; last piece; width embedding; attended pieces]."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn

from streamcoref.model.candidates import Candidates
from streamcoref.model.linear import Linear


class SpanVector(nn.Module):
    """Vectors of spans, [k, size]; by option projected to fewer dimensions, for small models."""

    def __init__(
        self,
        hidden_size: int,
        max_width: int,
        width_size: int,
        projected_size: int | None = None,
        dropout: float = 0.0,
        width_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.attention = nn.Linear(hidden_size, 1)
        self.width = nn.Embedding(max_width, width_size)
        self.dropout = nn.Dropout(dropout)  # before the projection
        self.width_dropout = nn.Dropout(width_dropout)
        self.part_sizes = (hidden_size, hidden_size, width_size, hidden_size)
        full = sum(self.part_sizes)
        self.projection = None if projected_size is None else Linear(full, projected_size)
        self.size = projected_size or full

    def forward(self, pieces: Tensor, spans: Candidates) -> Tensor:
        """Pieces [n, hidden] and k spans to [k, size]."""
        starts = torch.from_numpy(spans.starts).to(pieces.device)
        ends = torch.from_numpy(spans.ends).to(pieces.device)
        width = self.width_dropout(self.width(ends - starts))
        head = self.attention_weights(pieces, starts, ends) @ pieces
        first, last = pieces.index_select(0, starts), pieces.index_select(0, ends)
        vector = torch.cat([first, last, width, head], dim=-1)
        return vector if self.projection is None else self.projection(self.dropout(vector))

    def attention_weights(self, pieces: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """Softmax over each span's own pieces: [k, n], zero outside the span."""
        logits = self.attention(pieces).squeeze(-1)  # [n]
        places = torch.arange(len(pieces), device=pieces.device)
        inside = (places >= starts[:, None]) & (places <= ends[:, None])  # [k, n]
        return torch.softmax(logits.expand_as(inside).masked_fill(~inside, -torch.inf), dim=-1)


def blocks(spans: Candidates, size: int) -> list[tuple[slice, int, int]]:
    """Cut sorted spans into runs of at most `size`, each with the range of pieces it touches.

    Spans sorted by start lie close together, so a run of some hundred needs only some dozen pieces.
    """
    runs = []
    for first in range(0, len(spans), size):
        rows = slice(first, min(first + size, len(spans)))
        runs.append((rows, int(spans.starts[rows][0]), int(np.max(spans.ends[rows])) + 1))
    return runs
