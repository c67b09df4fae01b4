"""What several formats share about a document's fields."""

from __future__ import annotations

from collections.abc import Iterable

from streamcoref.document import Clusters, Document
from streamcoref.errors import StreamcorefError


def genre_of(key: str) -> str | None:
    """The genre of a document that names none: OntoNotes puts it before the first slash of the key."""
    genre, slash, _ = key.partition("/")
    return genre if slash and genre else None


def answer(document: Document) -> Clusters:
    """The clusters that formats with room for one answer write: the predicted ones if there are any."""
    return document.clusters if document.predicted_clusters is None else document.predicted_clusters


def refuse(document: Document, problem: str, format_name: str) -> StreamcorefError:
    """The error of a writer whose format has no way to say something."""
    return StreamcorefError(
        f"document {document.key!r}: {problem}, which the format {format_name} cannot express; write jsonlines instead"
    )


def first_bad_word(words: Iterable[str], forbidden: str) -> int | None:
    """The number of the first word that is empty or has one of the forbidden characters."""
    bad = set(forbidden)
    return next((i for i, word in enumerate(words) if not word or not bad.isdisjoint(word)), None)


def has_any(text: str, characters: str) -> bool:
    return any(character in text for character in characters)
