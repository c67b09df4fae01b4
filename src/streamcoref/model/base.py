"""What every kind of model is to those who use one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

import torch
from torch import nn

from streamcoref.language.trackers import WordTracker
from streamcoref.model.encoder import Encoder
from streamcoref.model.encoder_service import Encode, EncoderService, SegmentService
from streamcoref.model.evict import EvictionPolicy, NoEviction
from streamcoref.model.features import TextLabels
from streamcoref.model.pair_score import PairScorer
from streamcoref.model.reading import Reading, SegmentResult
from streamcoref.model.segments import Segment
from streamcoref.model.span_labels import SpanLabels
from streamcoref.model.spans import Spans
from streamcoref.model.vocabulary import number_of

if TYPE_CHECKING:
    from streamcoref.model.state import State


class CorefModel(nn.Module, ABC):
    """Encoder, Spans and PairScore, whatever is made of them, and what it says of spans besides."""

    kind: ClassVar[Literal["incremental", "baseline"]]
    reads_streams: ClassVar[bool]  # whether it can read a text whose end it has not seen
    compares_with: ClassVar[Literal["entities", "mentions"]]

    def __init__(
        self,
        encoder: Encoder,
        spans: Spans,
        pair_score: PairScorer,
        genres: Sequence[str] = (),
        schemes: Sequence[str] = (),
        labels: SpanLabels | None = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.spans = spans
        self.pair_score = pair_score
        self.genres = tuple(genres)
        self.schemes = tuple(schemes)
        self.labels = labels or SpanLabels(spans.vectors.size, 0, {})

    @property
    def device(self) -> torch.device:
        return next(self.parameters()).device

    def reading(
        self, genre: str | None = None, scheme: str | None = None, evict: EvictionPolicy | None = None
    ) -> Reading:
        """How a text of this genre is read by this scheme; without a policy nothing is evicted."""
        fixed = self.fixed_features(genre, scheme)
        return Reading(
            scheme=number_of(scheme, self.schemes),
            tables=self.pair_score.fold_features(fixed),
            index=self.pair_score.features.index(fixed),
            evict=evict or NoEviction(),
        )

    def fixed_features(self, genre: str | None, scheme: str | None) -> dict[str, int | None]:
        """The pair features that are the same for all pairs of a text, and their values."""
        labels = TextLabels(number_of(genre, self.genres), number_of(scheme, self.schemes), self.compares_with)
        return self.pair_score.features.fixed(labels)

    def service(self, threads: int | None = None, batch: int = 1, *, encode: Encode | None = None) -> EncoderService:
        """What encodes for all who read with this model in this process. `encode` may stand for its encoder."""
        return EncoderService(encode or self.encoder, self.spans, self.device, threads, batch)

    def trackers(self) -> list[WordTracker]:
        """New ones of all that has to follow a text word by word."""
        return self.pair_score.features.trackers()

    @abstractmethod
    def read(
        self, segments: Iterable[Segment], reading: Reading, encoder: SegmentService, state: State | None = None
    ) -> Iterator[SegmentResult]:
        """The segments of a whole text, in order, to decisions; of a model that has a `state`, from there."""
