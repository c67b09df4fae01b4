"""A text with its mentions in colour, for notebooks: a piece of HTML that needs nothing around it.

The page of the format `html` is for exploring; this is to be looked at: no script, no style sheet, colours that are
readable on light and on dark.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from streamcoref.document import Document, Entity
from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from spacy.tokens import Doc

# Hues this many degrees apart are well spread however many there are; the largest entities get the first.
_GOLDEN_ANGLE = 137.508
_FIRST_HUE = 250
_LISTED = 12  # entities in the list above the text
SHOWN = 5000  # characters of a document that a notebook shows by itself


class Markup(str):
    """HTML that a notebook shows as what it means; anywhere else it is a str."""

    def _repr_html_(self) -> str:
        return str(self)


def render(document: Document | Doc, *, limit: int | None = None) -> Markup:
    """A document of ours, or a doc of spaCy's, with its mentions in colour, as HTML; a notebook shows it.

    With a `limit`, no more characters than that are shown, and it is said how many are left out.
    """
    ours = _document(document)
    if limit is not None and limit < 1:
        raise StreamcorefError(f"limit is {limit}; give at least 1, or none to show the whole text")
    return Markup(_html(ours.with_text(), limit))


def _document(given: Document | Doc) -> Document:
    if isinstance(given, Document):
        return given
    tokens = sys.modules.get("spacy.tokens")  # where it is not, nobody has a doc
    if tokens is not None and isinstance(given, tokens.Doc):
        from streamcoref.integrations.spacy_docs import coref_of

        return coref_of(given).document
    raise StreamcorefError(f"a Document or a Doc of spaCy's can be rendered, not a {type(given).__name__}")


def _html(document: Document, limit: int | None) -> str:
    text = document.text or ""
    end = _end(document, limit)
    entities = sorted(document.entities, key=lambda entity: (-entity.size, entity.id))
    hues = {entity.id: round(rank * _GOLDEN_ANGLE + _FIRST_HUE) % 360 for rank, entity in enumerate(entities)}
    marked = "".join(_marked(text[:end], _marks(document, end), hues))
    note = f'<p style="opacity:.7">… {len(text) - end:,} more characters are not shown.</p>' if end < len(text) else ""
    return (
        '<div style="line-height:1.9;max-width:50em">'
        f"{_list(entities, hues)}"
        f'<div dir="auto" style="white-space:pre-wrap">{marked}</div>'
        f"{note}</div>"
    )


def _end(document: Document, limit: int | None) -> int:
    """Where the text that is shown ends: behind the last word that fits."""
    length = len(document.text or "")
    if limit is None or length <= limit:
        return length
    return max((end for _, end in document.offsets if end <= limit), default=limit)


def _list(entities: Sequence[Entity], hues: Mapping[int, int]) -> str:
    if not entities:
        return '<p style="opacity:.7">No entities.</p>'
    names = [f"{_open(entity, hues)}{_clean(entity.name)}</span>&nbsp;{entity.size}" for entity in entities[:_LISTED]]
    more = f" and {len(entities) - _LISTED:,} more" if len(entities) > _LISTED else ""
    return f"<p>{' · '.join(names)}{more}</p>"


class _Mark(NamedTuple):
    start: int
    end: int
    entity: Entity


def _marks(document: Document, end: int) -> list[_Mark]:
    """Mentions in the order in which they open, outer ones first; what lies behind the end is cut off."""
    found = [
        _Mark(mention.start, min(mention.end, end), entity)
        for entity in document.entities
        for mention in entity.mentions
        if mention.start is not None and mention.end is not None and mention.start < min(mention.end, end)
    ]
    return sorted(found, key=lambda mark: (mark.start, -mark.end, mark.entity.id))


def _marked(text: str, marks: Sequence[_Mark], hues: Mapping[int, int]) -> Iterator[str]:
    """A proper tree: where two mentions cross, the one that began later goes on in a second element."""
    opened: list[_Mark] = []
    waiting = list(reversed(marks))
    position = 0
    for place in sorted({0, len(text), *(m.start for m in marks), *(m.end for m in marks)}):
        yield _clean(text[position:place])
        position = place
        ending = next((i for i, mark in enumerate(opened) if mark.end == place), len(opened))
        yield "</span>" * (len(opened) - ending)
        crossing = [mark for mark in opened[ending:] if mark.end > place]
        while waiting and waiting[-1].start == place:
            crossing.append(waiting.pop())
        yield "".join(_open(mark.entity, hues) for mark in crossing)
        opened[ending:] = crossing


def _open(entity: Entity, hues: Mapping[int, int]) -> str:
    hue = hues[entity.id]
    return (
        f'<span title="{_clean(entity.name)}" style="background:hsl({hue} 75% 50%/.2);'
        f'border-bottom:2px solid hsl({hue} 65% 50%);border-radius:.2em;padding:.05em .1em">'
    )


def _clean(text: str) -> str:
    return escape(text).replace("\r", "&#13;")
