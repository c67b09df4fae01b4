"""Where a mention stands in the text: for scorers that read words, not only vectors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from streamcoref.model.segments import SPECIAL
from streamcoref.model.spans import SegmentSpans


@dataclass(frozen=True, slots=True)
class TextContext:
    """The mention `words[start:end]` inside the words of its sentence (as much of it as its segment holds)."""

    words: tuple[str, ...]
    start: int
    end: int


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
        contexts.append(TextContext(segment.words[first:last], start - first, end - first))
    return contexts
