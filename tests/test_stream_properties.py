"""Streams, whatever the text and however it is cut: same events, exact offsets, a state that is a value."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamcoref.errors import StreamcorefError
from streamcoref.events import EntityFinished, EntityStarted, Event, QuotationFound, with_answer
from streamcoref.resolver import Resolver, load
from streamcoref.stream import Stream
from streamcoref.text import document_from_text
from tests import toy_resolver
from tests.toy_resolver import finished, linked, mentions, nasty_texts, started

options = st.fixed_dictionaries(
    {},
    optional={
        "singletons": st.booleans(),
        "min_score": st.sampled_from([0.0, 0.08, 0.12]),
        "scheme": st.sampled_from(["plain", "litbank"]),
        "evict": st.sampled_from(["none", "none:budget=3", "one_distance:distance=20"]),
    },
)
places = st.lists(st.integers(0, 10_000), max_size=8)


def chunks(text: str, cuts: list[int]) -> list[str]:
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    return [text[a:b] for a, b in pairwise(bounds)]


def events_of(text: str, cuts: list[int], **chosen: object) -> list[Event]:
    stream = toy_resolver.resolver().stream(**chosen)  # type: ignore[arg-type]
    events = [event for chunk in chunks(text, cuts) for event in stream.feed(chunk)]
    return events + stream.close()


def check_protocol(events: list[Event]) -> None:
    """Every mention once; an entity starts, goes on and finishes, and what is said at its end is true."""
    reported = mentions(events)
    assert len({(start, end) for _, start, end in reported}) == len(reported)
    alive: dict[int, list[Event]] = {}
    gone: set[int] = set()
    for event in events:
        if isinstance(event, QuotationFound):
            named = {event.quotation.speaker, event.quotation.addressee} - {None}
            assert named <= {*alive, *gone}
        elif isinstance(event, EntityStarted):
            assert event.entity not in alive
            alive[event.entity] = [event]
        elif isinstance(event, EntityFinished):
            seen = [e.mention for e in alive.pop(event.entity) if not isinstance(e, EntityFinished)]
            assert (event.first, event.last, event.size) == (seen[0], seen[-1], len(seen))
            gone.add(event.entity)
        else:
            alive[event.entity].append(event)
    assert alive == {}
    assert len(started(events)) == len({e.entity for e in started(events)}) == len(finished(events))


@settings(max_examples=20)
@given(nasty_texts, places, options)
def test_events_do_not_depend_on_chunks_and_offsets_are_exact(
    text: str, cuts: list[int], chosen: dict[str, object]
) -> None:
    events = events_of(text, [], **chosen)
    assert events_of(text, cuts, **chosen) == events
    check_protocol(events)
    for event in [*started(events), *linked(events)]:
        mention = event.mention
        assert text[mention.start : mention.end] == mention.text
        assert mention.score is not None
        assert 0 <= mention.score <= 1


TALK = (
    "The keeper asked the captain near the old harbour and the ship. " * 3
    + 'Anna saw the captain. "I left her," said Mr. Doyle, "when you met him." '
    + "The keeper asked the captain near the old harbour and the ship. He gave it to Berta near the harbour. "
    + 'They took the old ship and left. \n\n"You lost it!"\n\n"I found my letter," said Anna.\n\nAnna saw the captain. '
    + "The keeper asked the captain near the old harbour and the ship. " * 2
    + "He gave it to Berta near the harbour. Anna saw the captain. "
)


@pytest.mark.parametrize("evict", ["one_distance:distance=10", "none:budget=1", "none:budget=4"])
@pytest.mark.parametrize("last", ["agreement", "identity"])
def test_what_a_stream_reports_is_what_resolve_answers(evict: str, last: Literal["agreement", "identity"]) -> None:
    """Quotations, too, whose speakers were evicted before all was known of them; and wherever the stream is stopped."""
    resolver = toy_resolver.talking_resolver(last)
    document = resolver.resolve(TALK, evict=evict)
    stream, events = resolver.stream(evict=evict), list[Event]()
    for start in range(0, len(TALK), 97):
        events += stream.feed(TALK[start : start + 97])
        stream = resolver.stream(stream.state())
    events += stream.close()
    assert with_answer(document_from_text("text", TALK), events) == document
    if evict.startswith("one_distance") and last == "agreement":
        places = {e.entity: events.index(e) for e in finished(events)}
        said = [(n, e.quotation) for n, e in enumerate(events) if isinstance(e, QuotationFound)]
        assert any(one.speaker is not None and places[one.speaker] < n for n, one in said)


def stream_with(threads: int) -> Stream:
    checkpoint = toy_resolver.resolver().checkpoint
    return Resolver(checkpoint, Path("nowhere"), checkpoint.model.service(threads)).stream()


@settings(max_examples=20)
@given(nasty_texts, places, st.sampled_from([1, 3]), st.integers(0, 8))
def test_parts_fed_ahead_bring_what_each_brings_alone(text: str, cuts: list[int], threads: int, leave: int) -> None:
    """At the end of each the stream is the same value, too, and when the loop is left it can be fed otherwise."""
    parts, alone, ahead = chunks(text, cuts), stream_with(1), stream_with(threads)
    fed = 0
    with closing(ahead.feed_ahead(parts)) as brought:
        for fed, events in enumerate(brought, 1):
            assert events == alone.feed(parts[fed - 1])
            assert ahead.state() == alone.state()
            assert (ahead.position, ahead.words_read) == (alone.position, alone.words_read)
            if fed == leave:
                break
    assert fed == min(leave or len(parts), len(parts))
    rest = "".join(parts[fed:])
    assert ahead.feed(rest) + ahead.close() == alone.feed(rest) + alone.close()


def test_a_stream_that_is_fed_ahead_takes_nothing_else_and_few_parts() -> None:
    taken = 0

    def parts() -> Iterator[str]:
        nonlocal taken
        for taken in range(1, 101):
            yield toy_resolver.plain_text(taken, 20) + " "

    stream = stream_with(2)
    told = 0
    for told, _ in enumerate(stream.feed_ahead(parts()), 1):
        assert taken <= told + 8
        for feed in (lambda: stream.feed("Anna"), stream.close, lambda: stream.feed_ahead(["Anna"])):
            with pytest.raises(StreamcorefError, match="fed ahead"):
                feed()
    assert told == 100
    assert stream.close()


@settings(max_examples=10)
@given(nasty_texts)
def test_single_characters(text: str) -> None:
    assert events_of(text, list(range(len(text)))) == events_of(text, [])


@settings(max_examples=15)
@given(nasty_texts, options)
def test_resolve_is_the_stream_collected(text: str, chosen: dict[str, object]) -> None:
    resolver = toy_resolver.resolver()
    document = resolver.resolve(text, **chosen)  # type: ignore[arg-type]
    events = events_of(text, [], **chosen)
    assert document.text == text
    assert (document.words, document.offsets) == (
        document_from_text("", text).words,
        document_from_text("", text).offsets,
    )
    reported = {(m.mention.word_start, m.mention.word_end): m.mention for m in [*started(events), *linked(events)]}
    assert {(m.word_start, m.word_end): m for e in document.entities for m in e.mentions} == reported
    names = {(e.first.word_start, e.first.word_end): (e.name, e.size) for e in finished(events)}
    assert {(e.mentions[0].word_start, e.mentions[0].word_end): (e.name, e.size) for e in document.entities} == names


@settings(max_examples=15)
@given(nasty_texts, places, st.integers(0, 7), options, st.sampled_from([None, "Anna"]))
def test_a_stream_that_was_stopped_goes_on_as_if_it_had_not(
    text: str, cuts: list[int], stops: int, chosen: dict[str, object], speaker: str | None
) -> None:
    """Stopped at several places, and without the options, which the state remembers."""
    resolver = toy_resolver.resolver()
    whole, stopped = resolver.stream(**chosen), resolver.stream(**chosen)  # type: ignore[arg-type]
    expected, events = [], []
    for number, chunk in enumerate(chunks(text, cuts)):
        expected += whole.feed(chunk, speaker)
        events += stopped.feed(chunk, speaker)
        if number % 8 <= stops:
            saved = stopped.state()
            stopped = resolver.stream(saved)
            assert stopped.state() == saved
            assert (stopped.position, stopped.words_read, stopped.alive) == (
                whole.position,
                whole.words_read,
                whole.alive,
            )
    assert events + stopped.close() == expected + whole.close()


names = st.sampled_from(["", "Anna", "Carl"])
sentences = st.lists(st.lists(st.tuples(st.sampled_from(["he", "Anna", "“", "”", ".", "the ship"]), names), max_size=4))
# What somebody does to a stream: text or words of somebody, words of several, a turn's end, a pause.
acts = st.one_of(
    st.tuples(st.just("feed"), nasty_texts, names),
    st.tuples(st.just("feed"), st.sampled_from(["She saw the captain", " and left. ", "He ", "\n\n", " "]), names),
    st.tuples(st.just("feed_words"), sentences.map(lambda said: [[word for word, _ in one] for one in said]), names),
    sentences.map(
        lambda said: (
            "feed_words",
            [[word for word, _ in one] for one in said],
            [[who for _, who in one] for one in said],
        )
    ),
    st.sampled_from([("end_turn",), ("flush",)]),
)


@settings(max_examples=30)
@given(st.lists(acts, max_size=10))
def test_it_can_be_stopped_behind_whatever_is_done_to_it(done: list[tuple[Any, ...]]) -> None:
    """What is checked of a state refuses none that a stream can have."""
    resolver = toy_resolver.resolver()
    whole, stopped = resolver.stream(singletons=True), resolver.stream(singletons=True)
    for act, *given_ in done:
        expected = getattr(whole, act)(*given_)
        assert getattr(stopped, act)(*given_) == expected
        stopped = resolver.stream(stopped.state())
    assert stopped.close() == whole.close()


def test_halves_of_characters_stay_halves_in_a_state() -> None:
    resolver = toy_resolver.resolver()
    whole, stopped = resolver.stream(), resolver.stream()
    begin, rest = "Anna saw the ship. He left her \ud83d", "\ude00 and Anna saw the captain. "
    stopped.feed(begin)
    stopped.feed(rest[:1])
    stopped = resolver.stream(stopped.state())
    assert whole.feed(begin + rest) + whole.close() == stopped.feed(rest[1:]) + stopped.close()


def test_who_speaks_is_saved_too() -> None:
    """In the midst of a quotation: what comes after must know that it is one, and which."""
    scorer = {"name": "feed_forward", "hidden": 8, "features": ["agreement", "distance"], "feature_size": 4}
    talking = toy_resolver.make_resolver(pair_score=scorer)
    turn = "“ I saw you , ” he said , “ and you saw me when I left the ship near the harbour . ” "
    text = turn * 6
    for cut in range(20, len(text), 37):
        whole = talking.stream()
        whole.feed(text[:cut])
        resumed = talking.stream(whole.state())
        events = whole.feed(text[cut:])
        assert resumed.feed(text[cut:]) == events
        assert resumed.state() == whole.state()
        assert resumed.close() == whole.close()


# Reads the second half of a text and prints its events; the first half was read in another process.
SCRIPT = """
import sys
from pathlib import Path
import streamcoref

folder = Path(sys.argv[1])
stream = streamcoref.load(folder / "model").stream((folder / "state").read_bytes())
events = stream.feed((folder / "rest.txt").read_text()) + stream.close()
print(*events, sep="\\n")
"""


@pytest.mark.slow
def test_a_stream_goes_on_in_another_process(tmp_path: Path) -> None:
    text = toy_resolver.plain_text(5, 200)
    stream = load(toy_resolver.save_model(tmp_path / "model")).stream(singletons=True)
    stream.feed(text[:600])
    (tmp_path / "state").write_bytes(stream.state())
    (tmp_path / "rest.txt").write_text(text[600:])
    there = subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], capture_output=True, text=True, check=True)
    here = stream.feed(text[600:]) + stream.close()
    assert len(here) > 20
    assert there.stdout.splitlines() == [str(event) for event in here]
