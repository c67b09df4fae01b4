"""The network that every scorer of the paper uses, with its first layer open to be taken apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from streamcoref.model.linear import Linear, linear


class FeedForward(nn.Module):
    """Linear, ReLU, dropout, Linear to one number, on the concatenation of several parts.

    The first layer is linear in its parts: W [a; b] = W_a a + W_b b. A part shared by many inputs (a piece by
    many spans, an entity by many pairs) is therefore projected once, and the hidden layer is a sum of projections.
    """

    def __init__(self, sizes: Sequence[int], hidden: int, dropout: float = 0.0) -> None:
        super().__init__()
        self.hidden = Linear(sum(sizes), hidden)
        self.output = nn.Linear(hidden, 1)
        self.dropout = nn.Dropout(dropout)
        self.slices = [slice(a, b) for a, b in pairwise((0, *accumulate(sizes)))]

    def project(self, part: int, x: Tensor) -> Tensor:
        """[..., size of the part] to [..., hidden], without the bias."""
        return linear(x, self.part(part))

    def part(self, number: int) -> Tensor:
        """The first layer's weight for one part, [hidden, size]."""
        return self.hidden.weight[:, self.slices[number]]

    def finish(self, hidden: Tensor) -> Tensor:
        """The sum of all projections and the bias, [..., hidden], to scores [...]."""
        hidden = torch.relu(hidden)
        if self.training:
            hidden = self.dropout(hidden)
        output = self.output
        # Half the time of a linear layer with one output; but on a CPU autocast leaves it alone, so types must agree.
        if hidden.dim() == 2 and hidden.dtype == output.weight.dtype:
            return torch.addmv(output.bias, hidden, output.weight.view(-1))
        return F.linear(hidden, output.weight, output.bias).squeeze(-1)

    def forward(self, x: Tensor) -> Tensor:
        """The plain way, for an input that is not worth taking apart: [..., sum of sizes] to [...]."""
        return self.finish(self.hidden(x))
