"""HTML out: one self-contained page, the text with its mentions marked and a list of entities beside it. HTML in, any
page's text, is in `text/books/html.py`.

A document is its text, which can be read without scripts, and what is known of it as JSON. The scripts of
`streamcoref.page`, which the server's page uses too, draw of it what is on the screen, so that a book takes no longer
than a letter; what is written is as long as the text and its mentions, whatever the mentions do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from typing import TextIO

from streamcoref.document import Document, Quotation
from streamcoref.formats.base import Format
from streamcoref.formats.books import book_reader
from streamcoref.page import one_script, page_file
from streamcoref.text.books.html import extract

_LONGEST_NAME = 200  # characters: a mention may be as long as its text, and the name of an entity with no other
_NUL_MARK = "\u2400"  # what the text shows for a NUL, which markup cannot hold


def write(documents: Iterable[Document], stream: TextIO) -> None:
    """Write the page document by document. It loads nothing from anywhere."""
    stream.write(_HEAD.format(style=page_file("page.css")))
    for document in documents:
        _write_document(document.with_text(), stream)
    stream.write(f'<script type="module">\n{one_script("documents.js")}</script>\n</body>\n</html>\n')


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
"""


def _write_document(document: Document, stream: TextIO) -> None:
    """The text in an <article>, and in the <script> behind it what `documents.js` has to know."""
    text = document.text or ""
    data = {
        "key": document.key,
        "words": len(document.words),
        "nuls": [position for position, character in enumerate(text) if character == "\0"],
        "turns": _turns(document),
        "entities": [
            {
                "name": _short(entity.name),
                **({} if entity.type is None else {"type": _short(entity.type)}),
                "spans": [place for m in entity.mentions for place in (m.start, m.end)],
            }
            for entity in document.entities
        ],
        **({"quotations": [_quotation(one) for one in document.quotations]} if document.quotations else {}),
    }
    # "<" spelt out: nothing in a name ends the script
    known = json.dumps(data, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    stream.write(
        f'<article class="source" dir="auto" aria-label="{_escape(document.key)}">{_escape(text)}</article>\n'
        f'<script type="application/json">{known}</script>\n'
    )


def _quotation(one: Quotation) -> tuple[int | None, int | None, int | None, int | None, str]:
    return one.start, one.end, one.speaker, one.addressee, _short(one.kind)


def _turns(document: Document) -> list[tuple[int, str]]:
    """Where a speaker begins, by character."""
    speakers = document.speakers
    return [
        (document.offsets[word][0], name)
        for word, name in enumerate(speakers)
        if name != (speakers[word - 1] if word else "")
    ]


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _escape(text: str) -> str:
    """Escaped for text and attributes; a carriage return is spelt out, as browsers would make it a line feed."""
    return escape(text).replace("\r", "&#13;").replace("\0", _NUL_MARK)


_ENDINGS = (".html", ".htm", ".xhtml")

FORMAT = Format(
    name="html",
    description="read: a page's text, its headings as chapters; written: a page to read in a browser",
    endings=_ENDINGS,
    read=book_reader(extract, _ENDINGS),
    extract=extract,
    takes_encoding=True,
    write=write,
)
