"""Where a mention stands in the text: for scorers that read words, not only vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from streamcoref.model.segments import SPECIAL

if TYPE_CHECKING:
    from streamcoref.model.spans import SegmentSpans


@dataclass(frozen=True, slots=True)
class TextContext:
    """The mention `words[start:end]` inside the words of its sentence (as much of it as its segment holds)."""

    words: tuple[str, ...]
    start: int
    end: int


class Question(NamedTuple):
    """May a span be a mention of an entity? The span in its sentence, and the entity's latest mentions in theirs."""

    span: TextContext
    mentions: tuple[TextContext, ...]


def text_contexts(spans: SegmentSpans) -> list[TextContext]:
    """The context of every span that was kept."""
    segment = spans.segment
    words, firsts = np.unique(segment.word_of_piece, return_index=True)
    sentence_of_word = segment.sentence_of_piece[firsts[words != SPECIAL]]
    contexts = []
    for start, end in spans.word_spans:
        start, end = start - segment.first_word, end - segment.first_word
        sentence = np.flatnonzero(sentence_of_word == sentence_of_word[start])
        first, last = int(sentence[0]), int(sentence[-1]) + 1
        contexts.append(TextContext(segment.texts[first:last], start - first, end - first))
    return contexts
