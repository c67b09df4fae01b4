"""An encoder that reads a span and the latest mentions of an entity side by side."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder import Encoder, architecture_of, random_encoder
from streamcoref.model.feed_forward import FeedForward
from streamcoref.model.question_pieces import Pass, QuestionPieces
from streamcoref.model.text_context import Question
from streamcoref.model.tokenizer import PieceTokenizer

BATCH = 64  # questions that share a pass of the encoder


class EncoderReader(nn.Module):
    """score = FF([first piece; span; mentions; span * mentions]) of one pass over

        [CLS] the span's sentence, the span marked [SEP] the latest mentions, each marked in its sentence [SEP]

    where the span is the mean of its pieces and its marks, and so are the mentions. Of a sentence at most
    `context_pieces` pieces are read, those around the mention. The encoder is one of its own with `layers` layers, or,
    if that is None, the model's, which then learns from this too. The score is 0 before anything has been learnt.
    """

    keeps_initial = True

    def __init__(
        self,
        encoder: Encoder,
        tokenizer: PieceTokenizer | None,
        contexts: int,
        context_pieces: int,
        hidden: int,
        layers: int | None = None,
        trainable_from: int = 0,
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        longest = 3 + (contexts + 1) * (context_pieces + 2)
        if encoder.max_pieces is not None and longest > encoder.max_pieces:
            raise StreamcorefError(
                f"{contexts} contexts of {context_pieces} pieces need passes of {longest} pieces, "
                f"but this encoder has positions for {encoder.max_pieces} only"
            )
        self.pieces = QuestionPieces(tokenizer, context_pieces)
        self.own = None if layers is None else _shorter(encoder, layers, trainable_from)
        self._shared = [encoder]  # in a list: its weights are the model's, not this part's
        self.net = FeedForward([encoder.hidden_size] * 4, hidden, dropout)
        nn.init.zeros_(self.net.output.weight)
        nn.init.zeros_(self.net.output.bias)

    @property
    def encoder(self) -> Encoder:
        return self._shared[0] if self.own is None else self.own

    def begin(self, encoder: Encoder) -> None:
        """An encoder of its own begins as the lower layers of the model's, mixed in the same shares."""
        if self.own is not None:
            given = encoder.state_dict()
            if encoder.mix is not None:
                given["mix"] = _mix_of(self.own, encoder)
            self.own.load_state_dict({name: given[name] for name in self.own.state_dict()})

    def forward(self, questions: Sequence[Question]) -> Tensor:
        """Scores [n]. Where it learns from several passes, they are computed again on the way back, so that memory is
        one pass'."""
        if not questions:
            return self.net.output.bias.new_zeros(0)
        # By length, so that little is padded; a question's score does not depend on its neighbours.
        passes = [self.pieces(question) for question in questions]
        order = sorted(range(len(passes)), key=lambda number: len(passes[number][0]))
        scores = []
        for first in range(0, len(order), BATCH):
            batch = self._batch([passes[number] for number in order[first : first + BATCH]])
            if torch.is_grad_enabled() and len(order) > BATCH:
                scores.append(checkpoint(self._read, *batch, use_reentrant=False))
            else:
                scores.append(self._read(*batch))
        places = torch.tensor(order, device=scores[0].device).argsort()
        return torch.cat(scores)[places]

    def _batch(self, passes: Sequence[Pass]) -> tuple[Tensor, Tensor, Tensor]:
        """Pieces [n, length], their mask, and the shares [n, 2, length] of each in the span and in the mentions."""
        longest = max(len(pieces) for pieces, _ in passes)
        ids = torch.full((len(passes), longest), self.encoder.pad_id)
        mask = torch.zeros_like(ids)
        shares = torch.zeros(len(passes), 2, longest)
        for row, (pieces, (span, *mentions)) in enumerate(passes):
            ids[row, : len(pieces)] = torch.tensor(pieces)
            mask[row, : len(pieces)] = 1
            for side, places in enumerate(([span], mentions)):
                for start, end in places:
                    shares[row, side, start:end] = 1 / (end - start) / len(places)
        device = self.net.output.weight.device
        return ids.to(device), mask.to(device), shares.to(device)

    def _read(self, ids: Tensor, mask: Tensor, shares: Tensor) -> Tensor:
        vectors = self.encoder.encode(ids, mask)  # [n, length, hidden]
        span, mentions = (shares @ vectors.float()).unbind(1)
        scores: Tensor = self.net(torch.cat([vectors[:, 0], span, mentions, span * mentions], dim=-1))
        return scores.float()


def _shorter(encoder: Encoder, layers: int, trainable_from: int) -> Encoder:
    """A new encoder like another one, with fewer layers, whose weights are random; embeddings never learn."""
    architecture = architecture_of(encoder.model)
    there = encoder.model.config.num_hidden_layers
    if layers > there:
        raise StreamcorefError(f"pair_score.layers is {layers}, but this encoder has {there} layers only")
    model = random_encoder(architecture | {"num_hidden_layers": layers})
    return Encoder(model, trainable_from, min(encoder.layers, layers + 1), encoder.mix is not None)


def _mix_of(own: Encoder, encoder: Encoder) -> Tensor:
    """What another encoder has learnt of how much each layer counts, for the layers that are read here, too; else 0."""
    assert own.mix is not None
    assert encoder.mix is not None
    first, theirs = (one.model.config.num_hidden_layers + 1 - one.layers for one in (own, encoder))
    mix = torch.zeros_like(own.mix)
    for number in range(own.layers):
        place = first + number - theirs
        if 0 <= place < encoder.layers:
            mix[number] = encoder.mix[place]
    return mix.detach()
