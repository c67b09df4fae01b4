"""Words into pieces."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


REMEMBERED = 1 << 14  # words whose pieces are kept, some megabytes


class PieceTokenizer:
    """Words into pieces, by a fast Hugging Face tokenizer, one word never sharing a piece with another."""

    def __init__(self, tokenizer: PreTrainedTokenizerBase) -> None:
        if not tokenizer.is_fast:
            raise StreamcorefError("the tokenizer has no fast version; convert it with transformers and save it again")
        for name in ("cls_token_id", "sep_token_id", "unk_token_id"):
            if getattr(tokenizer, name) is None:
                raise StreamcorefError(f"the tokenizer has no {name.removesuffix('_id')}, which the encoder needs")
        self.tokenizer = tokenizer
        self.first: int = tokenizer.cls_token_id
        self.last: int = tokenizer.sep_token_id
        self.unknown: int = tokenizer.unk_token_id
        # How many vectors an encoder needs for it. Numbers may have gaps, so the count of pieces does not tell.
        self.size = 1 + max(tokenizer.get_vocab().values())
        self._known: dict[str, list[int]] = {}

    def definition(self) -> dict[str, Any]:
        """All that decides which pieces a word becomes. Lengths are not part of it: a call may change them."""
        values: dict[str, Any] = json.loads(self.tokenizer.backend_tokenizer.to_str())
        return {name: value for name, value in values.items() if name not in ("truncation", "padding")}

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        """The piece ids of each word. A word the tokenizer makes nothing of becomes the unknown piece.

        They do not depend on the words around, so those of words that came before are remembered: most of a text's
        are. They are not to be changed.
        """
        known = self._known  # other threads may begin another one meanwhile
        new = [word for word in dict.fromkeys(words) if word not in known]
        if len(known) + len(new) > REMEMBERED:
            known = self._known = {}
            new = list(dict.fromkeys(words))
        known.update(zip(new, self._pieces(new), strict=True))
        return [known[word] for word in words]

    def _pieces(self, words: Sequence[str]) -> list[list[int]]:
        if not words:
            return []
        try:
            "".join(words).encode()
        except UnicodeEncodeError:  # half a surrogate pair, which no tokenizer takes
            words = [word.encode(errors="replace").decode() for word in words]
        # verbose=False: the tokenizer would warn that the text is longer than the encoder; segments are not.
        encoded = self.tokenizer(list(words), is_split_into_words=True, add_special_tokens=False, verbose=False)
        pieces: list[list[int]] = [[] for _ in words]
        for piece, word in zip(encoded["input_ids"], encoded.word_ids(), strict=True):
            pieces[word].append(piece)
        return [word or [self.unknown] for word in pieces]
