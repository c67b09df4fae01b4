"""What a span is besides a mention of its entity: its type, its kind, its information status, each by a small head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Self

import torch
from pydantic import PositiveInt, model_validator
from torch import Tensor, nn

from streamcoref.checked import Options
from streamcoref.model.linear import Linear


class LabelOptions(Options):
    """The labels that a model tells apart; where there are none, it has no such head.

    Types are part of its answer. Kinds and statuses are there to learn from, and may leave when that is done.
    """

    types: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    statuses: tuple[str, ...] = ()
    hidden: PositiveInt = 128  # between a span's vector and each head's scores

    @model_validator(mode="after")
    def _tells_apart(self) -> Self:
        for head, names in self.heads.items():
            if len(set(names)) != len(names) or len(names) < 2:
                raise ValueError(f"{head}: give at least two names, each once, or none")
        return self

    @property
    def heads(self) -> dict[str, tuple[str, ...]]:
        """The labels of each head that there is."""
        every = {"types": self.types, "kinds": self.kinds, "statuses": self.statuses}
        return {head: names for head, names in every.items() if names}


class SpanLabels(nn.Module):
    """Scores of labels over span vectors [k, size], by the names of the heads."""

    def __init__(self, size: int, hidden: int, heads: Mapping[str, Sequence[str]], dropout: float = 0.0) -> None:
        super().__init__()
        self.names = {head: tuple(names) for head, names in heads.items()}
        self.heads = nn.ModuleDict(
            {
                head: nn.Sequential(nn.Dropout(dropout), Linear(size, hidden), nn.ReLU(), nn.Linear(hidden, len(names)))
                for head, names in self.names.items()
            }
        )

    @property
    def types(self) -> tuple[str, ...]:
        return self.names.get("types", ())

    def forward(self, head: str, vectors: Tensor) -> Tensor:
        """[k, size] to [k, labels]."""
        scores: Tensor = self.heads[head](vectors)
        return scores

    def type_shares(self, vectors: Tensor) -> list[tuple[float, ...]]:
        """How likely each of the types is for each span; for none of them if there is no such head."""
        if not self.types:
            return [()] * len(vectors)
        shares = torch.softmax(self.forward("types", vectors).float(), dim=-1)
        return list(map(tuple, shares.tolist()))
