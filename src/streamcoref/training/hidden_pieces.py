"""Pieces hidden from the encoder while it learns, so that it reads what stands around them.

On small corpora an encoder soon knows its documents by heart; if other pieces are hidden at each visit, it cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import torch
from torch import Tensor

from streamcoref.errors import StreamcorefError
from streamcoref.model.encoder import Encoder
from streamcoref.model.segments import Segment
from streamcoref.model.tokenizer import PieceTokenizer


class HiddenPieces:
    """An encoder that reads a random `share` of the pieces of each segment as the tokenizer's mask."""

    def __init__(self, encoder: Encoder, tokenizer: PieceTokenizer, share: float) -> None:
        if encoder.frozen:
            raise StreamcorefError("training.hidden_pieces is for an encoder that learns, but this one is frozen")
        if tokenizer.tokenizer.mask_token_id is None:
            raise StreamcorefError("training.hidden_pieces needs a tokenizer with a mask token, and this one has none")
        self.encoder, self.share = encoder, share
        self.mask: int = tokenizer.tokenizer.mask_token_id

    def __call__(self, segments: Sequence[Segment]) -> list[Tensor]:
        vectors: list[Tensor] = self.encoder([self._hide(segment) for segment in segments])
        return vectors

    def _hide(self, segment: Segment) -> Segment:
        hidden = torch.rand(len(segment)).numpy() < self.share  # torch's own randomness, which a resumed run repeats
        hidden[[0, -1]] = False  # the special pieces
        pieces = segment.piece_ids.copy()
        pieces[hidden] = self.mask
        return replace(segment, piece_ids=pieces)
