"""A question as the pieces of one pass, and where its mentions are among them."""

from __future__ import annotations

from functools import lru_cache

from streamcoref.errors import StreamcorefError
from streamcoref.model.text_context import Question, TextContext
from streamcoref.model.tokenizer import PieceTokenizer

OPEN, CLOSE = "[", "]"  # around a mention
REMEMBERED = 4096  # contexts whose pieces are kept: an entity's are asked about again and again

Place = tuple[int, int]  # of a mention among some pieces, with its marks
Pass = tuple[list[int], list[Place]]  # pieces, and where the mentions are, the span first


class QuestionPieces:
    """Questions to passes: `[CLS] the span in its sentence [SEP] the mentions, each in its sentence [SEP]`.

    Of a sentence at most `context_pieces` pieces are read, those around the mention, and its two marks.
    """

    def __init__(self, tokenizer: PieceTokenizer | None, context_pieces: int) -> None:
        self.tokenizer, self.context_pieces = tokenizer, context_pieces
        self._known = lru_cache(REMEMBERED)(self._around)

    def __call__(self, question: Question) -> Pass:
        if self.tokenizer is None:
            raise StreamcorefError("a scorer that reads text needs the tokenizer that its model was built with")
        pieces, places = [self.tokenizer.first], []
        for number, context in enumerate((question.span, *question.mentions)):
            marked, (start, end) = self._known(context, self.tokenizer)
            places.append((len(pieces) + start, len(pieces) + end))
            pieces += marked
            if number == 0:
                pieces.append(self.tokenizer.last)
        return [*pieces, self.tokenizer.last], places

    def _around(self, context: TextContext, tokenizer: PieceTokenizer) -> tuple[list[int], Place]:
        """The pieces around a mention, and where it is with its marks."""
        words = tokenizer([*context.words, OPEN, CLOSE])
        before, mention, behind = (
            [piece for word in words[a:b] for piece in word]
            for a, b in ((0, context.start), (context.start, context.end), (context.end, len(context.words)))
        )
        mention = mention[: self.context_pieces]
        room = self.context_pieces - len(mention)
        left = min(len(before), max(room // 2, room - len(behind)))
        before, behind = before[len(before) - left :], behind[: room - left]
        marked = [words[-2][0], *mention, words[-1][0]]
        return [*before, *marked, *behind], (left, left + len(marked))
