"""Markdown in: CommonMark with tables, its headings by their levels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import BinaryIO

from streamcoref.integrations.extras import import_extra
from streamcoref.text.books.book import Book, BookText, Decoding
from streamcoref.text.books.charsets import decoded
from streamcoref.text.books.html import read_bounded
from streamcoref.text.books.markup import add_page

LARGEST_FILE = 16 << 20  # bytes: what is made of them takes many times as much
# What a program that makes a site is told about a page stands before it, between lines of dashes.
_FRONT_MATTER = re.compile(r"---[ \t]*\r?\n.*?^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)


def extract(stream: BinaryIO, path: Path, how: Decoding) -> Book:
    markdown = import_extra("markdown_it", "books").MarkdownIt("commonmark").enable(["table", "strikethrough"])
    source = decoded(read_bounded(stream, path, LARGEST_FILE), path, how, declares=False)
    front = _FRONT_MATTER.match(source)
    text = BookText(path)
    add_page(f"<body>{markdown.render(source[front.end() :] if front else source)}</body>", text, path)
    return text.book()
