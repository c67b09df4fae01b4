"""A document whose words are there already, fed to a stream: by its own sentences and speakers."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from streamcoref.document import Document, Mention
from streamcoref.events import EntitiesMerged, EntityFinished, Event, QuotationFound

if TYPE_CHECKING:
    from streamcoref.stream import Stream

WORDS_AT_ONCE = 1000  # less than a second's work for a model, so that a run can be stopped and saved at any time


def feed_document(stream: Stream, document: Document, first: int = 0) -> Generator[tuple[int, list[Event]]]:
    """Feed the sentences from `first` on, some at a time: how many have been fed in all, and what that brought."""
    spans = list(pairwise((0, *document.sentence_ends)))
    ends: deque[int] = deque()  # of the parts that the stream has taken, and not told of

    def parts() -> Iterator[tuple[list[tuple[str, ...]], list[tuple[str, ...]] | None]]:
        last = first
        while last < len(spans):
            begin = last
            while last < len(spans) and spans[last][0] < spans[begin][0] + WORDS_AT_ONCE:
                last += 1
            ends.append(last)
            part = spans[begin:last]
            speakers = [document.speakers[a:b] for a, b in part] if document.speakers else None
            yield [document.words[a:b] for a, b in part], speakers

    with closing(stream.feed_words_ahead(parts())) as brought:
        for events in brought:
            yield ends.popleft(), in_own_text(document, events)


def in_own_text(document: Document, events: list[Event]) -> list[Event]:
    """Events of the document's words with the characters of its text, if it has one."""
    if document.text is None:
        return events

    def placed(mention: Mention) -> Mention:
        return replace(document.mention((mention.word_start, mention.word_end)), score=mention.score)

    def in_text(event: Event) -> Event:
        if isinstance(event, EntityFinished):
            return replace(event, first=placed(event.first), last=placed(event.last))
        if isinstance(event, EntitiesMerged):
            return event
        if isinstance(event, QuotationFound):
            one = event.quotation
            start, end = document.characters((one.word_start, one.word_end))
            return QuotationFound(replace(one, start=start, end=end))
        return replace(event, mention=placed(event.mention))

    return [in_text(event) for event in events]
