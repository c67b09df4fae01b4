"""Segments: the stretches of text that the encoder sees at once, cut at sentence ends, else at word ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

IntArray = npt.NDArray[np.int64]

SPECIAL = -1  # the "word" of a piece that belongs to no word: [CLS], [SEP], a speaker's name
SPEAKER_PIECES = 8  # of a speaker's name that the encoder reads, at most


@dataclass(frozen=True, eq=False)
class Segment:
    """One segment of n pieces, its first and last the encoder's special ones.

    `position` is the number of pieces of the text before this segment, special ones counted, as in the paper:
    piece i of the segment stands at `position + i`. Words and sentences are numbered from the start of the text,
    so a sentence cut by a segment's end has the same number on both sides.
    """

    piece_ids: IntArray  # [n]
    word_of_piece: IntArray  # [n], SPECIAL where there is none
    sentence_of_piece: IntArray  # [n]
    words: tuple[str, ...]  # the words of this segment
    first_word: int
    position: int

    def __len__(self) -> int:
        return len(self.piece_ids)

    @property
    def end(self) -> int:
        """The number of pieces read when this segment is done."""
        return self.position + len(self)


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

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        """The piece ids of each word. A word the tokenizer makes nothing of becomes the unknown piece."""
        if not words:
            return []
        # verbose=False: the tokenizer would warn that the text is longer than the encoder; segments are not.
        encoded = self.tokenizer(list(words), is_split_into_words=True, add_special_tokens=False, verbose=False)
        pieces: list[list[int]] = [[] for _ in words]
        for piece, word in zip(encoded["input_ids"], encoded.word_ids(), strict=True):
            pieces[word].append(piece)
        return [word or [self.unknown] for word in pieces]


def cut_segments(
    pieces_per_word: Sequence[int], sentence_ends: Sequence[int], max_pieces: int, max_sentences: int | None = None
) -> Iterator[tuple[int, int]]:
    """Word ranges of the segments: greedily as many words as fit into `max_pieces` (special pieces not counted).

    A segment that cannot hold the next word ends at its last sentence end, or, if it holds none, at its last word
    end. With `max_sentences` it also ends after that many sentence ends. A word with more pieces than fit makes a
    segment of its own. The cut depends only on what lies before it and one word more, so a stream is cut like a file.
    """
    ends = frozenset(sentence_ends)
    start = pieces = sentences = 0
    last_end: int | None = None  # the last sentence end inside the open segment
    word = 0
    while word < len(pieces_per_word):
        if pieces and pieces + pieces_per_word[word] > max_pieces:
            word = last_end or word
            yield start, word
            start, pieces, sentences, last_end = word, 0, 0, None
            continue
        pieces += pieces_per_word[word]
        word += 1
        if word in ends:
            last_end = word
            sentences += 1
            if sentences == max_sentences:
                yield start, word
                start, pieces, sentences, last_end = word, 0, 0, None
    if start < word:
        yield start, word


def segment_document(
    document: Document,
    tokenizer: PieceTokenizer,
    max_pieces: int,
    max_sentences: int | None = None,
    speakers_as_text: bool = False,
) -> list[Segment]:
    """The whole document as segments of at most `max_pieces` pieces, special ones counted.

    With `speakers_as_text` the encoder reads the speaker's name before each turn; spans and words stay the document's.
    """
    pieces = [word[: max_pieces - 2] for word in tokenizer(document.words)]  # an endless word: its beginning stands
    before = _turns(document, tokenizer) if speakers_as_text else {}
    costs = [min(len(word) + len(before.get(i, ())), max_pieces - 2) for i, word in enumerate(pieces)]
    segments: list[Segment] = []
    position = 0
    for start, end in cut_segments(costs, document.sentence_ends, max_pieces - 2, max_sentences):
        segment = make_segment(
            tokenizer,
            pieces[start:end],
            document.words[start:end],
            document.sentence_of_word[start:end],
            start,
            position,
            [before.get(i, [])[: max_pieces - 2 - len(pieces[i])] for i in range(start, end)] if before else None,
        )
        position = segment.end
        segments.append(segment)
    return segments


def _turns(document: Document, tokenizer: PieceTokenizer) -> dict[int, list[int]]:
    """Word at which a speaker begins -> the pieces of that speaker's name, as "Anna :"."""
    speakers = document.speakers
    starts = [i for i, name in enumerate(speakers) if name and (i == 0 or speakers[i - 1] != name)]
    return {
        i: [piece for word in tokenizer([*speakers[i].split(), ":"]) for piece in word][:SPEAKER_PIECES] for i in starts
    }


def make_segment(
    tokenizer: PieceTokenizer,
    pieces: Sequence[Sequence[int]],
    words: Sequence[str],
    sentences: Sequence[int],
    first_word: int,
    position: int,
    before: Sequence[Sequence[int]] | None = None,
) -> Segment:
    """A segment from the pieces, the text and the sentence number of each of its words.

    `before` may hold pieces to be read before each word that are not part of the text.
    """
    number = np.arange(first_word, first_word + len(words))
    if before is None:
        piece_ids = [piece for word in pieces for piece in word]
        lengths = [len(word) for word in pieces]
        word_of_piece = np.repeat(number, lengths)
    else:
        piece_ids = [piece for extra, word in zip(before, pieces, strict=True) for piece in (*extra, *word)]
        lengths = [len(extra) + len(word) for extra, word in zip(before, pieces, strict=True)]
        parts = zip(number, before, pieces, strict=True)
        word_of_piece = np.concatenate([[SPECIAL] * len(extra) + [i] * len(word) for i, extra, word in parts])
    sentence_of_piece = np.repeat(sentences, lengths)
    return Segment(
        piece_ids=np.array([tokenizer.first, *piece_ids, tokenizer.last]),
        word_of_piece=np.concatenate([[SPECIAL], word_of_piece, [SPECIAL]]),
        sentence_of_piece=np.concatenate([[sentences[0]], sentence_of_piece, [sentences[-1]]]),
        words=tuple(words),
        first_word=first_word,
        position=position,
    )
