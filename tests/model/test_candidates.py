"""Candidates against plain enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.model.candidates import Candidates, enumerate_candidates
from streamcoref.model.segments import SPECIAL, Segment
from streamcoref.model.words import Word
from tests.model import toys

# A segment as sentences of words of so many pieces each.
shapes = st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=6), min_size=1, max_size=4)


def segment_of(shape: list[list[int]], first_word: int = 0, first_sentence: int = 0) -> Segment:
    words = [(number, length) for number, sentence in enumerate(shape) for length in sentence]
    word_of_piece = [first_word + i for i, (_, length) in enumerate(words) for _ in range(length)]
    sentence_of_piece = [first_sentence + sentence for sentence, length in words for _ in range(length)]
    return Segment(
        piece_ids=np.arange(len(word_of_piece) + 2),
        word_of_piece=np.array([SPECIAL, *word_of_piece, SPECIAL]),
        sentence_of_piece=np.array([sentence_of_piece[0], *sentence_of_piece, sentence_of_piece[-1]]),
        words=(Word("w", 0, opens=False, ends=False),) * len(words),
        first_word=first_word,
        position=0,
    )


def enumerate_plainly(segment: Segment, max_width: int, word_boundaries: bool) -> list[tuple[int, int]]:
    word, sentence = segment.word_of_piece.tolist(), segment.sentence_of_piece.tolist()
    found = []
    for start in range(len(segment)):
        for end in range(start, len(segment)):
            inside = range(start, end + 1)
            whole_words = word[start - 1] != word[start] and (end + 1 == len(segment) or word[end + 1] != word[end])
            if (
                len(inside) <= max_width
                and all(word[i] != SPECIAL for i in inside)
                and len({sentence[i] for i in inside}) == 1
                and (whole_words or not word_boundaries)
            ):
                found.append((start, end))
    return found


def pairs(candidates: Candidates) -> list[tuple[int, int]]:
    return list(zip(candidates.starts.tolist(), candidates.ends.tolist(), strict=True))


@given(shapes, st.integers(1, 12), st.booleans(), st.integers(0, 3))
def test_equals_plain_enumeration(shape: list[list[int]], max_width: int, boundaries: bool, offset: int) -> None:
    segment = segment_of(shape, offset * 7, offset)
    assert pairs(enumerate_candidates(segment, max_width, boundaries)) == enumerate_plainly(
        segment, max_width, boundaries
    )


def test_by_hand() -> None:
    segment = segment_of([[1, 2], [1]])  # [CLS] a bb | c [SEP]
    assert pairs(enumerate_candidates(segment, 3)) == [(1, 1), (1, 3), (2, 3), (4, 4)]
    assert pairs(enumerate_candidates(segment, 2)) == [(1, 1), (2, 3), (4, 4)]
    everywhere = [(1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3), (4, 4)]
    assert pairs(enumerate_candidates(segment, 3, word_boundaries=False)) == everywhere


@pytest.mark.parametrize("boundaries", [True, False])
def test_a_sentence_cut_by_the_segment_end_still_proposes_its_spans(boundaries: bool) -> None:
    sentence = ["the", "old", "lighthouse", "keeper", "saw", "her", "and", "left", "the", "harbour", "."]
    document = Document.from_sentences("x", [["he", "left", "."], sentence])
    # ten pieces: the first segment ends after the complete sentence, the second inside the long one
    segments = toys.cut(document, 10)
    assert [s.texts[-1] for s in segments] == [".", "and", "."]
    proposed = set()
    for segment in segments:
        candidates = enumerate_candidates(segment, 30, boundaries)
        words = segment.word_of_piece
        proposed |= {(int(words[a]), int(words[b]) + 1) for a, b in pairs(candidates)}
    expected = set()
    for segment, whole in zip(segments, [(0, 3), (3, 10), (10, 14)], strict=True):
        assert (segment.first_word, segment.first_word + len(segment.words)) == whole
        expected |= {(a, b) for a in range(*whole) for b in range(a + 1, whole[1] + 1)}
    assert proposed == expected


def test_rows_can_be_chosen() -> None:
    candidates = enumerate_candidates(segment_of([[1, 1, 1]]), 3)
    assert pairs(candidates[np.array([0, 4])]) == [(1, 1), (2, 3)]
    assert pairs(candidates[2:4]) == [(1, 3), (2, 2)]
    assert len(candidates) == 6
