"""States of streams that somebody changed, and whose checksum they computed anew: an answer or a sentence."""

from __future__ import annotations

import hashlib
import json
import random
import resource
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from streamcoref._stream_state import pack_state, unpack_state
from streamcoref.errors import StreamcorefError
from streamcoref.events import EntitiesMerged, EntityFinished, Event, QuotationFound
from streamcoref.model.checkpoint import Checkpoint
from streamcoref.resolver import Resolver
from tests import toy_resolver
from tests.model import toys
from tests.model.test_exactness import ALL_FEATURES
from tests.model.test_query import model_of, query_config
from tests.mutations import DEEP, mutated, nested

FEATURES = {"name": "feed_forward", "hidden": 32, "features": [*ALL_FEATURES, "agreement"]}
TEXT = 'Anna saw the captain. "I left her," said Mr. Doyle, "when you met him." He gave it to Berta near the harbour. '
MORE = 'She asked the keeper. "You lost it!" "I found my letter." They took the old ship and left. '
CASES_A_MODEL = 1000
MODELS = range(5)
MEGABYTES = 200  # by which the most memory that this process ever had may grow while it reads all these


@cache
def resolvers() -> tuple[Resolver, ...]:
    """One with every feature that keeps something, one that is small, one that tells types, one that keeps text, one
    that merges those of one name and lets them come back."""
    config = query_config()
    return (
        toy_resolver.make_resolver(pair_score=FEATURES, segments={"max_pieces": 24, "speakers_as_text": True}),
        toy_resolver.resolver(),
        toy_resolver.typed_resolver(),
        Resolver(Checkpoint(model_of(config, says=2.0), config, toys.tokenizer()), Path("nowhere")),
        toy_resolver.talking_resolver(),
    )


@cache
def states(resolver: Resolver) -> list[bytes]:
    """Of one stream, at several moments: in a segment, in a word, with words, with a speaker, closed."""
    policy: dict[str, Any] = {"name": "size_times_distance", "distance": 20, "longest": 60, "budget": 30}
    names = {"merge": 1, "revive": 4} if resolver is toy_resolver.talking_resolver() else {}
    stream = resolver.stream(singletons=True, evict=policy | ({"budget": 4} if names else {}), **names)
    found = [stream.state()]
    stream.feed(TEXT * 2)
    found.append(stream.state())
    stream.feed("and the light", speaker="Anna")
    found.append(stream.state())
    stream.feed_words([["the", "captain"], ["he", "left"]], "Carl")
    found.append(stream.state())
    stream.close()
    return [*found, stream.state()]


def read_on(resolver: Resolver, state: bytes, key: bytes | None = None) -> list[Event]:
    """The events of a text that goes on from a state, which are those of a text whatever the state was."""
    stream = resolver.stream(state, key=key)
    begin = stream.position
    events = stream.feed(MORE) + stream.feed_words([["Anna", "left"]])
    again = resolver.stream(stream.state())  # what was taken is whole enough to be saved
    events += again.feed(MORE) + again.close()
    check_answer(events, begin, MORE * 2)
    return events


def check_answer(events: list[Event], begin: int, text: str) -> None:
    """Every mention lies in a text, and has its characters as far as they are known: `text`, from `begin` on."""
    finished: set[int] = set()
    for event in events:
        if isinstance(event, QuotationFound):
            one = event.quotation
            assert 0 <= one.word_start < one.word_end
            assert 0 <= one.score <= 1
            continue
        if isinstance(event, EntitiesMerged):
            assert finished.isdisjoint({event.kept, event.gone})
            continue
        assert event.entity not in finished
        for mention in (event.first, event.last) if isinstance(event, EntityFinished) else (event.mention,):
            assert 0 <= mention.word_start < mention.word_end
            assert mention.score is not None
            assert 0 <= mention.score <= 1
            if mention.start is not None and mention.end is not None:
                assert mention.end - mention.start == len(mention.text)
                assert mention.end <= begin + len(text)
                if mention.start >= begin:
                    assert text[mention.start - begin : mention.end - begin] == mention.text
        if isinstance(event, EntityFinished):
            assert event.size >= 1
            assert event.first <= event.last
            finished.add(event.entity)


def outcome(resolver: Resolver, state: bytes, expected: Any) -> str:
    """Anything else that is raised is a failure."""
    try:
        found = read_on(resolver, state)
    except StreamcorefError as error:
        return "refused" if "\n" not in str(error) else "refused at length"
    return "equal" if found == expected else "other"


def changed_array(choose: random.Random, tensor: torch.Tensor) -> torch.Tensor:
    what = choose.randrange(6)
    if what == 0:
        return tensor[:-1].clone()
    if what == 1:
        return tensor.to(choose.choice((torch.float32, torch.int32, torch.float64, torch.int64, torch.bfloat16)))
    if what == 2:
        return tensor.reshape(-1).clone() if tensor.dim() > 1 else tensor[:, None].clone()
    tensor = tensor.clone()
    if tensor.numel():
        flat = tensor.reshape(-1)
        strange: list[float] = [0, 1, -1, 5, 1 << 40, -(1 << 40)]
        if tensor.dtype.is_floating_point:
            strange += [float("nan"), float("inf"), -float("inf"), 1e30, 1e14]
        elif tensor.dtype == torch.int64:
            strange += [np.iinfo(np.int64).max, np.iinfo(np.int64).min, int(flat[choose.randrange(len(flat))])]
        else:
            strange = [0, 1, 200]
        flat[choose.randrange(len(flat))] = choose.choice(strange)
    return tensor


def changed_memory(choose: random.Random, memory: bytes) -> bytes:
    what = choose.randrange(4)
    if what == 0:
        data = bytearray(memory)
        for _ in range(choose.choice((1, 3, 20))):
            data[choose.randrange(len(data))] = choose.randrange(256)
        return bytes(data[: choose.choice((len(data), len(data), choose.randrange(len(data))))])
    tensors = load(memory)
    if what == 1:
        header = mutated(choose, json.loads(tensors["header"].numpy().tobytes()))
        tensors["header"] = torch.frombuffer(bytearray(json.dumps(header).encode()), dtype=torch.uint8)
    else:
        name = choose.choice(sorted(tensors))
        tensors[name] = changed_array(choose, tensors[name])
    return save(tensors)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.filterwarnings("error", "ignore::streamcoref.errors.LanguageWarning")
def test_a_changed_state_is_read_or_refused(model: int) -> None:
    """Whoever changes a state without a key can make it that of another text, which nobody can tell from this one's. So
    what holds is: no other exception, no more memory, and an answer that is one; with a key, nothing else is taken.

    Nearly all changes are found, since most of what a state says can be told from the rest of it. What remains are
    options, a row's last digits, and places that nothing else knows of.
    """
    resolver = resolvers()[model]
    choose = random.Random(model)
    expected = {state: read_on(resolver, state) for state in states(resolver)[:-1]}
    outcomes = {"equal": 0, "other": 0, "refused": 0}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(CASES_A_MODEL):
        state = choose.choice(states(resolver))
        values, memory = unpack_state(state)
        if choose.random() < 0.6:
            values = mutated(choose, values)
        else:
            memory = changed_memory(choose, memory)
        outcomes[outcome(resolver, pack_state(values, memory), expected.get(state))] += 1
    assert outcomes["other"] < CASES_A_MODEL / 50, outcomes
    assert outcomes["equal"] > 0, outcomes
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < MEGABYTES


def entity_of(values: dict[str, Any]) -> list[Any]:
    """One of several mentions."""
    found: list[Any] = next(entity for entity in values["entities"].values() if entity[4] > 1)
    return found


def changed_entity(place: int, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def apply(values: dict[str, Any]) -> None:
        entity = entity_of(values)
        entity[place] = change(entity[place])

    return apply


def changed_word(place: int, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def apply(values: dict[str, Any]) -> None:
        values["segments"]["words"][-1][place] = change(values["segments"]["words"][-1][place])

    return apply


def set_in(part: str, name: str | int, change: Callable[[Any], Any]) -> Callable[[dict[str, Any]], None]:
    def apply(values: dict[str, Any]) -> None:
        values[part][name] = change(values[part][name])

    return apply


def swap_mentions(values: dict[str, Any]) -> None:
    entity = entity_of(values)
    entity[1:3] = entity[2], entity[1]


# Each was taken once, and led to another answer.
REFUSED: dict[str, Callable[[dict[str, Any]], None]] = {
    "another number of mentions": changed_entity(4, lambda size: size - 1),
    "not reported, though it was": changed_entity(5, lambda _: False),
    "another entity's number": changed_entity(0, lambda number: number + 1000),
    "a first mention behind the last": swap_mentions,
    "a mention of other characters": changed_entity(2, lambda last: [*last[:4], last[4] + "x", *last[5:]]),
    "a form that was counted once more": changed_entity(
        6, lambda forms: [[*forms[0][:2], forms[0][2] + 1, forms[0][3]], *forms[1:]]
    ),
    "nobody": lambda values: values["entities"].pop(next(iter(values["entities"]))),
    "a word of other characters": changed_word(0, lambda text: text + "x"),
    "a word elsewhere": changed_word(5, lambda start: start + 1),
    "a word of another sentence": changed_word(1, lambda sentence: sentence + 1),
    "a word that another one says": changed_word(4, lambda _: "Anna"),
    "another one who speaks": lambda values: values.update(speaker="Anna"),
    "another number of sentences": lambda values: values.update(sentence=values["sentence"] + 1),
    "a text that begins elsewhere": set_in("splitter", "begin", lambda begin: begin + 100),
    "words that were not split so": set_in("splitter", "words", lambda words: words[1:]),
    "a sentence of other length": set_in("splitter", "sentence", lambda held: [held[0] + 1, *held[1:]]),
    "a sentence that stops at a word": set_in("splitter", "sentence", lambda held: [held[0], "x", held[2]]),
    "more English than words": set_in("language", 1, lambda english: english + 10**6),
    "somebody finished whom no turn names": lambda values: values.update(past={"0": 0}),
    "closed": lambda values: values.update(closed=True),
    "segments without words": set_in("segments", "number", lambda number: number + 10**6),
}


@pytest.mark.parametrize("change", REFUSED)
def test_what_the_rest_of_a_state_tells_is_not_changed(change: str) -> None:
    resolver = resolvers()[1]
    stream = resolver.stream(evict="none")
    stream.feed(TEXT * 2)
    values, memory = unpack_state(stream.state())
    assert values["splitter"]["decided"]
    assert values["segments"]["words"]
    REFUSED[change](values)
    with pytest.raises(StreamcorefError, match="damaged"):
        resolver.stream(pack_state(values, memory))


@pytest.mark.parametrize("column", ["rows", "size", "place", "score", "id"])
def test_what_the_rest_of_a_memory_tells_is_not_changed(column: str) -> None:
    resolver = resolvers()[1]
    stream = resolver.stream(evict="none")
    stream.feed(TEXT * 2)
    values, memory = unpack_state(stream.state())
    tensors = load(memory)
    first = tensors[column].reshape(len(tensors[column]), -1)[0]
    first[0] = {"size": first[0] + 1, "place": 0, "score": -9.0, "id": first[0] + 10**6}.get(column, first[0] + 0.5)
    if column == "place":
        tensors["start"][0] = 1
    with pytest.raises(StreamcorefError, match="damaged"):
        resolver.stream(pack_state(values, save(tensors)))


@pytest.mark.parametrize("model", MODELS)
def test_states_that_nobody_changed_go_on(model: int) -> None:
    """What is checked refuses nothing that a stream can have."""
    resolver = resolvers()[model]
    for state in states(resolver)[:-1]:
        values, memory = unpack_state(state)
        assert pack_state(values, memory) == state
        assert read_on(resolver, state)
    with pytest.raises(StreamcorefError, match="this stream is closed"):
        read_on(resolver, states(resolver)[-1])


def packed(text: bytes, memory: bytes) -> bytes:
    """A state with any JSON in it, as somebody may write it."""
    content = len(text).to_bytes(8, "little") + text + memory
    return b"streamcoref stream\n" + hashlib.blake2b(content, digest_size=16).digest() + content


def test_values_nested_without_end() -> None:
    resolver = toy_resolver.resolver()
    values, memory = unpack_state(resolver.stream().state())
    deep = json.dumps(values).replace('"closed": false', '"closed": ' + "[" * 10**5 + "]" * 10**5).encode()
    plain = json.dumps(values, separators=(",", ":"), ensure_ascii=False).encode()
    assert packed(plain, memory) == pack_state(values, memory)
    with pytest.raises(StreamcorefError, match="damaged"):
        resolver.stream(packed(deep, memory))
    with pytest.raises(StreamcorefError, match="damaged"):
        resolver.stream(pack_state(values | {"closed": nested(DEEP // 10)}, memory))
    for evict, said in (('{"a":' * 10**5, "nested"), ({"name": "one_distance", "distance": 10**30}, "distance")):
        with pytest.raises(StreamcorefError, match=said):
            resolver.stream(pack_state(values | {"options": {"evict": evict}}, memory))


KEY = b"a key that only the server has"


def test_a_sealed_state_goes_on_as_any_other() -> None:
    resolver = toy_resolver.resolver()
    stream = resolver.stream()
    stream.feed(TEXT * 2)
    assert read_on(resolver, stream.state(KEY), KEY) == read_on(resolver, stream.state())
    assert resolver.stream(stream.state(key=KEY), key=KEY).state() == stream.state()


def test_a_sealed_state_that_was_changed_is_refused() -> None:
    """Whoever has no key can change nothing, whatever they compute anew."""
    resolver = toy_resolver.resolver()
    stream = resolver.stream()
    stream.feed(TEXT * 2)
    sealed, plain = stream.state(KEY), stream.state()
    values, memory = unpack_state(plain)
    choose = random.Random(0)
    for _ in range(300):
        data = bytearray(sealed)
        data[choose.randrange(len(data))] ^= 1 << choose.randrange(8)
        with pytest.raises(StreamcorefError, match=r"not a stream that was saved with this key|without a key"):
            resolver.stream(bytes(data), key=KEY)
    forged = pack_state(values | {"sentence": 99}, memory, b"another key")
    for other in (forged, sealed[:-1], sealed + b"x", sealed[:30], b""):
        with pytest.raises(StreamcorefError, match="not a stream that was saved with this key"):
            resolver.stream(other, key=KEY)
    with pytest.raises(StreamcorefError, match="saved without a key"):
        resolver.stream(plain, key=KEY)
    with pytest.raises(StreamcorefError, match="saved with a key; give the same"):
        resolver.stream(sealed)
    for key in (b"", "text"):
        with pytest.raises(StreamcorefError, match="a key is bytes"):
            stream.state(key)  # type: ignore[arg-type]
