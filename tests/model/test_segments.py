"""Segments: nothing lost, nothing too long, cut where the text allows."""

from __future__ import annotations

import json
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.model.segments import SPECIAL, Segment, Segmenter, SegmentOptions, cut_segments
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.words import document_words
from tests.model import toys

TOKENIZER = toys.tokenizer()

words_and_sentences = st.lists(
    st.lists(st.sampled_from([*toys.WORDS, "", "\u200b", "unbelievablelighthouse"]), min_size=1, max_size=12),
    max_size=8,
)


def cut(sentences: list[list[str]], max_pieces: int, max_sentences: int | None = None) -> list[Segment]:
    return toys.cut(Document.from_sentences("x", sentences), max_pieces, max_sentences)


@given(words_and_sentences, st.integers(8, 40), st.none() | st.integers(1, 3))
def test_every_word_once_in_order_within_the_limit(
    sentences: list[list[str]], max_pieces: int, max_sentences: int | None
) -> None:
    document = Document.from_sentences("x", sentences)
    segments = toys.cut(document, max_pieces, max_sentences)
    assert [word for s in segments for word in s.texts] == list(document.words)
    pieces = TOKENIZER(document.words)
    word = position = 0
    for number, segment in enumerate(segments):
        assert (segment.number, segment.first_word, segment.position) == (number, word, position)
        assert 3 <= len(segment) <= max_pieces
        assert (segment.piece_ids[0], segment.piece_ids[-1]) == (TOKENIZER.first, TOKENIZER.last)
        expected = [
            (piece, number, document.sentence_of_word[number])
            for number in range(word, word + len(segment.words))
            for piece in pieces[number][: max_pieces - 2]
        ]
        inner = [a[1:-1].tolist() for a in (segment.piece_ids, segment.word_of_piece, segment.sentence_of_piece)]
        assert list(zip(*inner, strict=True)) == expected
        assert segment.word_of_piece[0] == segment.word_of_piece[-1] == SPECIAL
        word += len(segment.words)
        position = segment.end
    assert position == sum(len(s) for s in segments)


@given(
    st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=10), max_size=8),
    st.integers(4, 25),
    st.none() | st.integers(1, 3),
)
def test_a_segment_ends_at_a_sentence_end_or_where_it_has_none(
    sentences: list[list[int]], max_pieces: int, max_sentences: int | None
) -> None:
    lengths = [n for sentence in sentences for n in sentence]
    ends = np.cumsum([len(sentence) for sentence in sentences]).tolist()
    ranges = list(cut_segments(lengths, ends, max_pieces, max_sentences))
    assert [a for a, _ in ranges] == [0, *(b for _, b in ranges[:-1])] if ranges else not lengths
    for start, end in ranges:
        inside = [e for e in ends if start < e <= end]
        assert len(inside) <= (max_sentences or len(ends))
        room = sum(lengths[start:end]) + lengths[end] <= max_pieces if end < len(lengths) else None
        if end not in ends:  # mid-sentence: no sentence end to fall back to, and the next word does not fit
            assert not inside
            assert room is False
        elif room and len(inside) != max_sentences:  # fell back here: the sentence after does not fit whole
            following = next(e for e in ends if e > end)
            assert sum(lengths[start:following]) > max_pieces


def published_cuts(sentences: list[list[int]], max_pieces: int, max_sentences: int) -> list[int]:
    """The ends of segments, in pieces, as the paper's code finds them, for sentences that fit into a segment."""
    boundaries = np.cumsum([sum(sentence) for sentence in sentences]).tolist()
    ends = [0]
    counted = 0
    while ends[-1] < boundaries[-1]:
        counted += max_sentences
        limit = boundaries[counted] if counted < len(boundaries) else boundaries[-1]
        ends.append(max(end for end in boundaries if end <= min(limit, ends[-1] + max_pieces)))
    return ends[1:]


@given(
    st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=6), min_size=1, max_size=14),
    st.integers(24, 60),
    st.integers(1, 4),
)
def test_sentences_as_published_are_counted_as_the_papers_code_does(
    sentences: list[list[int]], max_pieces: int, max_sentences: int
) -> None:
    lengths = [n for sentence in sentences for n in sentence]
    ends = np.cumsum([len(sentence) for sentence in sentences]).tolist()
    ranges = list(cut_segments(lengths, ends, max_pieces, max_sentences, "published"))
    assert [sum(lengths[:end]) for _, end in ranges] == published_cuts(sentences, max_pieces, max_sentences)


@pytest.mark.parametrize("cut_at", range(1, 24))
def test_sentences_as_published_in_a_stream_that_is_saved(cut_at: int) -> None:
    document = Document.from_sentences("x", [["he", "saw"]] * 12)
    options = SegmentOptions(max_pieces=64, max_sentences=3, sentences_as="published")
    segmenter = Segmenter(toys.tokenizer(), options)
    words = list(document_words(document))
    first = segmenter.builder()
    segments = list(first.add(words[:cut_at]))
    second = segmenter.builder()
    second.restore(json.loads(json.dumps(first.to_values())))
    segments += [*second.add(words[cut_at:]), *second.finish()]
    assert [len(segment.words) // 2 for segment in segments] == [4, 3, 3, 2]


@given(words_and_sentences, words_and_sentences, st.integers(8, 30), st.none() | st.integers(1, 3))
def test_the_same_beginning_is_cut_the_same(
    sentences: list[list[str]], more: list[list[str]], max_pieces: int, max_sentences: int | None
) -> None:
    """A stream is cut like a file: what follows changes at most the last segment."""
    short = cut(sentences, max_pieces, max_sentences)
    long = cut(sentences + more, max_pieces, max_sentences)
    for a, b in zip(short[:-1], long, strict=False):
        assert a.words == b.words
        assert np.array_equal(a.piece_ids, b.piece_ids)
        assert np.array_equal(a.word_of_piece, b.word_of_piece)
        assert np.array_equal(a.sentence_of_piece, b.sentence_of_piece)
        assert (a.first_word, a.position, a.number) == (b.first_word, b.position, b.number)
        assert a.tracks == b.tracks
    assert len(long) >= len(short) - 1


def test_at_the_last_sentence_end_that_fits() -> None:
    # 8 pieces are 6 words: the second sentence does not fit whole, so the first segment ends before it.
    segments = cut([["he"] * 4, ["she"] * 3, ["it"] * 2], 8)
    assert [len(s.words) for s in segments] == [4, 5]
    assert [s.sentence_of_piece.tolist() for s in segments] == [[0] * 6, [1, 1, 1, 1, 2, 2, 2]]


def test_a_long_sentence_is_cut_between_words() -> None:
    segments = cut([["lighthouse"] * 7], 9)  # two pieces a word: three words fit
    assert [s.texts for s in segments] == [("lighthouse",) * 3, ("lighthouse",) * 3, ("lighthouse",)]
    assert [s.sentence_of_piece.tolist() for s in segments] == [[0] * 8, [0] * 8, [0] * 4]
    assert segments[1].word_of_piece.tolist() == [SPECIAL, 3, 3, 4, 4, 5, 5, SPECIAL]


def test_sentences_per_segment() -> None:
    sentences = [["he"], ["she", "saw"], ["it"], ["they"], ["him"]]
    assert [len(s.words) for s in cut(sentences, 64, 2)] == [3, 2, 1]
    assert [len(s.words) for s in cut(sentences, 64, 1)] == [1, 2, 1, 1, 1]
    # a segment that ended in mid-sentence starts counting anew
    assert [len(s.words) for s in cut([["he"] * 8, ["she"], ["it"]], 8, 2)] == [6, 3, 1]


def test_a_word_longer_than_a_segment_keeps_its_beginning() -> None:
    segments = cut([["he", "saw", "x" * 30, "."]], 10)
    assert [s.texts for s in segments] == [("he", "saw"), ("x" * 30,), (".",)]
    assert [len(s) for s in segments] == [4, 10, 3]


@pytest.mark.parametrize("nothing", ["", "\u200b", " ", "\u00ad"])
def test_a_word_without_pieces_becomes_the_unknown_piece(nothing: str) -> None:
    assert TOKENIZER(["he", nothing, "saw"])[1] == [TOKENIZER.unknown]
    (segment,) = cut([["he", nothing, "saw"]], 10)
    assert segment.texts == ("he", nothing, "saw")
    assert segment.word_of_piece.tolist() == [SPECIAL, 0, 1, 2, SPECIAL]


def test_words_do_not_share_pieces() -> None:
    assert TOKENIZER(["un", "believ", "able"]) != [TOKENIZER(["unbelievable"])[0]]
    assert len(TOKENIZER(["light", "house", "lighthouse"])) == 3
    assert TOKENIZER(["lighthouse"])[0][0] == TOKENIZER(["light"])[0][0]
    assert TOKENIZER([]) == []


def test_words_that_came_before_have_the_same_pieces_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many words are remembered; those that are forgotten are cut again."""
    words = [*toys.WORDS, "unbelievable", "", "unbelievable", *toys.WORDS]
    alone = [toys.tokenizer()([word])[0] for word in words]
    for most in (0, 3, 1 << 14):
        monkeypatch.setattr("streamcoref.model.tokenizer.REMEMBERED", most)
        tokenizer = toys.tokenizer()
        for first in range(0, len(words), 4):
            assert tokenizer(words[first : first + 4]) == alone[first : first + 4]
        assert tokenizer(words) == alone


def test_words_are_not_remembered_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamcoref.model.tokenizer.REMEMBERED", 100)
    tokenizer = toys.tokenizer()
    tokenizer([f"first{number}" for number in range(100)])
    tracemalloc.start()
    for number in range(20_000):
        tokenizer([f"word{number}"])
    grown, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert grown < 200_000  # of some two million, were they all kept


def test_an_empty_document_has_no_segments() -> None:
    assert cut([], 16) == []


def test_segments_meet_without_gaps() -> None:
    segments = toys.cut(toys.document(3, 300, 40), 24)
    assert len(segments) > 10
    assert all(a.end == b.position for a, b in pairwise(segments))
    assert all(a.first_word + len(a.words) == b.first_word for a, b in pairwise(segments))


class _Bare:
    """A tokenizer in what the check looks at."""

    is_fast = True
    cls_token_id = 2
    sep_token_id = 3
    unk_token_id = 1


def test_a_tokenizer_without_what_is_needed_is_refused() -> None:
    slow, without = _Bare(), _Bare()
    slow.is_fast = False
    without.sep_token_id = None
    with pytest.raises(StreamcorefError, match="no fast version"):
        PieceTokenizer(slow)
    with pytest.raises(StreamcorefError, match="no sep_token,"):
        PieceTokenizer(without)
