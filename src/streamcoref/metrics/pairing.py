"""Bring together the documents of two files that have the same key, in whatever order they come."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import zip_longest
from typing import NamedTuple

from streamcoref.errors import Remedy, StreamcorefError
from streamcoref.metrics.overlap import Clusters


class ClustersOfDocument(NamedTuple):
    """What scoring needs of a document."""

    key: str
    words: int
    clusters: Clusters


def pair_documents(
    keys: Iterable[ClustersOfDocument], responses: Iterable[ClustersOfDocument], allow_missing: bool = False
) -> Iterator[tuple[ClustersOfDocument | None, ClustersOfDocument | None]]:
    """Yield key and response of each document as soon as both are read; only what still waits is held.

    A document that one side lacks is an error, or, if allowed, comes with None for the missing side.
    """
    waiting_keys: dict[str, ClustersOfDocument] = {}
    waiting_responses: dict[str, ClustersOfDocument] = {}
    for key, response in zip_longest(keys, responses):
        if key is not None:
            waiting_keys[key.key] = key
        if response is not None:
            waiting_responses[response.key] = response
        for read in (key, response):
            if read is not None and read.key in waiting_keys and read.key in waiting_responses:
                yield _same_length(waiting_keys.pop(read.key), waiting_responses.pop(read.key))
    if not allow_missing:
        _nothing_left(waiting_keys, "response")
        _nothing_left(waiting_responses, "key")
    for key in waiting_keys.values():
        yield key, None
    for response in waiting_responses.values():
        yield None, response


def _same_length(
    key: ClustersOfDocument, response: ClustersOfDocument
) -> tuple[ClustersOfDocument, ClustersOfDocument]:
    if key.words != response.words:
        raise StreamcorefError(
            f"document {key.key!r} has {key.words} words in the key and {response.words} in the response; "
            "both must be the same text with the same words"
        )
    return key, response


def _nothing_left(waiting: dict[str, ClustersOfDocument], lacking: str) -> None:
    if waiting:
        names = ", ".join(repr(name) for name in list(waiting)[:3]) + (", ..." if len(waiting) > 3 else "")
        number = "1 document is" if len(waiting) == 1 else f"{len(waiting)} documents are"
        raise StreamcorefError(
            f"{number} missing from the {lacking} ({names}); documents are matched by key", Remedy.ALLOW_MISSING
        )
