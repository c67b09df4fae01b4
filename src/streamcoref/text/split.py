"""From raw text to words and sentences, and to a document."""

from __future__ import annotations

from collections.abc import Iterable

from streamcoref.document import Document, Section, Span
from streamcoref.text.headings import HeadingFinder
from streamcoref.text.sections import sections_of
from streamcoref.text.splitter import TextSplitter


def split_text(text: str) -> tuple[list[Span], list[int]]:
    """The words of a text as spans of characters, and after how many words each sentence ends."""
    split = TextSplitter().read(text, final=True)
    return split.words, split.ends


def document_from_text(
    key: str, text: str, speakers: Iterable[str] | None = None, sections: tuple[Section, ...] | None = None
) -> Document:
    """A document that keeps `text` untouched; `speakers`, where known, has one name a word of `split_text`.

    If nobody knows its `sections`, they are those whose headings are plain to see.
    """
    offsets, ends = split_text(text)
    return Document(
        key=key,
        words=tuple(text[start:end] for start, end in offsets),
        sentence_ends=tuple(ends),
        speakers=() if speakers is None else tuple(speakers),
        text=text,
        offsets=tuple(offsets),
        sections=visible_sections(text) if sections is None else sections,
    )


def visible_sections(text: str) -> tuple[Section, ...]:
    """The sections of a plain text by their headings."""
    finder = HeadingFinder()
    return sections_of([*finder.read(text), *finder.end()], len(text))
