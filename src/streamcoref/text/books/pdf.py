"""PDF in: the text layer, its chapters by the outline. A page that is an image has no text."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from streamcoref.errors import InputError
from streamcoref.integrations.extras import import_extra
from streamcoref.text.books.book import LONGEST_TEXT, Book, Decoding, one_line, ordered
from streamcoref.text.books.pdf_lines import joined_pages
from streamcoref.text.sections import Heading

MOST_PAGES, _MOST_ENTRIES = 50_000, 100_000
_DEEPEST = 50  # levels of an outline


def extract(stream: BinaryIO, path: Path, _how: Decoding) -> Book:
    pypdf = import_extra("pypdf", "books")
    # It tells of everything that it passes over; whoever wants to know has a handler.
    logging.getLogger("pypdf").addHandler(_SILENT)
    try:
        reader = pypdf.PdfReader(stream)
        if reader.is_encrypted and not _opened(reader):
            raise InputError("this PDF is encrypted; save it without a password first", path)
        pages = _pages(reader, path)
        entries = list(_outline(reader))
    except InputError:
        raise
    except Exception as error:  # whatever a damaged file does to a parser
        raise InputError(f"this PDF is damaged: {type(error).__name__}: {one_line(str(error))}", path) from error
    if not any(page.strip() for page in pages):
        raise InputError(
            "this PDF has no text layer, only images of pages; let a program for text recognition (OCR) add one first",
            path,
        )
    text, starts = joined_pages(pages)
    return Book(
        text, ordered(Heading(title, level, _place(text, starts, page, title)) for title, level, page in entries)
    )


_SILENT = logging.NullHandler()


def _opened(reader: Any) -> bool:
    """Whether it can be read without a password, as many that only forbid to print can."""
    try:
        return bool(reader.decrypt(""))
    except Exception:  # a kind of encryption that needs another package, or a damaged one
        return False


def _pages(reader: Any, path: Path) -> list[str]:
    """The text of each page, which is all that is held of it."""
    pages: list[str] = []
    length = 0
    for number, page in enumerate(reader.pages):
        pages.append(page.extract_text() or "")
        length += len(pages[-1])
        if length > LONGEST_TEXT or number >= MOST_PAGES:
            raise InputError(
                f"this has more than {LONGEST_TEXT:,} characters of text or {MOST_PAGES:,} pages, as no book has", path
            )
    return pages


def _outline(reader: Any) -> Iterator[tuple[str, int, int]]:
    """Title, level and page of each entry, in order. What leads nowhere is left out."""
    try:
        outline = reader.outline
    except Exception:  # a damaged outline; the text is there, and its headings may be plain to see
        return
    waiting = [(1, iter(outline))]
    for _ in range(_MOST_ENTRIES):
        while waiting:
            level, entries = waiting[-1]
            entry = next(entries, None)
            if entry is not None:
                break
            waiting.pop()
        else:
            return
        if isinstance(entry, list):
            waiting.append((min(level + 1, _DEEPEST), iter(entry)))
            continue
        try:
            title, page = one_line(str(entry.title)), reader.get_destination_page_number(entry)
        except Exception:  # an entry that leads out of the file, or to nothing
            continue
        if title and isinstance(page, int) and page >= 0:
            yield title, level, page


def _place(text: str, starts: list[int], page: int, title: str) -> int:
    """Where on its page a heading stands, or else where the page begins."""
    page = min(page, len(starts) - 1)
    begin = starts[page]
    end = starts[page + 1] if page + 1 < len(starts) else len(text)
    shown = text[begin:end].casefold()
    # Spaces of an outline and of a page differ; a word or two are enough to find a title by.
    words = title.casefold().split()
    for count in range(len(words), 0, -1):
        found = shown.find(" ".join(words[:count]))
        if found >= 0 and len(shown) == end - begin:
            return begin + found
    return begin
