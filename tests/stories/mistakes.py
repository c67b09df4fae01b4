"""What a model gets wrong of a story, said in a line for each mistake."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import TYPE_CHECKING

from streamcoref import Document
from tests.stories.marked import Places, parse

if TYPE_CHECKING:  # it imports torch, which only tests with the model should wait for
    from streamcoref import Resolver


def resolved(
    resolver: Resolver, marked: str, *, dialogue: bool = False, scheme: str | None = None
) -> tuple[Document, Places]:
    """The model's answer to a story, and the story's marked mentions; a dialogue has a turn a line."""
    if not dialogue:
        text, places = parse(marked)
        return resolver.resolve(text, scheme=scheme), places
    speakers, said = zip(*(line.split(": ", 1) for line in marked.splitlines()), strict=True)
    text, places = parse("\n".join(said))
    return resolver.resolve(turns=list(zip(speakers, text.split("\n"), strict=True)), scheme=scheme), places


def mistakes(document: Document, places: Places) -> list[str]:
    """What a reader would say is wrong: mentions not found, apart that belong together, together that do not."""
    text = document.text or ""
    entity_of = {(m.start, m.end): entity.id for entity in document.entities for m in entity.mentions}

    def shown(span: tuple[int, int]) -> str:
        start, end = span
        return f"“{text[max(0, start - 20) : start]}[{text[start:end]}]{text[end : end + 20]}”".replace("\n", " ")

    wrong = [f"not found: {shown(span)}" for spans in places.values() for span in spans if span not in entity_of]
    found = {letter: [span for span in spans if span in entity_of] for letter, spans in places.items()}
    for spans in found.values():
        wrong += [f"apart: {shown(a)} and {shown(b)}" for a, b in pairwise(spans) if entity_of[a] != entity_of[b]]
    for one, other in combinations(found, 2):
        for a, b in ((a, b) for a in found[one] for b in found[other] if entity_of[a] == entity_of[b]):
            wrong.append(f"together: {shown(a)} and {shown(b)}")
            break
    return wrong
