"""A text that flows: chunks in, events out, and never more held than the entities alive and a window of text."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from typing import Any, NoReturn

import torch

from streamcoref._inputs import Speakers, with_speakers
from streamcoref._laid_by import LaidBy, Shelf
from streamcoref._precisions import FLOAT32
from streamcoref._saved_parts import are_of_one_moment
from streamcoref._stream_state import pack_state, unpack_state
from streamcoref._stream_text import StreamText
from streamcoref._tracking import EntityTracker
from streamcoref.document import Mention
from streamcoref.errors import StreamcorefError
from streamcoref.events import EntityFinished, Event
from streamcoref.language.quotations import Quotations
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.encoder_service import SegmentService
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.reading import Reading, SegmentResult
from streamcoref.model.register import NewRegister, Ring
from streamcoref.model.segments import Segment
from streamcoref.model.spans import SegmentSpans
from streamcoref.options import ResolveOptions


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
        register: NewRegister = Ring,
    ) -> None:
        """`fingerprint` is asked for only when a state is saved or read: it goes over all weights."""
        model = checkpoint.model
        if not isinstance(model, IncrementalModel):
            raise StreamcorefError(
                "this model is a whole-document baseline, which cannot read a stream; use resolve, or another model"
            )
        self.options = options
        self._checkpoint = checkpoint
        self._model, self._encoder, self._reading = model, encoder, reading
        self._fingerprint = fingerprint
        self._segmenter = checkpoint.segmenter
        self._text = StreamText(self._segmenter)
        self._part_end: dict[str, Any] | None = None  # while parts are fed ahead: the text's values after the last one
        self._state = model.new_state(register)
        shelf = self._state.register
        laid_by = LaidBy(shelf) if isinstance(shelf, Shelf) else None
        self._tracker = EntityTracker(options.singletons, options.min_score, model.labels.types, laid_by)
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
        if self._part_end is not None:
            splitter = self._part_end["splitter"]
            return int(splitter["begin"]) + len(splitter["window"])
        return self._text.characters

    @property
    def words_read(self) -> int:
        """The number of words that the model has read."""
        return self._state.words

    @property
    def alive(self) -> int:
        """The number of entities in memory, those included that may never be in the answer."""
        return len(self._state.memory)

    @property
    def reads_again(self) -> bool:
        """Whether its text has been read before: it began with what `again` gave."""
        return self._state.before > 0

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
        return self._read(self._text.feed(text, speaker or ""))

    def feed_words(self, sentences: Sequence[Sequence[str]], speaker: Speakers | None = None) -> list[Event]:
        """More words, a list of them for each sentence; text that was fed before ends here.

        `speaker` is one name, or a list with a name for each sentence, or with a list of names, one a word.
        """
        self._check_open()
        return self._read(self._text.feed_words(with_speakers(sentences, speaker)))

    def feed_ahead(self, parts: Iterable[str]) -> Generator[list[Event]]:
        """Feed part after part of a text that is there already: for each, the events that `feed` would return.

        Later parts are encoded while earlier ones are read to their ends, so that no thread, and no machine of a
        cluster, is left without work between two parts; `parts` are taken only as far ahead. Between two of them the
        stream is where the last one ended, `state()` too; it can be fed otherwise when the loop is done or left.
        """
        self._check_open()
        return self._read_ahead(self._text.feed(part) for part in parts)

    def feed_words_ahead(
        self, parts: Iterable[tuple[Sequence[Sequence[str]], Speakers | None]]
    ) -> Generator[list[Event]]:
        """The same for words: each part is what `feed_words` takes, sentences and their speakers."""
        self._check_open()
        return self._read_ahead(self._text.feed_words(with_speakers(*part)) for part in parts)

    def end_turn(self) -> list[Event]:
        """End word and sentence here, as between two messages of one speaker; the segment goes on."""
        self._check_open()
        return self._read(self._text.end_turn())

    def flush(self) -> list[Event]:
        """Read now what has been fed: word, sentence and segment end here. For a pause in a conversation."""
        self._check_open()
        return self._read(self._text.end_segment())

    def close(self) -> list[Event]:
        """Read the rest and finish every entity. Nothing can be fed afterwards."""
        events = self.flush()
        self._text.end()
        self._closed = True
        events += self._tracker.quote(self._state.conversation.report(final=True))
        return events + self._tracker.finish_all()

    def finish_laid_by(self) -> Iterator[Event]:
        """Of a stream whose register is in a store, when it is closed: finish those who are there, one by one."""
        return self._tracker.finish_laid_by(self.words_read)

    def _check_open(self) -> None:
        if self._closed:
            raise StreamcorefError("this stream is closed; begin another with Resolver.stream()")
        if self._part_end is not None:
            raise StreamcorefError("this stream is being fed ahead; let that end before it is fed otherwise")

    @torch.inference_mode()
    def _read(self, segments: Iterable[Segment]) -> list[Event]:
        """What segments bring."""
        with self._encoder.beside():
            return [event for spans in self._proposed(segments) for event in self._link(spans)]

    @torch.inference_mode()
    def _read_ahead(self, parts: Iterable[Iterator[Segment]]) -> Generator[list[Event]]:
        """What the segments of each part bring. Nothing is linked before all that lies before it has been told of."""
        ended: deque[tuple[int, dict[str, Any]]] = deque()  # after each part ahead: segments made, the text's values

        def segments() -> Iterator[Segment]:
            for part in parts:
                yield from part
                ended.append((self._text.segments, self._text.to_values()))

        found: list[Event] = []
        self._part_end = self._text.to_values()
        try:
            with self._encoder.beside():
                for spans in self._proposed(segments()):
                    while ended and ended[0][0] <= spans.segment.number:
                        _, self._part_end = ended.popleft()
                        yield found
                        found = []
                    found += self._link(spans)
                while ended:
                    _, self._part_end = ended.popleft()
                    yield found
                    found = []
        finally:
            self._text = StreamText.from_values(self._segmenter, self._part_end)
            self._part_end = None

    def _proposed(self, segments: Iterable[Segment]) -> Iterator[SegmentSpans]:
        return self._encoder.spans_in_order(segments, self._reading.scheme)

    def _link(self, spans: SegmentSpans) -> list[Event]:
        """What a segment brings."""
        return self._events(spans.segment, self._model.step(self._state, spans, self._reading))

    def _events(self, segment: Segment, result: SegmentResult) -> list[Event]:
        events: list[Event] = []
        self._tracker.recall(result.came_back, self.words_read)
        for link in self._tracker.answered(result.links):
            start, end = link.span
            said = slice(start - segment.first_word, end - segment.first_word)
            first, *others = words = segment.words[said]
            text = first.text + "".join([word.gap + word.text for word in others])
            mention = Mention(start, end, first.start, words[-1].end, text, first.sentence, link.probability)
            events += self._tracker.place(link, mention, segment.texts[said], first.opens)
        events += self._tracker.settle(result)
        evicted = (record.id for record in result.evicted)
        turns = self._state.conversation
        self._tracker.lay_by(result.laid_by, turns.named())
        return events + self._tracker.finish(evicted, turns.named(), turns.speakers())

    def state(self, key: bytes | None = None) -> bytes:
        """Everything, as one value: `Resolver.stream(state)` goes on from here, in this process or another.

        With a `key` it is sealed: `Resolver.stream(state, key=key)` then takes it as it is and nothing else.
        """
        values = {
            "fingerprint": self._fingerprint(),
            "precision": self._model.encoder.precision,
            "options": self.options.model_dump(mode="json"),
            "closed": self._closed,
            **self._tracker.to_values(),
            **(self._part_end or self._text.to_values()),
        }
        return pack_state(values, self._state.to_bytes(), key)

    def again(self) -> bytes:
        """The state in which the same text can be read once more, from its beginning: whoever has a name in it, as far
        as it has been read, is then known from the first word on."""
        new = Stream(self._checkpoint, self._encoder, self._reading, self._fingerprint, self.options)
        new._state = self._model.again(self._state, self._reading)
        return new.state()

    def _restore(self, data: bytes, key: bytes | None) -> None:
        values, memory = unpack_state(data, key)
        saved_in, ours_in = values.get("precision", FLOAT32), self._model.encoder.precision
        if saved_in != ours_in:  # whose vectors are not quite the same: a text would depend on where it was stopped
            raise StreamcorefError(
                f"the state was saved in {saved_in}, but this model was loaded in {ours_in}; load it with "
                f"precision={saved_in!r} to go on"
            )
        if values["fingerprint"] != self._fingerprint():
            raise StreamcorefError("the state was saved with another model; load that one to go on")
        ours = self.options.model_dump(mode="json")
        for name, saved in ResolveOptions.of(values["options"]).model_dump(mode="json").items():
            if saved != ours[name]:
                raise StreamcorefError(
                    f"the state was saved with {name}={saved!r}, but the stream was asked for with "
                    f"{name}={ours[name]!r}; go on with the same options, or give none"
                )
        self._state.restore(memory)
        self._closed = values["closed"]
        self._tracker.restore(values, self._state.memory.ids.tolist())
        self._text = StreamText.from_values(self._segmenter, values)
        turns = values["segments"]["trackers"][Quotations.name][0]
        if (self._state.words, self._state.pieces) != (self._text.words, self._text.pieces) or not are_of_one_moment(
            self._model, self._state, self._tracker, turns, self._closed
        ):
            raise StreamcorefError("the state is damaged: its parts are not of one moment")


def saved_options(data: bytes, key: bytes | None = None) -> ResolveOptions:
    """The options of a saved state."""
    values, _ = unpack_state(data, key)
    return ResolveOptions.of(values["options"])
