"""Documents that have their words already, fed to a stream: the same events however they are cut."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref import _document_events
from streamcoref._document_events import feed_document, in_own_text
from streamcoref.document import Document
from streamcoref.events import EntityFinished, Event
from streamcoref.text import document_from_text
from tests import toy_resolver
from tests.model import toys

RESOLVER = toy_resolver.resolver()
DOCUMENT = replace(toys.document(5, 200), speakers=tuple(f"s{number // 7 % 3}" for number in range(200)))


def all_events(document: Document) -> list[Event]:
    stream = RESOLVER.stream()
    events = [event for _, part in feed_document(stream, document) for event in part]
    return events + in_own_text(document, stream.close())


@given(words_at_once=st.integers(1, 250), first=st.integers(0, 20))
def test_any_part_at_a_time_and_any_resumption_give_the_same_events(words_at_once: int, first: int) -> None:
    stream = RESOLVER.stream()
    speakers = [
        DOCUMENT.speakers[a:b] for a, b in zip((0, *DOCUMENT.sentence_ends), DOCUMENT.sentence_ends, strict=False)
    ]
    expected = stream.feed_words(DOCUMENT.sentences, speakers) + stream.close()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_document_events, "WORDS_AT_ONCE", words_at_once)
        stream, found, fed = RESOLVER.stream(), [], 0
        for fed, events in feed_document(stream, DOCUMENT):
            found += events
            if fed >= first:
                break
        stream = RESOLVER.stream(stream.state())
        rest = list(feed_document(stream, DOCUMENT, fed))
        found += [event for _, events in rest for event in events]
    assert [fed, *(number for number, _ in rest)][-1] == len(DOCUMENT.sentence_ends)
    assert found + stream.close() == expected


def test_mentions_have_the_characters_of_the_document() -> None:
    text = "  " + toy_resolver.plain_text(4, 200).replace(" ", "\n\n", 20)
    document = document_from_text("a", text)
    events = all_events(document)
    assert toy_resolver.mentions(events)
    for event in events:
        for mention in (event.first, event.last) if isinstance(event, EntityFinished) else (event.mention,):
            assert text[mention.start : mention.end] == mention.text
            assert mention == replace(document.mention((mention.word_start, mention.word_end)), score=mention.score)
    mentions = [e.mention for e in all_events(DOCUMENT) if not isinstance(e, EntityFinished)]
    assert {(m.start, m.end) for m in mentions} == {(None, None)}


def test_the_resolver_answers_a_document_so() -> None:
    answered = RESOLVER.resolve(document=replace(DOCUMENT, clusters=(((0, 1), (3, 4)),), genre="elsewhere"))
    clusters: dict[int, list[tuple[int, int]]] = {}
    for number, start, end in toy_resolver.mentions(all_events(DOCUMENT)):
        clusters.setdefault(number, []).append((start, end))
    assert answered == replace(
        DOCUMENT,
        clusters=(((0, 1), (3, 4)),),
        genre="elsewhere",
        predicted_clusters=tuple(map(tuple, clusters.values())),
        scores=answered.scores,
    )
    assert len(answered.entities) > 5
