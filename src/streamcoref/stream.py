"""A text that flows: chunks in, events out, and never more held than the entities alive and a window of text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, field
from typing import Any, NamedTuple

import torch

from streamcoref.document import Mention
from streamcoref.errors import StreamcorefError
from streamcoref.events import EntityFinished, EntityStarted, Event, MentionLinked
from streamcoref.inputs import Speakers, with_speakers
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.model.incremental import IncrementalModel
from streamcoref.model.predict import Placed, best_placed, is_answered, placed_of
from streamcoref.model.segments import Segment, SegmentBuilder
from streamcoref.model.voices import Voices
from streamcoref.running_name import RunningName
from streamcoref.stream_state import pack_state, unpack_state
from streamcoref.text.splitter import TextSplitter

CHUNK = 1 << 16  # characters that are split at once, however many are fed


@dataclass(frozen=True)
class ResolveOptions:
    """What a caller may choose; a stream keeps to it from its beginning to its end.

    `evict` is a policy as `streamcoref evaluate --evict` takes it, or as the table of a config; None is the model's.
    """

    singletons: bool = False
    min_score: float = 0.0
    scheme: str | None = None
    genre: str | None = None
    evict: str | Mapping[str, Any] | None = None


class Word(NamedTuple):
    """A word that waits for its segment."""

    text: str
    start: int | None  # its characters in the whole text, if it came from text
    end: int | None
    gap: str  # what stands between it and the word before, if they are in one sentence
    sentence: int
    opens: bool  # whether it is the first of its sentence
    ends: bool
    speaker: str


@dataclass(slots=True)
class Tracked:
    """What is remembered of an entity alive; nothing of it grows with the number of mentions."""

    first: Mention
    last: Mention
    first_score: float  # how much its first mention looks like one
    size: int = 0
    started: bool = False
    name: RunningName = field(default_factory=RunningName)


class Stream:
    """Made by `Resolver.stream`. Feed it text, or words; each call returns the events that have become certain.

    Text is read segment by segment, so events come when a segment is full, and at `flush` and `close`. The result
    does not depend on how the text is cut into chunks.
    """

    def __init__(
        self, checkpoint: Checkpoint, fingerprint: str, options: ResolveOptions, state: bytes | None = None
    ) -> None:
        model, config, tokenizer = checkpoint
        if not isinstance(model, IncrementalModel):
            raise StreamcorefError(
                "this model is a whole-document baseline, which cannot read a stream; use resolve, or another model"
            )
        self.options = options
        self._model = model
        self._fingerprint = fingerprint
        self._splitter = TextSplitter()
        with torch.inference_mode():
            self._tables = model.fold_features(options.genre, options.scheme)
        self._state = model.new_state()
        self._segments = SegmentBuilder(tokenizer, **config.segments.model_dump())
        self._words: list[Word] = []  # of the open segment
        self._last_speaker = ""  # of the word before those
        self._tracked: dict[int, Tracked] = {}
        self._speaker = ""  # of the text that is being fed
        self._closed = False
        if state is not None:
            self._restore(state)

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
        for words, speakers in with_speakers(sentences, speaker):
            first = self._segments.sentence
            last = len(words) - 1
            events += self._read(
                [
                    Word(text, None, None, " ", first, number == 0, number == last, name)
                    for number, (text, name) in enumerate(zip(words, speakers, strict=True))
                ]
            )
        return events

    def end_turn(self) -> list[Event]:
        """End word and sentence here, as between two messages of one speaker; the segment goes on."""
        self._check_open()
        return self._split("", final=True)

    def flush(self) -> list[Event]:
        """Read now what has been fed: word, sentence and segment end here. For a pause in a conversation."""
        events = self.end_turn()
        return events + self._resolve(list(self._segments.finish()))

    def close(self) -> list[Event]:
        """Read the rest and finish every entity. Nothing can be fed afterwards."""
        events = self.flush()
        self._closed = True
        return events + self._finish(sorted(self._tracked))

    def _check_open(self) -> None:
        if self._closed:
            raise StreamcorefError("this stream is closed; begin another with Resolver.stream()")

    def _split(self, chunk: str, final: bool = False) -> list[Event]:
        """Read the words of the text that a chunk completes."""
        text, begin, spans, ends, previous_end = self._splitter.read(chunk, final)
        last_words = frozenset(ends)
        sentence = self._segments.sentence
        opens = not self._words or self._words[-1].ends
        words = []
        for number, (start, end) in enumerate(spans, 1):
            gap = "" if opens else text[previous_end:start]
            ends_here = number in last_words
            place = begin + start, begin + end
            words.append(Word(text[start:end], *place, gap, sentence, opens, ends_here, self._speaker))
            previous_end = end
            sentence += ends_here
            opens = ends_here
        return self._read(words)

    def _read(self, words: list[Word]) -> list[Event]:
        self._words += words
        ends = [number for number, word in enumerate(words, 1) if word.ends]
        texts, speakers = [word.text for word in words], [word.speaker for word in words]
        return self._resolve(list(self._segments.add(texts, ends, speakers)))

    def _resolve(self, segments: list[Segment]) -> list[Event]:
        """What segments bring. Each is encoded alone: padded batches would round differently with every chunking."""
        events: list[Event] = []
        genre, scheme = self.options.genre, self.options.scheme
        results = self._model.find_clusters(segments, self._state, genre, scheme, tables=self._tables)
        for segment, result in zip(segments, results, strict=True):
            words = self._words[: len(segment.words)]
            del self._words[: len(words)]
            self._last_speaker = words[-1].speaker
            for placed in best_placed(placed_of(result), self.options.min_score):
                start, end = placed.span
                events += self._place(placed, words[start - segment.first_word : end - segment.first_word])
            events += self._finish(result.evicted)
        return events

    def _place(self, placed: Placed, words: Sequence[Word]) -> list[Event]:
        """Note a mention; report it if its entity belongs to the answer, and the first one if it does only now."""
        first = words[0]
        text = first.text + "".join(word.gap + word.text for word in words[1:])
        mention = Mention(*placed.span, first.start, words[-1].end, text, first.sentence, placed.probability)
        entity = self._tracked.get(placed.entity)
        if entity is None:
            entity = self._tracked[placed.entity] = Tracked(mention, mention, placed.mention_score)
        entity.size += 1
        entity.last = mention
        entity.name.add([word.text for word in words], first.opens, text)
        if entity.started:
            return [MentionLinked(placed.entity, mention)]
        if not is_answered(entity.size, entity.first_score, self.options.singletons):
            return []
        entity.started = True
        started = EntityStarted(placed.entity, entity.first)
        return [started] if entity.size == 1 else [started, MentionLinked(placed.entity, mention)]

    def _finish(self, entities: Iterable[int]) -> list[Event]:
        events: list[Event] = []
        for number in entities:
            entity = self._tracked.pop(number, None)
            if entity is not None and entity.started:
                events.append(EntityFinished(number, entity.name.name(), entity.size, entity.first, entity.last))
        return events

    def state(self) -> bytes:
        """Everything, as one value: `Resolver.stream(state)` goes on from here, in this process or another."""
        values = {
            "fingerprint": self._fingerprint,
            "options": asdict(self.options),
            "closed": self._closed,
            "speaker": self._speaker,
            "last_speaker": self._last_speaker,
            "voices": self._segments.voices.to_values(),
            "splitter": self._splitter.to_values(),
            "sentence": self._words[0].sentence if self._words else self._segments.sentence,
            "words": self._words,
            "entities": {number: _entity_values(entity) for number, entity in self._tracked.items()},
        }
        return pack_state(values, self._state.to_bytes())

    def _restore(self, data: bytes) -> None:
        values, memory = unpack_state(data)
        if values["fingerprint"] != self._fingerprint:
            raise StreamcorefError("the state was saved with another model; load that one to go on")
        ours = asdict(self.options)
        for name, saved in values["options"].items():
            if saved != ours[name]:
                raise StreamcorefError(
                    f"the state was saved with {name}={saved!r}, but the stream was asked for with "
                    f"{name}={ours[name]!r}; go on with the same options, or give none"
                )
        self._state = self._model.load_state(memory)
        self._closed, self._speaker = values["closed"], values["speaker"]
        self._splitter = TextSplitter.from_values(values["splitter"])
        self._tracked = {int(number): _entity(entity) for number, entity in values["entities"].items()}
        voices = Voices.from_values(values["voices"])
        self._segments.go_on(self._state.words, self._state.pieces, values["sentence"], values["last_speaker"], voices)
        self._last_speaker = values["last_speaker"]
        self._read([Word(*word) for word in values["words"]])


def saved_options(data: bytes) -> ResolveOptions:
    """The options of a saved state."""
    values, _ = unpack_state(data)
    return ResolveOptions(**values["options"])


def _entity_values(entity: Tracked) -> list[Any]:
    first, last = astuple(entity.first), astuple(entity.last)
    return [first, last, entity.first_score, entity.size, entity.started, entity.name.to_values()]


def _entity(values: list[Any]) -> Tracked:
    first, last, first_score, size, started, name = values
    return Tracked(Mention(*first), Mention(*last), first_score, size, started, RunningName.from_values(name))
