"""Candidate spans of a segment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from streamcoref.model.notes import IntArray
from streamcoref.model.segments import SPECIAL, Segment


@dataclass(frozen=True, eq=False)
class Candidates:
    """Spans as first and last piece of the segment (both inclusive), sorted by (start, end)."""

    starts: IntArray  # [c]
    ends: IntArray  # [c]

    def __len__(self) -> int:
        return len(self.starts)

    def __getitem__(self, rows: IntArray | slice) -> Candidates:
        return Candidates(self.starts[rows], self.ends[rows])


def whole_words(segment: Segment, spans: Candidates) -> npt.NDArray[np.bool_]:
    """Whether each span starts where a word starts and ends where a word ends, [c]."""
    word = segment.word_of_piece
    before, behind = word[np.maximum(spans.starts - 1, 0)], word[np.minimum(spans.ends + 1, len(word) - 1)]
    starts = (spans.starts == 0) | (before != word[spans.starts])
    ends = (spans.ends == len(word) - 1) | (behind != word[spans.ends])
    whole: npt.NDArray[np.bool_] = starts & ends
    return whole


def enumerate_candidates(segment: Segment, max_width: int, word_boundaries: bool = True) -> Candidates:
    """Every span of at most `max_width` pieces inside one sentence, special pieces excluded.

    With `word_boundaries` a span starts where a word starts and ends where a word ends; without, anywhere, as in
    the paper. The sentence at a segment's end counts like any other, complete or not.
    """
    n = len(segment)
    word, sentence = segment.word_of_piece, segment.sentence_of_piece
    real = word != SPECIAL
    may_start = real.copy()
    may_end = real.copy()
    if word_boundaries:
        may_start[1:] &= word[1:] != word[:-1]
        may_end[:-1] &= word[:-1] != word[1:]
    starts = np.flatnonzero(may_start)[:, None]  # [s, 1]
    ends = starts + np.arange(max_width)  # [s, max_width]
    inside = np.minimum(ends, n - 1)
    valid = (ends < n) & may_end[inside] & (sentence[inside] == sentence[starts])
    specials = np.cumsum(~real)  # a span may not reach over a speaker's name
    valid &= specials[inside] == specials[starts]
    rows, columns = np.nonzero(valid)
    return Candidates(starts[rows, 0], ends[rows, columns])
