"""spaCy's `Doc` and our `Document`: the same words at the same characters, and clusters in either direction.

The answer lives in `doc.spans` and nowhere else: a span group `coref_N` for each entity, with its name and the scores
of its mentions in the group's `attrs`. So it survives what spaCy does with docs: `to_bytes`, `DocBin`, copies, other
processes. (Not retokenizing, which moves no span groups.)
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakKeyDictionary

from spacy.tokens import Doc, Span, SpanGroup, Token

from streamcoref.document import Document
from streamcoref.text import split_text

_KEY = re.compile(r"coref_([1-9][0-9]*)")


@dataclass(frozen=True, slots=True)
class DocEntity:
    """One entity of a doc: `doc.spans[key]` are its mentions, in the order of the text.

    `scores` has the probability of the decision that placed each mention.
    """

    key: str
    name: str
    mentions: tuple[Span, ...]
    scores: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class DocCoref:
    """All entities of a doc, in the order of their first mentions. `document` is the same answer as a `Document`."""

    entities: tuple[DocEntity, ...]
    document: Document

    @property
    def mentions(self) -> tuple[Span, ...]:
        """Of all entities, in the order of the text, an outer one before those inside it."""
        found = (mention for entity in self.entities for mention in entity.mentions)
        return tuple(sorted(found, key=lambda mention: (mention.start, -mention.end)))


def unanswered(doc: Doc) -> Document:
    """The doc's words for the model: its tokens without white space, its sentences where it has any."""
    return _document(doc, _words(doc))


def put_answer(doc: Doc, answer: Document) -> None:
    """Entities of `unanswered(doc)` into the doc's span groups, instead of those that are there."""
    for key in list(_keys(doc)):
        del doc.spans[key]
    places = _words(doc)
    for number, entity in enumerate(answer.entities, start=1):
        spans = [doc[places[m.word_start] : places[m.word_end - 1] + 1] for m in entity.mentions]
        scores = [mention.score for mention in entity.mentions]
        key = f"coref_{number}"
        doc.spans[key] = SpanGroup(doc, name=key, spans=spans, attrs={"name": entity.name, "scores": scores})
    _indices.pop(doc, None)


def coref_of(doc: Doc) -> DocCoref:
    """What `doc._.coref` is."""
    _indices.pop(doc, None)  # whoever has changed the groups and asks again gets what is there now
    entities = tuple(_entity(doc, key) for key in _keys(doc))
    places = _words(doc)
    # Of a span with white space at its ends, which somebody else may have put there, the words between.
    clusters = [
        tuple((bisect_left(places, span.start), bisect_left(places, span.end)) for span in entity.mentions)
        for entity in entities
    ]
    scores = {
        span: score
        for cluster, entity in zip(clusters, entities, strict=True)
        for span, score in zip(cluster, entity.scores, strict=False)  # groups made by hand have none
    }
    document = replace(_document(doc, places), predicted_clusters=tuple(clusters), scores=scores)
    return DocCoref(entities, document)


def resolved_text_of(doc: Doc) -> str:
    """What `doc._.resolved_text` is: the doc's text with pronouns replaced by names where that reads well."""
    return coref_of(doc).document.resolved_text()


def entity_of(span: Span) -> DocEntity | None:
    """What `span._.entity` is: that which this very span is a mention of, or None."""
    key = _index(span.doc).of_span.get((span.start, span.end))
    return None if key is None else _entity(span.doc, key)


def entities_of(token: Token) -> tuple[DocEntity, ...]:
    """What `token._.entities` is: those with a mention that the token is part of, the innermost mention first."""
    return tuple(_entity(token.doc, key) for key in _index(token.doc).of_token.get(token.i, ()))


def _entity(doc: Doc, key: str) -> DocEntity:
    group = doc.spans[key]
    return DocEntity(key, group.attrs.get("name", key), tuple(group), tuple(group.attrs.get("scores", ())))


def _keys(doc: Doc) -> Iterator[str]:
    numbers = (match for key in doc.spans if (match := _KEY.fullmatch(key)))
    return (match[0] for match in sorted(numbers, key=lambda match: int(match[1])))


def _words(doc: Doc) -> list[int]:
    """The tokens that are words, by their places in the doc; a place in the list is one of the `Document`."""
    return [token.i for token in doc if not token.is_space]


def _document(doc: Doc, places: Sequence[int]) -> Document:
    tokens = [doc[place] for place in places]
    offsets = tuple((token.idx, token.idx + len(token)) for token in tokens)
    if doc.has_annotation("SENT_START"):
        starts = [bisect_left(places, sentence.start) for sentence in doc.sents]
    else:
        text_offsets, ends = split_text(doc.text)
        firsts = [start for start, _ in offsets]
        starts = [bisect_left(firsts, text_offsets[word][0]) for word in (0, *ends) if word < len(text_offsets)]
    # A sentence of white space alone begins where the next one does.
    inner = {start for start in starts if 0 < start < len(places)}
    return Document(
        key="doc",
        words=tuple(token.text for token in tokens),
        sentence_ends=tuple(sorted(inner | {len(places)})) if places else (),
        text=doc.text,
        offsets=offsets,
    )


class _Index(NamedTuple):
    """Keys of entities by spans and by tokens: names alone, for a span would keep its doc alive."""

    size: tuple[int, int]  # of the doc and its groups, when it was made
    of_span: dict[tuple[int, int], str]
    of_token: dict[int, list[str]]


# So that asking every token of a book takes one walk over its mentions.
_indices: WeakKeyDictionary[Doc, _Index] = WeakKeyDictionary()


def _index(doc: Doc) -> _Index:
    size = len(doc), len(doc.spans)
    index = _indices.get(doc)
    if index is None or index.size != size:
        mentions = [(span.end - span.start, span.start, key) for key in _keys(doc) for span in doc.spans[key]]
        index = _Index(size, {(start, start + length): key for length, start, key in mentions}, {})
        for length, start, key in sorted(mentions):
            for token in range(start, start + length):
                keys = index.of_token.setdefault(token, [])
                if key not in keys:
                    keys.append(key)
        _indices[doc] = index
    return index
