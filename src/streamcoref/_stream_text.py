"""The text side of a stream: characters or words in, segments out. It holds a window of text and an open segment."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from streamcoref._inputs import Spoken
from streamcoref.errors import LanguageWarning, StreamcorefError
from streamcoref.language.is_english import LanguageCheck
from streamcoref.model.segments import Segment, Segmenter
from streamcoref.model.words import Word, opens_paragraph
from streamcoref.text.splitter import TextSplitter

# Characters that are split at once, however many are fed: some segments, so that the first is soon encoded.
CHUNK = 1 << 12
_NOT_THE_USERS = tuple(str(Path(module.__path__[0])) for module in (sys.modules["streamcoref"], torch))


class StreamText:
    """What has been fed, as far as it is no segment yet. Segments are made as they are asked for.

    Its values may be taken whenever nothing is being fed; from them another one goes on in the same way.
    """

    def __init__(self, segmenter: Segmenter) -> None:
        self._splitter = TextSplitter()
        self._segments = segmenter.builder()
        self._language = LanguageCheck()
        self._sentence = 0  # the number of the next word's
        self._speaker = ""  # of the text that is being fed

    @property
    def characters(self) -> int:
        """That were fed."""
        return self._splitter.position

    @property
    def words(self) -> int:
        """Of the segments made so far."""
        return self._segments.first_word

    @property
    def pieces(self) -> int:
        """Of the segments made so far."""
        return self._segments.position

    @property
    def segments(self) -> int:
        """Made so far."""
        return self._segments.number

    def feed(self, text: str, speaker: str = "") -> Iterator[Segment]:
        """More text. A speaker other than before ends the sentence."""
        if text and speaker != self._speaker:
            yield from self.end_turn()
            self._speaker = speaker
        for first in range(0, len(text), CHUNK):
            yield from self._split(text[first : first + CHUNK])

    def feed_words(self, sentences: Sequence[Spoken]) -> Iterator[Segment]:
        """More words; text that was fed before ends here."""
        yield from self.end_turn()
        for texts, speakers in sentences:
            last = len(texts) - 1
            words = [
                Word(text, self._sentence, opens=number == 0, ends=number == last, speaker=name)
                for number, (text, name) in enumerate(zip(texts, speakers, strict=True))
            ]
            self._sentence += 1
            self._note_language(self._language.read(texts))
            yield from self._segments.add(words)

    def end_turn(self) -> Iterator[Segment]:
        """Word and sentence end here; the segment goes on."""
        return self._split("", final=True)

    def end_segment(self) -> Iterator[Segment]:
        """Word, sentence and segment end here."""
        yield from self.end_turn()
        yield from self._segments.finish()

    def end(self) -> None:
        """Nothing more will come."""
        self._note_language(self._language.end())

    def _split(self, chunk: str, final: bool = False) -> Iterator[Segment]:
        """The segments that a chunk completes."""
        text, begin, spans, ends, previous_end, line_ends = self._splitter.read(chunk, final)
        last_words = frozenset(ends)
        opens = not self._segments.words or self._segments.words[-1].ends
        words = []
        for number, (start, end) in enumerate(spans, 1):
            gap = "" if opens else text[previous_end:start]
            ends_here = number in last_words
            place = begin + start, begin + end
            blanks = line_ends or start - previous_end > 1  # else there is at most one end of a line
            paragraph = bool(blanks) and opens_paragraph(line_ends + text.count("\n", previous_end, start))
            words.append(Word(text[start:end], self._sentence, opens, ends_here, self._speaker, *place, gap, paragraph))
            previous_end, line_ends = end, 0
            self._sentence += ends_here
            opens = ends_here
        self._note_language(self._language.read(word.text for word in words))
        yield from self._segments.add(words)

    def _note_language(self, foreign: bool) -> None:
        if foreign:
            warnings.warn(LanguageWarning(), stacklevel=_calls_to_the_user())

    def to_values(self) -> dict[str, Any]:
        """Everything, as JSON has it; nothing that is fed later changes these values."""
        return {
            "speaker": self._speaker,
            "sentence": self._sentence,
            "splitter": self._splitter.to_values(),
            "segments": self._segments.to_values(),
            "language": self._language.to_values(),
        }

    @classmethod
    def from_values(cls, segmenter: Segmenter, values: Mapping[str, Any]) -> StreamText:
        """One that goes on where `to_values` was asked; raises if the values are not sound."""
        text = cls(segmenter)
        text._speaker, text._sentence = values["speaker"], values["sentence"]
        text._splitter = TextSplitter.from_values(values["splitter"])
        text._language = LanguageCheck.from_values(values["language"])
        try:
            text._segments.restore(values["segments"])
        except Exception as error:  # trackers may be anybody's, and complain in their own way
            raise StreamcorefError(f"the state is damaged: {error}") from error
        return text


def _calls_to_the_user() -> int:
    """How many calls up, from whoever asks, the user's own code is, which a warning names."""
    frame, calls = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        frame, calls = frame.f_back, calls + 1
    return calls
