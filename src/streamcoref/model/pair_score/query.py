"""Query-based scoring, after CorefQA (Wu et al. 2020): is the mention marked here the one that is marked there?

They ask, for every mention, where in the text the same one stands, one pass of a large encoder a question. Here a
coarse score chooses a few entities, and a question is short: the span in its sentence, and the entity's latest mentions
in theirs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Self

import torch
from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator
from torch import Tensor

from streamcoref.model.encoder import Encoder
from streamcoref.model.features import PairFeatures
from streamcoref.model.pair_score.base import FeatureTables, Pairs, PairScorer
from streamcoref.model.pair_score.coarse_to_fine import CoarseToFineScorer, CoarseToFineScorerOptions
from streamcoref.model.parts import Surroundings
from streamcoref.model.text_context import Question
from streamcoref.model.text_reader import EncoderReader

# Answers questions, in order: a number each, as large as it is likely that the span is a mention of the entity. It may
# be a module that learns, or anything else that reads text, such as a language model behind an API.
TextReader = Callable[[Sequence[Question]], Tensor | Sequence[float]]


class QueryScorer(CoarseToFineScorer):
    """As `coarse_to_fine`, and for the entities of the shortlist what a reader of text says is added.

    So it begins with the weights of a model without it; whether these are frozen at first, a recipe says
    (`training.only`). With a `margin` it is asked only where there is a doubt: about the entities whose scores come so
    close to the best choice, which may be a new entity, and only if that leaves a choice.
    """

    uses_text = True

    def __init__(
        self,
        size: int,
        hidden: int,
        features: PairFeatures,
        prior_features: PairFeatures,
        shortlist: int,
        reader: TextReader,
        contexts: int,
        margin: float | None = None,
        dropout: float = 0.0,
        target_dropout: bool = False,
    ) -> None:
        super().__init__(size, hidden, features, prior_features, shortlist, dropout, target_dropout)
        self.reader = reader
        self.contexts = contexts
        self.margin = margin

    def refine(self, pairs: Pairs, tables: FeatureTables) -> Tensor:
        return self.refine_all([pairs], tables)[0]

    def refine_all(self, rows: Sequence[Pairs], tables: FeatureTables) -> list[Tensor]:
        """All questions of all spans together, so that they share passes."""
        fine = [super(QueryScorer, self).refine(pairs, tables).float() for pairs in rows]
        if not self.asks:
            return fine
        asked = [self._asked(pairs, scores) for pairs, scores in zip(rows, fine, strict=True)]
        questions = [question for pairs, chosen in zip(rows, asked, strict=True) for question in _ask(pairs, chosen)]
        said = self.reader(questions) if questions else ()
        answers = torch.as_tensor(said, dtype=torch.float32, device=self.prior.weight.device)
        parts = torch.split(answers, [len(chosen) for chosen in asked])
        return [scores.index_add(0, *more) for scores, *more in zip(fine, asked, parts, strict=True)]

    def _asked(self, pairs: Pairs, fine: Tensor) -> Tensor:
        """The numbers of the entities that are asked about."""
        if self.margin is None:
            return torch.arange(len(fine), device=fine.device)
        assert pairs.so_far is not None
        choices = torch.cat([fine.new_zeros(1), pairs.so_far + fine.detach()])  # a new entity first
        near = choices >= choices.max() - self.margin
        return near[1:].nonzero()[:, 0] if near.sum() > 1 else near.new_zeros(0, dtype=torch.long)

    def begin(self, encoder: Encoder) -> None:
        if isinstance(self.reader, EncoderReader):
            self.reader.begin(encoder)


def _ask(pairs: Pairs, chosen: Tensor) -> list[Question]:
    assert pairs.span_text is not None
    return [Question(pairs.span_text, pairs.entity_texts[number]) for number in chosen.tolist()]


class QueryScorerOptions(CoarseToFineScorerOptions):
    """Options of one's own with another `reader` are a scorer by another way to read; see `docs/extending.md`."""

    name: Literal["query"] = "query"  # type: ignore[assignment]
    shortlist: PositiveInt = 4
    margin: PositiveFloat | None = None  # ask only about choices whose scores come so close to the best; None: always
    contexts: PositiveInt = 2  # the latest mentions of an entity that are read, and remembered
    context_pieces: int = Field(default=24, ge=4)  # of each sentence, around its mention
    encoder: Literal["own", "model"] = "own"
    layers: PositiveInt | None = None  # of an encoder of its own; None: as many as the model's has
    trainable_from: NonNegativeInt = 0  # of these: those below stay as they begin, and so do its embeddings
    query_hidden: PositiveInt = 256

    @model_validator(mode="after")
    def _layers_of_its_own(self) -> Self:
        if self.encoder == "model" and self.layers is not None:
            raise ValueError("layers: the model's encoder is read in full; give them with encoder = 'own'")
        if self.encoder == "model" and self.trainable_from:
            raise ValueError("trainable_from: the model's encoder has one of its own, encoder.trainable_from")
        return self

    def reader(self, around: Surroundings) -> TextReader:
        assert around.encoder is not None
        own = self.layers or around.encoder.model.config.num_hidden_layers
        return EncoderReader(
            around.encoder,
            around.tokenizer,
            self.contexts,
            self.context_pieces,
            self.query_hidden,
            own if self.encoder == "own" else None,
            self.trainable_from,
            around.dropout,
        )

    def build(self, around: Surroundings) -> PairScorer:
        return QueryScorer(
            around.span_size,
            self.hidden,
            self.pair_features(around),
            self.pair_features(around, self.prior_features),
            self.shortlist,
            self.reader(around),
            self.contexts,
            self.margin,
            around.dropout,
            self.target_dropout,
        )
