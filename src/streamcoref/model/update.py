"""UPDATE: how a span that joins an entity changes the entity's vector.

Every rule is a blend, entity <- weight * entity + (1 - weight) * span, so a rule is one number: the weight.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Annotated, Literal

import torch
from pydantic import BeforeValidator, PositiveInt, SerializeAsAny
from torch import Tensor, nn

from streamcoref.model.feed_forward import FeedForward
from streamcoref.model.parts import PartOptions, Surroundings


class UpdateRule(nn.Module, ABC):
    """What depends on the span or the entity alone is read once; `read_entities` must be linear, without a bias."""

    reading_size: int = 0

    def read_spans(self, spans: Tensor) -> Tensor:
        """[k, size] to [k, reading_size]."""
        return spans[:, :0]

    def read_entities(self, entities: Tensor) -> Tensor:
        """[n, size] to [n, reading_size]."""
        return entities[:, :0]

    @abstractmethod
    def weight(self, span_reading: Tensor, entity_reading: Tensor, size: Tensor | float) -> Tensor | float:
        """The share of the old entity, [...], given readings [..., reading_size] and its number of mentions [...].

        One entity's size may be a plain number.
        """


class Alpha(UpdateRule):
    """The paper's: a learned weight, sigmoid(FF([entity; span])).

    With `keeps_initial` its new weights are torch's own, as in the authors' program, whatever the model's `initial` is.
    """

    def __init__(self, size: int, hidden: int, dropout: float = 0.0, keeps_initial: bool = False) -> None:
        super().__init__()
        self.keeps_initial = keeps_initial
        self.net = FeedForward([size, size], hidden, dropout)
        self.reading_size = hidden

    def read_spans(self, spans: Tensor) -> Tensor:
        return self.net.project(1, spans) + self.net.hidden.bias

    def read_entities(self, entities: Tensor) -> Tensor:
        return self.net.project(0, entities)

    def weight(self, span_reading: Tensor, entity_reading: Tensor, size: Tensor | float) -> Tensor | float:
        return torch.sigmoid(self.net.finish(span_reading + entity_reading).float())  # as the memory is


class Mean(UpdateRule):
    """The mean of all its spans."""

    def weight(self, span_reading: Tensor, entity_reading: Tensor, size: Tensor | float) -> Tensor | float:
        return size / (size + 1)


class First(UpdateRule):
    """The first span stands for all."""

    def weight(self, span_reading: Tensor, entity_reading: Tensor, size: Tensor | float) -> Tensor | float:
        return size * 0.0 + 1.0


class Last(UpdateRule):
    """The latest span stands for all."""

    def weight(self, span_reading: Tensor, entity_reading: Tensor, size: Tensor | float) -> Tensor | float:
        return size * 0.0


class UpdateOptions(PartOptions):
    @abstractmethod
    def build(self, around: Surroundings) -> UpdateRule: ...


class AlphaOptions(UpdateOptions):
    name: Literal["alpha"] = "alpha"
    hidden: PositiveInt = 300
    initial: Literal["model", "torch"] = "model"  # new weights as the model's others, or torch's default

    def build(self, around: Surroundings) -> UpdateRule:
        return Alpha(around.span_size, self.hidden, around.dropout, self.initial == "torch")


class MeanOptions(UpdateOptions):
    name: Literal["mean"] = "mean"

    def build(self, around: Surroundings) -> UpdateRule:
        return Mean()


class FirstOptions(UpdateOptions):
    name: Literal["first"] = "first"

    def build(self, around: Surroundings) -> UpdateRule:
        return First()


class LastOptions(UpdateOptions):
    name: Literal["last"] = "last"

    def build(self, around: Surroundings) -> UpdateRule:
        return Last()


AnyUpdate = Annotated[SerializeAsAny[UpdateOptions], BeforeValidator(UpdateOptions.choose)]
