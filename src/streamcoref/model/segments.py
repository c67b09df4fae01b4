"""Segments: the stretches of text that the encoder sees at once, cut at sentence ends, else at word ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field, PositiveInt

from streamcoref.checked import Options
from streamcoref.document import Document
from streamcoref.model.notes import IntArray
from streamcoref.model.tokenizer import PieceTokenizer
from streamcoref.model.words import Word, document_words

if TYPE_CHECKING:
    from streamcoref.language.trackers import WordTracker

SPECIAL = -1  # the "word" of a piece that belongs to no word: [CLS], [SEP], a speaker's name
_NOTHING: Sequence[int] = ()  # what is read before most words
SPEAKER_PIECES = 8  # of a speaker's name that the encoder reads, at most


# How a number of sentences is meant: `counted`, or `published`, as the paper's code counts, see `SegmentCuts`.
SentencesAs = Literal["counted", "published"]


class SegmentOptions(Options):
    max_pieces: int = Field(default=512, ge=8)
    max_sentences: PositiveInt | None = None
    sentences_as: SentencesAs = "counted"
    speakers_as_text: bool = False  # the encoder reads the speaker's name before each turn


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
    words: tuple[Word, ...]
    first_word: int
    position: int
    number: int = 0  # of segments before it in the text
    tracks: Mapping[str, Sequence[int]] = field(default_factory=dict)  # a number a word, of each tracker by its name

    @cached_property
    def texts(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)

    def __len__(self) -> int:
        return len(self.piece_ids)

    @property
    def end(self) -> int:
        """The number of pieces read when this segment is done."""
        return self.position + len(self)


class SegmentCuts:
    """Where segments end, word by word: greedily as many words as fit into `max_pieces`, special ones not counted.

    A segment that cannot hold the next word ends at its last sentence end, or, if it holds none, at its last word
    end. With `max_sentences` it also ends after that many sentence ends. A word with more pieces than fit makes a
    segment of its own. The cut depends only on what lies before it and one word more, so a stream is cut like a file.

    `published` is how the paper's code cuts by sentences (Table 4): segment k of a text, counted from 1, ends with
    sentence k * max_sentences + 1 at the latest. So the first has one sentence more than the others, and one that
    follows a segment cut for its pieces has those that this one lost besides its own, as far as they fit.
    """

    def __init__(
        self, max_pieces: int, max_sentences: int | None = None, sentences_as: SentencesAs = "counted"
    ) -> None:
        self.max_pieces, self.max_sentences, self.sentences_as = max_pieces, max_sentences, sentences_as
        self.segments = 0  # that have ended
        self._open: list[int] = []  # pieces of each word of the open segment
        self._pieces = self._sentences = 0  # in it
        self._last_end = 0  # after how many of its words its last sentence end stands; 0 if it has none

    def add(self, pieces: int, sentence: int, ends_sentence: bool) -> list[int]:
        """The lengths, in words, of the segments that this word of a sentence, given by its number, ends.

        They end before the word, or with it.
        """
        ended: list[int] = []
        while self._pieces and self._pieces + pieces > self.max_pieces:
            ended.append(self._cut(self._last_end or len(self._open)))
        self._open.append(pieces)
        self._pieces += pieces
        if ends_sentence:
            self._last_end = len(self._open)
            self._sentences += 1
            if self._is_full(sentence):
                ended.append(self._cut(len(self._open)))
        return ended

    def finish(self) -> list[int]:
        """The length of the open segment, which ends here; nothing if no word is left."""
        return [self._cut(len(self._open))] if self._open else []

    def _is_full(self, sentence: int) -> bool:
        """Whether a segment ends with this sentence, because it has all that it may have."""
        if self.max_sentences is None or self.sentences_as == "counted":
            return self._sentences == self.max_sentences
        return sentence == (self.segments + 1) * self.max_sentences

    def _cut(self, length: int) -> int:
        del self._open[:length]
        self.segments += 1
        self._pieces, self._sentences, self._last_end = sum(self._open), 0, 0
        return length


def cut_segments(
    pieces_per_word: Sequence[int],
    sentence_ends: Sequence[int],
    max_pieces: int,
    max_sentences: int | None = None,
    sentences_as: SentencesAs = "counted",
) -> Iterator[tuple[int, int]]:
    """Word ranges of the segments of a whole text; see `SegmentCuts`."""
    ends = frozenset(sentence_ends)
    cuts = SegmentCuts(max_pieces, max_sentences, sentences_as)

    def lengths() -> Iterator[int]:
        sentence = 0
        for word, pieces in enumerate(pieces_per_word, 1):
            yield from cuts.add(pieces, sentence, word in ends)
            sentence += word in ends
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
        self, tokenizer: PieceTokenizer, options: SegmentOptions, trackers: Sequence[WordTracker] = ()
    ) -> None:
        self.tokenizer = tokenizer
        self.room = options.max_pieces - 2  # without the special pieces
        self.speakers_as_text = options.speakers_as_text
        self.trackers = trackers  # as they are before the open segment
        self.first_word = self.position = self.number = 0  # of the open segment
        self.speaker = ""  # of the word before it
        self.words: list[Word] = []  # of it
        self._pieces: list[list[int]] = []  # of each of these words
        self._before: list[Sequence[int]] = []  # a speaker's name, to be read before each
        self._cuts = SegmentCuts(self.room, options.max_sentences, options.sentences_as)

    def add(self, words: Sequence[Word]) -> Iterator[Segment]:
        """The segments that these words complete."""
        add_word, add_pieces, add_before = self.words.append, self._pieces.append, self._before.append
        cut, room = self._cuts.add, self.room
        for word, pieces in zip(words, self.tokenizer([word.text for word in words]), strict=True):
            count = len(pieces)
            before: Sequence[int] = _NOTHING
            if count > room:
                pieces, count = pieces[:room], room  # an endless word: its beginning stands
            if word.speaker:
                before = self._turn(word.speaker)[: room - count]
                count += len(before)
            add_word(word)
            add_pieces(pieces)
            add_before(before)
            for length in cut(count, word.sentence, word.ends):
                yield self._segment(length)

    def finish(self) -> Iterator[Segment]:
        """The open segment, which ends here, if it has a word."""
        for length in self._cuts.finish():
            yield self._segment(length)

    def _turn(self, speaker: str) -> Sequence[int]:
        """The pieces of a name, as "Anna :", where its turn begins."""
        changed = speaker != (self.words[-1].speaker if self.words else self.speaker)
        if not (self.speakers_as_text and changed and speaker):
            return _NOTHING
        return [piece for word in self.tokenizer([*speaker.split(), ":"]) for piece in word][:SPEAKER_PIECES]

    def _segment(self, length: int) -> Segment:
        words, before = self.words[:length], self._before[:length]
        segment = make_segment(
            self.tokenizer,
            words,
            self._pieces[:length],
            self.first_word,
            self.position,
            self.number,
            before if any(before) else None,
            {tracker.name: tracker.read(words) for tracker in self.trackers},
        )
        for held in (self.words, self._pieces, self._before):
            del held[:length]
        self.first_word += length
        self.position = segment.end
        self.number += 1
        self.speaker = words[-1].speaker
        return segment

    def to_values(self) -> dict[str, Any]:
        """Everything it holds, as JSON has it; what is added later does not change it."""
        return {
            "words": list(self.words),
            "first_word": self.first_word,
            "position": self.position,
            "number": self.number,
            "speaker": self.speaker,
            "trackers": {tracker.name: tracker.to_values() for tracker in self.trackers},
        }

    def restore(self, values: Mapping[str, Any]) -> None:
        """Become what was saved; the words of the open segment are cut into pieces again."""
        self.first_word, self.position, self.number = values["first_word"], values["position"], values["number"]
        self.speaker, self._cuts.segments = values["speaker"], self.number
        if values["trackers"].keys() != {tracker.name for tracker in self.trackers}:
            raise ValueError("other things followed its words")
        for tracker in self.trackers:
            tracker.restore(values["trackers"][tracker.name])
        for _ in self.add([Word(*word) for word in values["words"]]):
            raise ValueError("the words of an open segment are more than a segment holds")


class Segmenter:
    """Cuts texts into a model's segments: `builder` little by little, `cut` a whole document."""

    def __init__(
        self, tokenizer: PieceTokenizer, options: SegmentOptions, trackers: Callable[[], Sequence[WordTracker]] = tuple
    ) -> None:
        self.tokenizer, self.options, self.trackers = tokenizer, options, trackers

    def builder(self) -> SegmentBuilder:
        return SegmentBuilder(self.tokenizer, self.options, self.trackers())

    def cut(self, document: Document) -> list[Segment]:
        builder = self.builder()
        return [*builder.add(list(document_words(document))), *builder.finish()]


def make_segment(
    tokenizer: PieceTokenizer,
    words: Sequence[Word],
    pieces: Sequence[Sequence[int]],
    first_word: int,
    position: int,
    number: int = 0,
    before: Sequence[Sequence[int]] | None = None,
    tracks: Mapping[str, Sequence[int]] | None = None,
) -> Segment:
    """A segment from words and the pieces of each.

    `before` may hold pieces to be read before each word that are not part of the text.
    """
    numbers = np.arange(first_word, first_word + len(words))
    sentences = [word.sentence for word in words]
    if before is None:
        piece_ids = [piece for word in pieces for piece in word]
        lengths = [len(word) for word in pieces]
        word_of_piece = np.repeat(numbers, lengths)
    else:
        piece_ids = [piece for extra, word in zip(before, pieces, strict=True) for piece in (*extra, *word)]
        lengths = [len(extra) + len(word) for extra, word in zip(before, pieces, strict=True)]
        parts = zip(numbers, before, pieces, strict=True)
        word_of_piece = np.concatenate([[SPECIAL] * len(extra) + [i] * len(word) for i, extra, word in parts])
    return Segment(
        piece_ids=np.array([tokenizer.first, *piece_ids, tokenizer.last]),
        word_of_piece=np.concatenate([[SPECIAL], word_of_piece, [SPECIAL]]),
        sentence_of_piece=np.concatenate([[sentences[0]], np.repeat(sentences, lengths), [sentences[-1]]]),
        words=tuple(words),
        first_word=first_word,
        position=position,
        number=number,
        tracks=tracks or {},
    )
