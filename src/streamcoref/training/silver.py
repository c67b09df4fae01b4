"""Silver: what a teacher, another model, finds in a text beside what is annotated there.

A corpus that leaves some things out, as LitBank does with all that is neither a person nor a place, teaches a model to
overlook them in every text that reads like it, whatever scheme it is asked for. Read by somebody who has never seen
that corpus, the same texts show them. And texts that nobody has annotated show what a larger model knows.

A teacher's scores are learnt from, not only its decisions: a span that it holds for a mention by six in ten is one by
six in ten, and a decision weighs as much as it was sure of it.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from streamcoref.document import Clusters, Document, Span
from streamcoref.errors import StreamcorefError
from streamcoref.model.reading import SegmentResult
from streamcoref.resolver import Resolver

_KNOWN = 4  # an entity is the annotation's matter, not the teacher's, if more than one in so many mentions is annotated
_LEAST_CHANCE = 0.02  # of a span that is worth a note; of all others it is as good as none
_DIGITS = 3  # of a chance on disk


@dataclass(frozen=True)
class Lesson:
    """What a text has to teach, beyond right and wrong."""

    clusters: Clusters
    sure: dict[Span, float] = field(default_factory=dict)  # how sure decisions on mentions are; others are for certain
    chances: dict[Span, float] = field(default_factory=dict)  # that spans are mentions; others are none


class Teacher:
    """A model that answers in one of its schemes. What it has said is kept in a folder, if there is one, for all runs
    and processes that ask again."""

    def __init__(self, resolver: Resolver, scheme: str | None, folder: Path | None = None) -> None:
        self._resolver, self._folder = resolver, folder
        known = resolver.checkpoint.config.schemes
        if scheme is not None and scheme not in known:
            raise StreamcorefError(f"the teacher {resolver.folder} has no scheme {scheme!r}; it has {', '.join(known)}")
        self._scheme = scheme

    def teach(self, document: Document, singletons: bool) -> Lesson:
        """The document's own entities, which stay as they are, and the teacher's beside them; of one mention only if
        `singletons` belong to the annotation."""
        least = 1 if singletons else 2
        found = self._known(document, singletons)
        own = tuple(cluster for cluster in document.clusters if len(cluster) >= least)
        clusters = (*own, *beside(found.clusters, document.clusters, least))
        certain = {span for cluster in document.clusters for span in cluster}
        sure, chances = (
            {span: value for span, value in values.items() if span not in certain}
            for values in (found.sure, found.chances)
        )
        return Lesson(clusters, sure, chances)

    def _known(self, document: Document, singletons: bool) -> Lesson:
        if self._folder is None:
            return self._read(document, singletons)
        asked = [self._resolver.fingerprint, self._scheme, singletons, replace(document, clusters=()).to_dict()]
        path = self._folder / f"{hashlib.sha256(json.dumps(asked).encode()).hexdigest()}.json"
        if path.exists():
            return _from_values(json.loads(path.read_text(encoding="utf-8")))
        lesson = self._read(document, singletons)
        part = path.with_suffix(f".{os.getpid()}.part")
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            part.write_text(json.dumps(_to_values(lesson)), encoding="utf-8")
            part.replace(path)
        except OSError as error:
            raise StreamcorefError(f"cannot write to the cache {self._folder}: {error.strerror}") from error
        return lesson

    def _read(self, document: Document, singletons: bool) -> Lesson:
        chances: dict[Span, float] = {}

        def watch(result: SegmentResult) -> None:
            for spans in result.spans:
                likely = torch.sigmoid(spans.candidate_scores)
                every = zip(spans.candidate_mentions, likely.tolist(), strict=True)
                chances.update({span: chance for span, chance in every if span and chance >= _LEAST_CHANCE})

        answer = self._resolver.watched(document, watch, scheme=self._scheme, singletons=singletons)
        return Lesson(answer.predicted_clusters or (), dict(answer.scores), chances)


def teach_all(teachers: Sequence[Teacher], document: Document, singletons: bool) -> Lesson:
    """Each teacher adds what those before it have left out; a span is a mention by the best chance that one gives."""
    so_far = Lesson(document.clusters)
    for teacher in teachers:
        lesson = teacher.teach(replace(document, clusters=so_far.clusters), singletons=singletons)
        chances = {
            span: max(given.get(span, 0.0) for given in (lesson.chances, so_far.chances))
            for span in lesson.chances.keys() | so_far.chances.keys()
        }
        so_far = Lesson(lesson.clusters, {**lesson.sure, **so_far.sure}, chances)
    return so_far


def beside(found: Clusters, annotated: Clusters, least: int) -> Clusters:
    """Of the entities found, those that are not annotated, without their mentions that are; of so many at least."""
    known = {span for cluster in annotated for span in cluster}
    new = (
        tuple(span for span in cluster if span not in known)
        for cluster in found
        if _KNOWN * len(known.intersection(cluster)) <= len(cluster)
    )
    return tuple(cluster for cluster in new if len(cluster) >= least)


def _to_values(lesson: Lesson) -> dict[str, Any]:
    sure, chances = (
        [[*span, round(value, _DIGITS)] for span, value in values.items()] for values in (lesson.sure, lesson.chances)
    )
    return {"clusters": lesson.clusters, "sure": sure, "chances": chances}


def _from_values(values: dict[str, Any]) -> Lesson:
    clusters = tuple(tuple((start, end) for start, end in cluster) for cluster in values["clusters"])
    sure, chances = ({(start, end): value for start, end, value in values[name]} for name in ("sure", "chances"))
    return Lesson(clusters, sure, chances)
