"""A text that flows: chunks in, events out, and never more held than the entities alive and a window of text."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import NoReturn

import torch

from streamcoref._inputs import Speakers, with_speakers
from streamcoref._stream_state import pack_state, unpack_state
from streamcoref._tracking import EntityTracker
from streamcoref.document import Mention
from streamcoref.errors import LanguageWarning, StreamcorefError
from streamcoref.events import EntityFinished, Event
from streamcoref.language.is_english import LanguageCheck
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.encoder_service import SegmentService
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.reading import Reading, SegmentResult
from streamcoref.model.segments import Segment
from streamcoref.model.words import Word
from streamcoref.options import ResolveOptions
from streamcoref.text.splitter import TextSplitter

CHUNK = 1 << 16  # characters that are split at once, however many are fed


class Stream:
    """Made by `Resolver.stream`. Feed it text, or words; each call returns the events that have become certain.

    Text is read segment by segment, so events come when a segment is full, and at `flush` and `close`. The result
    does not depend on how the text is cut into chunks. A text whose first words are not English is a LanguageWarning.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        encoder: SegmentService,
        reading: Reading,
        fingerprint: Callable[[], str],
        options: ResolveOptions,
        state: bytes | None = None,
        key: bytes | None = None,
    ) -> None:
        """`fingerprint` is asked for only when a state is saved or read: it goes over all weights."""
        model = checkpoint.model
        if not isinstance(model, IncrementalModel):
            raise StreamcorefError(
                "this model is a whole-document baseline, which cannot read a stream; use resolve, or another model"
            )
        self.options = options
        self._model, self._encoder, self._reading = model, encoder, reading
        self._fingerprint = fingerprint
        self._splitter = TextSplitter()
        self._segments = checkpoint.segmenter.builder()
        self._state = model.new_state()
        self._tracker = EntityTracker(options.singletons, options.min_score)
        self._language = LanguageCheck()
        self._sentence = 0  # the number of the next word's
        self._speaker = ""  # of the text that is being fed
        self._closed = False
        if state is not None:
            self._restore(state, key)

    def __reduce__(self) -> NoReturn:
        """A copy would share its memory with the original, and a pickle would have to bring the model along."""
        raise StreamcorefError(
            "a stream is neither copied nor pickled; its state() is the value to copy and send, from which "
            "Resolver.stream(state) goes on"
        )

    @property
    def position(self) -> int:
        """The number of characters fed so far."""
        return self._splitter.position

    @property
    def words_read(self) -> int:
        """The number of words that the model has read."""
        return self._state.words

    @property
    def alive(self) -> int:
        """The number of entities in memory, those included that may never be in the answer."""
        return len(self._state.memory)

    @property
    def closed(self) -> bool:
        """Whether nothing can be fed any more."""
        return self._closed

    def entities(self) -> list[EntityFinished]:
        """The entities of the answer that are alive, each as the event that would finish it now; the finished ones
        have had theirs."""
        return self._tracker.alive()

    def feed(self, text: str, speaker: str | None = None) -> list[Event]:
        """More text. A speaker other than before ends the sentence."""
        self._check_open()
        if not isinstance(text, str):
            raise StreamcorefError(f"a stream is fed with text of type str, not {type(text).__name__}")
        if not isinstance(speaker, str | None):
            raise StreamcorefError(f"a speaker is a name of type str, not {type(speaker).__name__}")
        if not text:
            return []
        events = self.end_turn() if (speaker or "") != self._speaker else []
        self._speaker = speaker or ""
        for first in range(0, len(text), CHUNK):
            events += self._split(text[first : first + CHUNK])
        return events

    def feed_words(self, sentences: Sequence[Sequence[str]], speaker: Speakers | None = None) -> list[Event]:
        """More words, a list of them for each sentence; text that was fed before ends here.

        `speaker` is one name, or a list with a name for each sentence, or with a list of names, one a word.
        """
        self._check_open()
        events = self.end_turn()
        for texts, speakers in with_speakers(sentences, speaker):
            last = len(texts) - 1
            words = [
                Word(text, self._sentence, opens=number == 0, ends=number == last, speaker=name)
                for number, (text, name) in enumerate(zip(texts, speakers, strict=True))
            ]
            self._sentence += 1
            self._note_language(self._language.read(texts))
            events += self._read(self._segments.add(words))
        return events

    def end_turn(self) -> list[Event]:
        """End word and sentence here, as between two messages of one speaker; the segment goes on."""
        self._check_open()
        return self._split("", final=True)

    def flush(self) -> list[Event]:
        """Read now what has been fed: word, sentence and segment end here. For a pause in a conversation."""
        events = self.end_turn()
        return events + self._read(self._segments.finish())

    def close(self) -> list[Event]:
        """Read the rest and finish every entity. Nothing can be fed afterwards."""
        events = self.flush()
        self._note_language(self._language.end())
        self._closed = True
        return events + self._tracker.finish_all()

    def _check_open(self) -> None:
        if self._closed:
            raise StreamcorefError("this stream is closed; begin another with Resolver.stream()")

    def _note_language(self, foreign: bool, calls: int = 1) -> None:
        """`calls` lie between here and the user's own code, which a warning names."""
        if foreign:
            warnings.warn(LanguageWarning(), stacklevel=2 + calls)

    def _split(self, chunk: str, final: bool = False) -> list[Event]:
        """Read the words of the text that a chunk completes."""
        text, begin, spans, ends, previous_end = self._splitter.read(chunk, final)
        last_words = frozenset(ends)
        opens = not self._segments.words or self._segments.words[-1].ends
        words = []
        for number, (start, end) in enumerate(spans, 1):
            gap = "" if opens else text[previous_end:start]
            ends_here = number in last_words
            place = begin + start, begin + end
            words.append(Word(text[start:end], self._sentence, opens, ends_here, self._speaker, *place, gap))
            previous_end = end
            self._sentence += ends_here
            opens = ends_here
        self._note_language(self._language.read(word.text for word in words), calls=2)
        return self._read(self._segments.add(words))

    @torch.inference_mode()
    def _read(self, segments: Iterable[Segment]) -> list[Event]:
        """What segments bring."""
        events: list[Event] = []
        with self._encoder.beside():
            for spans in self._encoder.spans_in_order(segments, self._reading.scheme):
                result = self._model.step(self._state, spans, self._reading)
                events += self._events(spans.segment, result)
        return events

    def _events(self, segment: Segment, result: SegmentResult) -> list[Event]:
        events: list[Event] = []
        for link in self._tracker.answered(result.links):
            start, end = link.span
            words = segment.words[start - segment.first_word : end - segment.first_word]
            first = words[0]
            text = first.text + "".join(word.gap + word.text for word in words[1:])
            mention = Mention(start, end, first.start, words[-1].end, text, first.sentence, link.probability)
            events += self._tracker.place(link, mention, [word.text for word in words], first.opens)
        return events + self._tracker.finish(record.id for record in result.evicted)

    def state(self, key: bytes | None = None) -> bytes:
        """Everything, as one value: `Resolver.stream(state)` goes on from here, in this process or another.

        With a `key` it is sealed: `Resolver.stream(state, key=key)` then takes it as it is and nothing else.
        """
        values = {
            "fingerprint": self._fingerprint(),
            "options": self.options.model_dump(mode="json"),
            "closed": self._closed,
            "speaker": self._speaker,
            "sentence": self._sentence,
            "splitter": self._splitter.to_values(),
            "segments": self._segments.to_values(),
            "entities": self._tracker.to_values(),
            "language": self._language.to_values(),
        }
        return pack_state(values, self._state.to_bytes(), key)

    def _restore(self, data: bytes, key: bytes | None) -> None:
        values, memory = unpack_state(data, key)
        if values["fingerprint"] != self._fingerprint():
            raise StreamcorefError("the state was saved with another model; load that one to go on")
        ours = self.options.model_dump(mode="json")
        for name, saved in ResolveOptions.of(values["options"]).model_dump(mode="json").items():
            if saved != ours[name]:
                raise StreamcorefError(
                    f"the state was saved with {name}={saved!r}, but the stream was asked for with "
                    f"{name}={ours[name]!r}; go on with the same options, or give none"
                )
        self._state = self._model.load_state(memory)
        self._closed, self._speaker, self._sentence = values["closed"], values["speaker"], values["sentence"]
        self._splitter = TextSplitter.from_values(values["splitter"])
        self._tracker.restore(values["entities"])
        self._language = LanguageCheck.from_values(values["language"])
        try:
            self._segments.restore(values["segments"])
        except Exception as error:  # trackers may be anybody's, and complain in their own way
            raise StreamcorefError(f"the state is damaged: {error}") from error
        self._check_restored()

    def _check_restored(self) -> None:
        """Raise unless the parts of a state are of one moment."""
        memory = self._state.memory
        sizes = dict(zip(memory.ids.tolist(), memory.sizes.tolist(), strict=True))
        together = (self._state.words, self._state.pieces) == (self._segments.first_word, self._segments.position)
        if not together or any(one.size > sizes.get(number, 0) for number, one in self._tracker.entities.items()):
            raise StreamcorefError("the state is damaged: its parts are not of one moment")


def saved_options(data: bytes, key: bytes | None = None) -> ResolveOptions:
    """The options of a saved state."""
    values, _ = unpack_state(data, key)
    return ResolveOptions.of(values["options"])
