"""Silver: what a teacher, another model, finds in a text beside what is annotated there.

A corpus that leaves some things out, as LitBank does with all that is neither a person nor a place, teaches a model to
overlook them in every text that reads like it, whatever scheme it is asked for. Read by somebody who has never seen
that corpus, the same texts show them.
"""

from __future__ import annotations

from dataclasses import replace

from streamcoref.document import Clusters, Document
from streamcoref.errors import StreamcorefError
from streamcoref.resolver import Resolver

_KNOWN = 4  # an entity is the annotation's matter, not the teacher's, if more than one in so many mentions is annotated


class Teacher:
    """A model that answers in one of its schemes."""

    def __init__(self, resolver: Resolver, scheme: str | None) -> None:
        self._resolver = resolver
        known = resolver.checkpoint.config.schemes
        if scheme is not None and scheme not in known:
            raise StreamcorefError(f"the teacher {resolver.folder} has no scheme {scheme!r}; it has {', '.join(known)}")
        self._scheme = scheme

    def add_to(self, document: Document, singletons: bool) -> Document:
        """The document with the teacher's entities beside its own, which stay as they are; of one mention only if
        `singletons` belong to the annotation."""
        least = 1 if singletons else 2
        answer = self._resolver.resolve(document=document, scheme=self._scheme, singletons=singletons)
        own = tuple(cluster for cluster in document.clusters if len(cluster) >= least)
        return replace(document, clusters=(*own, *beside(answer.predicted_clusters or (), document.clusters, least)))


def beside(found: Clusters, annotated: Clusters, least: int) -> Clusters:
    """Of the entities found, those that are not annotated, without their mentions that are; of so many at least."""
    known = {span for cluster in annotated for span in cluster}
    new = (
        tuple(span for span in cluster if span not in known)
        for cluster in found
        if _KNOWN * len(known.intersection(cluster)) <= len(cluster)
    )
    return tuple(cluster for cluster in new if len(cluster) >= least)
