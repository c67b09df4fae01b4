"""HTML out: one self-contained page, the text with its mentions marked and a list of entities beside it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import TextIO

from streamcoref.document import Document, Entity, Span
from streamcoref.formats.base import Format
from streamcoref.text.sentences import PARAGRAPH

# Hues this many degrees apart are well spread however many there are; the largest entities get the first.
_GOLDEN_ANGLE = 137.508
_FIRST_HUE = 250
_TICKS = 120  # places of the strip that shows where in the document an entity is mentioned


def write(documents: Iterable[Document], stream: TextIO) -> None:
    """Write the page document by document. It loads nothing from anywhere."""
    stream.write(_HEAD.format(style=_resource("html_page.css")))
    for number, document in enumerate(documents):
        _write_document(document.with_text(), number, stream)
    stream.write(f"</main>\n<script>\n{_resource('html_page.js')}</script>\n</body>\n</html>\n")


_HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="streamcoref">
<title>Entities</title>
<style>
{style}</style>
</head>
<body>
<header><nav aria-label="Documents"></nav></header>
<main>
"""


def _resource(name: str) -> str:
    return files("streamcoref.formats").joinpath(name).read_text(encoding="utf-8")


def _write_document(document: Document, number: int, stream: TextIO) -> None:
    entities = sorted(document.entities, key=lambda entity: (-entity.size, entity.id))
    hues = {entity.id: round(rank * _GOLDEN_ANGLE + _FIRST_HUE) % 360 for rank, entity in enumerate(entities)}
    repeated = [entity for entity in entities if entity.size > 1]
    once = [entity for entity in entities if entity.size == 1]
    counts = [
        _count(len(document.words), "word", "words"),
        _count(len(entities), "entity", "entities"),
        _count(sum(entity.size for entity in entities), "mention", "mentions"),
    ]
    stream.write(
        f'<section id="d{number}" aria-labelledby="d{number}-key">\n'
        f'<h1 id="d{number}-key"><bdi>{_escape(document.key)}</bdi></h1>\n<p class="counts">{" · ".join(counts)}</p>\n'
        '<aside aria-label="Entities">\n'
    )
    if entities:
        stream.write('<input type="search" placeholder="Find an entity" aria-label="Find an entity">\n')
    _write_list(document, repeated, hues, number, stream)
    if once:
        stream.write(f"<details><summary>{len(once):,} mentioned once</summary>\n")
        _write_list(document, once, hues, number, stream)
        stream.write("</details>\n")
    stream.write('</aside>\n<article dir="auto">')
    stream.writelines(_marked_text(document, hues, number))
    stream.write("</article>\n</section>\n")


def _write_list(
    document: Document, entities: Sequence[Entity], hues: Mapping[int, int], number: int, stream: TextIO
) -> None:
    stream.write("<ul>\n")
    for entity in entities:
        places = sorted({mention.word_start * _TICKS // len(document.words) for mention in entity.mentions})
        ticks = "".join(f"M{place}.5 0v6" for place in places)
        stream.write(
            f'<li><a href="#d{number}e{entity.id}m0" data-e="{entity.id}" style="--h:{hues[entity.id]}">'
            f'<bdi class="name">{_escape(entity.name)}</bdi><span class="size">{entity.size:,}</span>'
            f'<svg viewBox="0 0 {_TICKS} 6" preserveAspectRatio="none" aria-hidden="true"><path d="{ticks}"/></svg>'
            "</a></li>\n"
        )
    stream.write("</ul>\n")


@dataclass(frozen=True, slots=True)
class _Mark:
    span: Span  # of surfaces, see _surfaces
    entity: Entity
    number: int  # of the mention in its entity


def _marked_text(document: Document, hues: Mapping[int, int], number: int) -> Iterator[str]:
    """The text with every mention in a <span>: a proper tree whose characters are exactly those of the text.

    Where two mentions cross, the one that began later is closed with the earlier and opened again behind it: its
    pieces share entity and mention number, and only the first has an id and can be focused.
    """
    text = document.text or ""
    surfaces = _surfaces(document.offsets)
    marks = sorted(
        (
            _Mark((surfaces[m.word_start], surfaces[m.word_end - 1] + 1), entity, i)
            for entity in document.entities
            for i, m in enumerate(entity.mentions)
        ),
        key=lambda mark: (mark.span[0], -mark.span[1], mark.entity.id),
    )
    levels = _levels([mark.span for mark in marks])
    opened: list[tuple[_Mark, int, int]] = []  # with level and hue
    waiting = 0
    position = 0
    for word, (start, end) in enumerate(document.offsets):
        if word and surfaces[word] == surfaces[word - 1]:
            continue
        yield _gap(text[position:start])
        speaker = document.speakers[word] if document.speakers else ""
        if speaker and (word == 0 or document.speakers[word - 1] != speaker):
            yield f'<span class="speaker" data-name="{_escape(speaker)}"></span>'
        while waiting < len(marks) and marks[waiting].span[0] == surfaces[word]:
            mark = marks[waiting]
            opened.append((mark, levels[waiting], hues[mark.entity.id]))
            yield _open_tag(*opened[-1], number, first=True)
            waiting += 1
        yield _escape(text[max(start, position) : end])
        position = max(end, position)
        ending = [i for i, (mark, *_) in enumerate(opened) if mark.span[1] == surfaces[word] + 1]
        if ending:
            yield "</span>" * (len(opened) - ending[0])
            crossing = [item for item in opened[ending[0] :] if item[0].span[1] > surfaces[word] + 1]
            opened[ending[0] :] = crossing
            yield "".join(_open_tag(*item, number, first=False) for item in crossing)
    yield _gap(text[position:])


def _surfaces(offsets: Sequence[Span]) -> list[int]:
    """The number of each word's characters: words that share them, as `du` = `de` + `le`, have the same one."""
    numbers: list[int] = []
    for i, span in enumerate(offsets):
        numbers.append(numbers[-1] + int(span != offsets[i - 1]) if i else 0)
    return numbers


def _levels(spans: Sequence[Span]) -> list[int]:
    """How many levels of mentions lie inside each: outer underlines are drawn below inner ones. At most 4."""
    levels = [0] * len(spans)
    opened: list[int] = []
    for i, (start, end) in enumerate(spans):
        opened = [j for j in opened if spans[j][1] > start]
        opened.append(i)
        for below, j in enumerate(reversed(opened)):
            if spans[j][1] >= end:
                levels[j] = max(levels[j], min(below, 4))
    return levels


def _open_tag(mark: _Mark, level: int, hue: int, number: int, *, first: bool) -> str:
    entity = mark.entity
    own = f' id="d{number}e{entity.id}m{mark.number}" tabindex="0"' if first else ""
    single = " once" if entity.size == 1 else ""
    title = _escape(f"{entity.name} · {mark.number + 1} of {entity.size}")
    return (
        f'<span class="m{single}"{own} data-e="{entity.id}" data-m="{mark.number}" title="{title}" '
        f'style="--h:{hue};--l:{level}">'
    )


def _gap(blanks: str) -> str:
    """What stands between two words; a blank line becomes the space between two paragraphs."""
    if blanks == " ":
        return blanks
    return f'<span class="paragraph">{_escape(blanks)}</span>' if PARAGRAPH.search(blanks) else _escape(blanks)


def _count(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _escape(text: str) -> str:
    """Escaped for text and attributes; a carriage return is spelt out, as browsers would make it a line feed."""
    return escape(text).replace("\r", "&#13;")


FORMAT = Format(
    name="html",
    description="a self-contained page to read in a browser; write only",
    suffix=".html",
    read=None,
    write=write,
    matches=lambda name, lines: False,  # noqa: ARG005
)
