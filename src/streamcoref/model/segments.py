"""Segments: the stretches of text that the encoder sees at once, cut at sentence ends, else at word ends."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from streamcoref.document import Document
from streamcoref.errors import StreamcorefError
from streamcoref.model.voices import NARRATOR, Voices

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
    voices: tuple[int, ...]  # who says each of them; see `Voices`
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
        self.size = len(tokenizer)  # of the vocabulary

    def definition(self) -> dict[str, Any]:
        """All that decides which pieces a word becomes. Lengths are not part of it: a call may change them."""
        values: dict[str, Any] = json.loads(self.tokenizer.backend_tokenizer.to_str())
        return {name: value for name, value in values.items() if name not in ("truncation", "padding")}

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        """The piece ids of each word. A word the tokenizer makes nothing of becomes the unknown piece."""
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


class SegmentCuts:
    """Where segments end, word by word: greedily as many words as fit into `max_pieces`, special ones not counted.

    A segment that cannot hold the next word ends at its last sentence end, or, if it holds none, at its last word
    end. With `max_sentences` it also ends after that many sentence ends. A word with more pieces than fit makes a
    segment of its own. The cut depends only on what lies before it and one word more, so a stream is cut like a file.
    """

    def __init__(self, max_pieces: int, max_sentences: int | None = None) -> None:
        self.max_pieces, self.max_sentences = max_pieces, max_sentences
        self._open: list[int] = []  # pieces of each word of the open segment
        self._pieces = self._sentences = 0  # in it
        self._last_end = 0  # after how many of its words its last sentence end stands; 0 if it has none

    def add(self, pieces: int, ends_sentence: bool) -> list[int]:
        """The lengths, in words, of the segments that this word ends: before it, or with it."""
        ended: list[int] = []
        while self._pieces and self._pieces + pieces > self.max_pieces:
            ended.append(self._cut(self._last_end or len(self._open)))
        self._open.append(pieces)
        self._pieces += pieces
        if ends_sentence:
            self._last_end = len(self._open)
            self._sentences += 1
            if self._sentences == self.max_sentences:
                ended.append(self._cut(len(self._open)))
        return ended

    def finish(self) -> list[int]:
        """The length of the open segment, which ends here; nothing if no word is left."""
        return [self._cut(len(self._open))] if self._open else []

    def _cut(self, length: int) -> int:
        del self._open[:length]
        self._pieces, self._sentences, self._last_end = sum(self._open), 0, 0
        return length


def cut_segments(
    pieces_per_word: Sequence[int], sentence_ends: Sequence[int], max_pieces: int, max_sentences: int | None = None
) -> Iterator[tuple[int, int]]:
    """Word ranges of the segments of a whole text; see `SegmentCuts`."""
    ends = frozenset(sentence_ends)
    cuts = SegmentCuts(max_pieces, max_sentences)

    def lengths() -> Iterator[int]:
        for word, pieces in enumerate(pieces_per_word, 1):
            yield from cuts.add(pieces, word in ends)
        yield from cuts.finish()

    start = 0
    for length in lengths():
        yield start, start + length
        start += length


class SegmentBuilder:
    """Segments from words that come little by little. It holds the words of the open segment and some counters.

    With `speakers_as_text` the encoder reads the speaker's name before each turn; spans and words stay the text's.
    """

    def __init__(
        self,
        tokenizer: PieceTokenizer,
        max_pieces: int,
        max_sentences: int | None = None,
        speakers_as_text: bool = False,
    ) -> None:
        self.tokenizer = tokenizer
        self.room = max_pieces - 2  # without the special pieces
        self.speakers_as_text = speakers_as_text
        self.first_word = self.position = 0  # of the open segment
        self.sentence = 0  # the number of the next word's
        self.speaker = ""  # of the latest word
        self.voices = Voices()  # as they are before the open segment
        self._cuts = SegmentCuts(self.room, max_sentences)
        # Of each word of the open segment:
        self._words: list[str] = []
        self._pieces: list[list[int]] = []
        self._before: list[list[int]] = []  # a speaker's name
        self._sentences: list[int] = []
        self._speakers: list[str] = []

    def add(self, words: Sequence[str], ends: Sequence[int], speakers: Sequence[str] = ()) -> Iterator[Segment]:
        """The segments that these words complete. `ends` says after how many of them a sentence ends.

        `speakers` has one name a word ("" where unknown) or is empty.
        """
        last_words = frozenset(ends)
        for number, (word, pieces) in enumerate(zip(words, self.tokenizer(words), strict=True)):
            pieces = pieces[: self.room]  # an endless word: its beginning stands
            speaker = speakers[number] if speakers else ""
            before = self._turn(speaker)[: self.room - len(pieces)]
            ends_sentence = number + 1 in last_words
            self._words.append(word)
            self._pieces.append(pieces)
            self._before.append(before)
            self._sentences.append(self.sentence)
            self._speakers.append(speaker)
            self.sentence += ends_sentence
            for length in self._cuts.add(len(pieces) + len(before), ends_sentence):
                yield self._segment(length)

    def finish(self) -> Iterator[Segment]:
        """The open segment, which ends here, if it has a word."""
        for length in self._cuts.finish():
            yield self._segment(length)

    def go_on(self, words: int, pieces: int, sentence: int, speaker: str, voices: Voices) -> None:
        """Go on with a text of which so many words and pieces have been cut, the last said by `speaker`."""
        self.first_word, self.position, self.sentence, self.speaker = words, pieces, sentence, speaker
        self.voices = voices

    def _turn(self, speaker: str) -> list[int]:
        """The pieces of a name, as "Anna :", where its turn begins."""
        changed, self.speaker = speaker != self.speaker, speaker
        if not (self.speakers_as_text and changed and speaker):
            return []
        return [piece for word in self.tokenizer([*speaker.split(), ":"]) for piece in word][:SPEAKER_PIECES]

    def _segment(self, length: int) -> Segment:
        before = self._before[:length]
        segment = make_segment(
            self.tokenizer,
            self._pieces[:length],
            self._words[:length],
            self._sentences[:length],
            self.first_word,
            self.position,
            before if any(before) else None,
            self.voices.read(self._words[:length], self._speakers[:length]),
        )
        for held in (self._words, self._pieces, self._before, self._sentences, self._speakers):
            del held[:length]
        self.first_word += length
        self.position = segment.end
        return segment


def segment_document(
    document: Document,
    tokenizer: PieceTokenizer,
    max_pieces: int,
    max_sentences: int | None = None,
    speakers_as_text: bool = False,
) -> list[Segment]:
    """The whole document as segments of at most `max_pieces` pieces, special ones counted."""
    builder = SegmentBuilder(tokenizer, max_pieces, max_sentences, speakers_as_text)
    return [*builder.add(document.words, document.sentence_ends, document.speakers), *builder.finish()]


def make_segment(
    tokenizer: PieceTokenizer,
    pieces: Sequence[Sequence[int]],
    words: Sequence[str],
    sentences: Sequence[int],
    first_word: int,
    position: int,
    before: Sequence[Sequence[int]] | None = None,
    voices: Sequence[int] | None = None,
) -> Segment:
    """A segment from the pieces, the text and the sentence number of each of its words.

    `before` may hold pieces to be read before each word that are not part of the text. Without `voices` all of it is
    the narrator's.
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
        voices=tuple(voices) if voices is not None else (NARRATOR,) * len(words),
        first_word=first_word,
        position=position,
    )
