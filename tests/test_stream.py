"""Streams: what they report and when, what they hold, what they refuse."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import random
import tracemalloc
from collections.abc import Callable
from itertools import count, pairwise
from typing import Any

import pytest
import torch

from streamcoref._stream_state import pack_state, unpack_state
from streamcoref.errors import StreamcorefError
from streamcoref.events import EntityFinished, Event
from streamcoref.model.incremental import IncrementalModel
from streamcoref.resolver import load
from streamcoref.stream import Stream
from streamcoref.text import document_from_text
from tests import toy_resolver
from tests.model import toys
from tests.toy_resolver import finished, linked, mentions, plain_text, resolver, started

TEXT = plain_text(5, 250)


def read(text: str, **options: Any) -> list[Event]:
    stream = resolver().stream(**options)
    return stream.feed(text) + stream.close()


def links(text: str) -> list[tuple[int, tuple[int, int], float, float]]:
    """The model's own decisions, straight from Algorithm 1: entity, span, mention score, probability."""
    model, config, _ = checkpoint = resolver().checkpoint
    results = toys.read(model, config, checkpoint.segmenter.cut(document_from_text("", text)))
    return [(x.entity, x.span, x.mention_score, x.probability) for result in results for x in result.links]


@pytest.mark.parametrize("singletons", [False, True])
@pytest.mark.parametrize("min_score", [0.0, 0.1])
def test_the_answer_is_what_its_definition_says(singletons: bool, min_score: float) -> None:
    kept = [(entity, span, score) for entity, span, score, probability in links(TEXT) if probability >= min_score]
    sizes = {entity: sum(e == entity for e, _, _ in kept) for entity, _, _ in kept}
    expected = {(entity, *span) for entity, span, score in kept if sizes[entity] > 1 or (singletons and score > 0)}
    events = read(TEXT, singletons=singletons, min_score=min_score)
    assert set(mentions(events)) == expected
    alone = [event for event in finished(events) if event.size == 1]
    assert bool(alone) == singletons
    assert len(expected) > 20
    assert (len(expected) < len(mentions(read(TEXT, singletons=singletons)))) == (min_score > 0)


def test_an_entity_starts_with_its_second_mention() -> None:
    """What is reported at once comes in pairs: the first mention, which may be far behind, and the second."""
    events = read(TEXT)
    for first, second in pairwise(events):
        if first in started(events):
            assert second in linked(events)
            assert second.entity == first.entity
    places = [event.mention.word_start for event in events if not isinstance(event, EntityFinished)]
    assert places != sorted(places)


def test_with_singletons_an_entity_starts_at_once_if_it_looks_like_a_mention() -> None:
    firsts: dict[int, tuple[tuple[int, int], float]] = {}
    for entity, span, score, _ in links(TEXT):
        firsts.setdefault(entity, (span, score))
    events = read(TEXT, singletons=True)
    followed = {e.entity for e in linked(events)}
    for event in started(events):
        span, score = firsts[event.entity]
        assert span == (event.mention.word_start, event.mention.word_end)
        assert score > 0 or event.entity in followed
    assert any(firsts[event.entity][1] <= 0 for event in started(events))


def test_entities_finish_when_they_are_evicted() -> None:
    stream = resolver().stream()
    before, after = stream.feed(TEXT), stream.close()
    assert len(finished(before)) > 5
    assert len(finished(after)) > 0
    late = {event.entity for event in [*started(before), *linked(before)]} - {e.entity for e in finished(before)}
    assert late <= {event.entity for event in finished(after)}


def test_eviction_is_the_streams_own() -> None:
    """Streams of one resolver with different policies, fed in turn, do not disturb each other or the model's own."""
    ours = resolver().stream()
    own: list[Event] = []
    keeping, evicting = resolver().stream(evict="none"), resolver().stream(evict={"name": "none", "budget": 4})
    events: list[Event] = []
    for first in range(0, len(TEXT), 100):
        assert finished(keeping.feed(TEXT[first : first + 100])) == []
        own += ours.feed(TEXT[first : first + 100])
        events += evicting.feed(TEXT[first : first + 100])
        assert evicting.alive <= 4
    assert len(finished(events)) > 5
    assert keeping.alive > 20
    assert own + ours.close() == read(TEXT)


def test_counters() -> None:
    stream = resolver().stream()
    assert (stream.position, stream.words_read, stream.alive) == (0, 0, 0)
    stream.feed(TEXT[:333])
    assert stream.position == 333
    assert 0 < stream.words_read < len(document_from_text("", TEXT[:333]).words)
    assert stream.alive > 0
    stream.feed(TEXT[333:])
    stream.close()
    assert stream.position == len(TEXT)
    assert stream.words_read == len(document_from_text("", TEXT).words)


def test_flush_reads_what_was_fed() -> None:
    words = TEXT.split()
    stream = resolver().stream(singletons=True)
    assert stream.feed(" ".join(words[:8])) == []
    assert stream.words_read == 0
    assert stream.flush()
    assert stream.words_read == 8
    assert stream.flush() == []
    events = stream.feed(" ".join(words[8:30])) + stream.close()
    assert stream.words_read >= 30
    sentences = {e.mention.sentence for e in [*started(events), *linked(events)] if e.mention.word_start >= 8}
    assert sentences
    assert 0 not in sentences  # the sentence ended where it was flushed


def test_flush_at_a_segments_end_changes_nothing_but_the_time() -> None:
    """One sentence a segment: a flush after each sentence cuts where the text is cut anyway."""
    model = toy_resolver.make_resolver(segments={"max_pieces": 64, "max_sentences": 1})
    sentences = ["Anna saw the captain. ", "He left her. ", "Carl met Emma. ", "She gave him a letter. "] * 3
    flushed, whole = model.stream(), model.stream()
    events = [event for sentence in sentences for event in [*flushed.feed(sentence), *flushed.flush()]]
    assert events + flushed.close() == whole.feed("".join(sentences)) + whole.close()
    assert len(linked(events)) > 5


def test_a_turn_ends_the_sentence_and_its_speaker_is_read() -> None:
    """Another speaker ends word and sentence; the same one goes on in mid-word."""
    stream = resolver().stream(singletons=True)
    events = stream.feed("the cap", "Anna") + stream.feed("tain left", "Anna") + stream.feed("the ship", "Carl")
    events += stream.feed("her garden", "Carl") + stream.close()
    assert stream.words_read == 6  # the captain left | the shipher garden
    assert {e.mention.sentence for e in [*started(events), *linked(events)]} == {0, 1}
    named = toy_resolver.make_resolver(segments={"max_pieces": 64, "speakers_as_text": True}).stream()
    named.feed("the captain left", "Anna")
    named.feed("the ship", "Carl")
    named.close()
    silent = toy_resolver.make_resolver(segments={"max_pieces": 64, "speakers_as_text": True}).stream()
    silent.feed("the captain left\n\nthe ship")
    silent.close()
    tokenizer = resolver().checkpoint.tokenizer
    names = sum(len(pieces) for pieces in tokenizer(["Anna", ":", "Carl", ":"]))
    assert json_of(named)["splitter"]["begin"] > 0
    assert pieces_read(named) - pieces_read(silent) == names


def json_of(stream: Stream) -> dict[str, Any]:
    return unpack_state(stream.state())[0]


def pieces_read(stream: Stream) -> int:
    pieces: int = json_of(stream)["segments"]["position"]
    return pieces


def test_words_instead_of_text() -> None:
    sentences = toys.document(5, 120).sentences
    stream = resolver().stream(singletons=True)
    events = stream.feed_words(sentences[:3]) + stream.feed_words(sentences[3:], "Anna") + stream.close()
    words = [word for sentence in sentences for word in sentence]
    assert len(events) > 20
    for event in [*started(events), *linked(events)]:
        mention = event.mention
        assert (mention.start, mention.end) == (None, None)
        assert mention.text == " ".join(words[mention.word_start : mention.word_end])
    assert stream.position == 0


def test_words_after_text() -> None:
    stream = resolver().stream(singletons=True)
    stream.feed("Anna saw the cap")
    events = stream.feed_words([["the", "captain"], [], ["left"]])
    stream.feed("her ship")
    assert stream.position == len("Anna saw the capher ship")
    events += stream.close()
    assert stream.words_read == 9
    offsets = {e.mention.word_start: e.mention.start for e in [*started(events), *linked(events)]}
    assert all((start is None) == (4 <= word < 7) for word, start in offsets.items())


def test_a_closed_stream_takes_nothing() -> None:
    stream = resolver().stream()
    stream.feed("Anna left.")
    stream.close()
    for call in (lambda: stream.feed("x"), lambda: stream.feed_words([["x"]]), stream.flush, stream.close):
        with pytest.raises(StreamcorefError, match="this stream is closed"):
            call()
    with pytest.raises(StreamcorefError, match="this stream is closed"):
        resolver().stream(stream.state()).feed("x")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda s: s.feed(b"x"), "fed with text of type str, not bytes"),
        (lambda s: s.feed("x", speaker=3), "a speaker is a name of type str, not int"),
        (lambda s: s.feed_words("one two"), "list of sentences, each a list of str, not str"),
        (lambda s: s.feed_words(["one two"]), r"sentence 0 \(counted from 0\) is not a list of str"),
        (lambda s: s.feed_words([["a"], [b"b"]]), r"sentence 1 \(counted from 0\) is not a list of str"),
        (lambda s: s.feed_words([["a"], ["b"]], ["Anna"]), "1 speakers for 2 sentences"),
        (lambda s: s.feed_words([["a", "b"]], [["Anna"]]), "has 2 words and 1 speakers"),
    ],
)
def test_other_things_are_refused(call: Any, said: str) -> None:
    with pytest.raises(StreamcorefError, match=said):
        call(resolver().stream())


def test_a_damaged_state_is_refused() -> None:
    stream = resolver().stream()
    stream.feed(TEXT[:400])
    data = stream.state()
    flipped = bytearray(data)
    flipped[-5] ^= 1
    for other in (b"", b"hello", data[:50], data[:-1], data + b"x", bytes(flipped), bytes(len(data))):
        with pytest.raises(StreamcorefError, match="not a saved stream, or it is damaged"):
            resolver().stream(other)
    with pytest.raises(StreamcorefError, match="a stream's state is bytes"):
        resolver().stream("text")  # type: ignore[arg-type]


def test_the_state_of_another_model_other_options_or_another_version_is_refused() -> None:
    data = resolver().stream(min_score=0.5, evict="none").state()
    other = toy_resolver.make_resolver(update={"name": "mean"})
    with pytest.raises(StreamcorefError, match="saved with another model"):
        other.stream(data)
    with pytest.raises(StreamcorefError, match=r"saved with min_score=0\.5, .* asked for with min_score=0\.25"):
        resolver().stream(data, min_score=0.25, evict="none")
    with pytest.raises(StreamcorefError, match=r"saved with evict=\{.*'none'.*, .* asked for with evict=None"):
        resolver().stream(data, min_score=0.5)
    assert resolver().stream(data, min_score=0.5, evict={"name": "none"}).state() == data
    values, memory = unpack_state(data)
    with pytest.raises(StreamcorefError, match="saved in version 99, this release reads version 4"):
        resolver().stream(pack_state(values | {"version": 99}, memory))


def test_nothing_in_a_state_is_pickled() -> None:
    """It is JSON and safetensors: to read one runs no code."""
    stream = resolver().stream()
    stream.feed(TEXT)
    values, memory = unpack_state(stream.state())
    assert json.loads(json.dumps(values)) == values
    assert b"pickle" not in memory
    assert memory[8:9] == b"{"  # the header of safetensors, after its length


def endless_words(seed: int) -> Any:
    choose = random.Random(seed)
    return (choose.choice(toys.WORDS) for _ in count())


def held(stream: Stream) -> dict[str, int]:
    """The sizes of all that lives as long as a stream."""
    values, memory = unpack_state(stream.state())
    *_, sizes, _, forms, _ = zip(*values["entities"].values(), strict=True)
    return {
        "entities": len(values["entities"]),
        "words": len(values["segments"]["words"]),
        "window": len(values["splitter"]["window"]),
        "memory": len(memory),
        "forms": max(map(len, forms)),
        "largest": max(sizes),
        "state": len(stream.state()),
    }


def test_a_stream_holds_late_what_it_held_early() -> None:
    """With a budget of entities, full at both times; long-lived entities have had many mentions by then."""
    early_segments, late_segments, budget = 30, 250, 12
    stream = resolver().stream(evict=f"none:budget={budget}", singletons=True)
    words = endless_words(0)
    segments = 0
    bounds: dict[str, int] = {}

    def read_until(number: int) -> None:
        nonlocal segments
        while segments < number:
            before = stream.words_read
            stream.feed(f"{next(words)} ")
            segments += stream.words_read > before

    read_until(early_segments)
    for step in range(10):
        read_until(early_segments + step)
        bounds = {name: max(size, bounds.get(name, 0)) for name, size in held(stream).items()}
    gc.collect()
    objects = len(gc.get_objects())
    assert held(stream)["entities"] <= stream.alive == budget
    read_until(late_segments)
    late = held(stream)
    for name, limit in {
        "entities": budget,
        "words": 24,
        "window": 300,
        "memory": bounds["memory"] + 16,  # counters have more digits
        "forms": 24,
    }.items():
        assert late[name] <= limit, name
    assert late["state"] <= 2 * bounds["state"]
    assert late["largest"] > 15
    gc.collect()
    # Words of the open segment and forms of names come and go; 6,000 words and 220 segments have gone.
    assert len(gc.get_objects()) - objects < 24 + budget * 24


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_stream_says_how_it_is_copied(way: Callable[[object], object]) -> None:
    with pytest.raises(StreamcorefError, match=r"its state\(\) is the value to copy and send"):
        way(resolver().stream())


def tensor_bytes() -> int:
    """Of all storages that a live tensor holds on to."""
    gc.collect()
    tensors = [x for x in gc.get_objects() if issubclass(type(x), torch.Tensor)]
    return sum({t.untyped_storage().data_ptr(): t.untyped_storage().nbytes() for t in tensors}.values())


def test_a_stream_has_tensors_for_its_entities_only() -> None:
    """What is the same for all streams of a genre and a scheme, the folded feature tables above all, is there once."""
    resolver().stream(scheme="litbank")
    before = tensor_bytes()
    streams = [resolver().stream(scheme="litbank") for _ in range(20)]
    taken = tensor_bytes() - before
    model = resolver().checkpoint.model
    assert isinstance(model, IncrementalModel)
    rows = model.new_state().memory.rows
    assert len(streams) == 20
    assert taken == 20 * rows.numel() * rows.element_size()


@pytest.mark.model
def test_a_hundred_idle_streams_of_the_bundled_model() -> None:
    ours = load()
    ours.stream()
    tracemalloc.start()
    before = tensor_bytes() + tracemalloc.get_traced_memory()[0]
    streams = [ours.stream() for _ in range(100)]
    taken = tensor_bytes() + tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert len(streams) == 100
    assert 1e6 < taken < 50e6
