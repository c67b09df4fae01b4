"""A document in, the same document with predicted clusters out, by either kind of model."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from streamcoref._tracking import EntityTracker
from streamcoref.document import Document
from streamcoref.events import Event, with_answer
from streamcoref.model.base import CorefModel
from streamcoref.model.encoder_service import SegmentService
from streamcoref.model.reading import Reading, SegmentResult
from streamcoref.model.segments import Segment
from streamcoref.model.state import State

# Told of each result as it comes.
Watch = Callable[[SegmentResult], None]


def predict(
    model: CorefModel,
    segments: Iterable[Segment],
    document: Document,
    reading: Reading,
    encoder: SegmentService,
    singletons: bool = False,
    min_score: float = 0.0,
    watch: Watch | None = None,
    state: State | None = None,
) -> Document:
    """The document with `predicted_clusters`, the probability of each mention's decision in `scores`, and `types`.

    `segments` are the document's; `state` is where a model that has one begins. What belongs to the answer is said at
    `EntityTracker`.
    """
    tracker = EntityTracker(singletons, min_score, model.labels.types)
    events: list[Event] = []
    for result in model.read(segments, reading, encoder, state):
        for link in tracker.answered(result.links):
            start, end = link.span
            words, opens = document.words[start:end], document.opens_sentence(start)
            mention = replace(document.mention(link.span), score=link.probability)
            events += tracker.place(link, mention, words, opens)
        events += tracker.settle(result)
        if watch is not None:
            watch(result)
    return with_answer(document, events + tracker.finish_all())
