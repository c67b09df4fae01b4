"""Pages of HTML and XHTML: their prose, as a reader of the page sees it. No script runs and nothing is fetched."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from html.entities import html5
from pathlib import Path
from typing import Any

from streamcoref.errors import InputError
from streamcoref.integrations.extras import import_extra
from streamcoref.text.books.book import BLANK, CELL, LINE, PARAGRAPH, BookText

_BLOCKS = frozenset(
    "address article aside blockquote body caption center dd details dialog dir div dl dt fieldset figcaption figure "
    "footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu ol optgroup p pre section summary table "
    "tbody tfoot thead tr ul".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
# What is no prose: programs, menus, what one fills in, what is drawn, and the reading aids above Chinese characters.
_UNSEEN = frozenset(
    "applet audio button canvas datalist embed frameset head iframe input map math nav noembed noframes noscript "
    "object option rp rt script select style svg template textarea title video".split()
)
# Numbers of notes and of pages, which stand in the middle of sentences.
_NO_PROSE = frozenset("noteref pagebreak doc-noteref doc-pagebreak".split())
_PAGE_NUMBERS = frozenset("pagenum pageno page-number".split())  # classes, as Project Gutenberg has them
_LONGEST_INITIAL = 2  # letters of an image that begins a chapter
_DEEPEST = 5000  # elements inside each other; a parser takes far too long for more
_PIECE = 1 << 16
_OWN = frozenset(["amp", "lt", "gt", "quot", "apos"])  # the entities that XML itself has
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]*);")
_DOCTYPE = re.compile(r"<!DOCTYPE\b[^>\[]*(?:\[.*?\]\s*)?>", re.DOTALL | re.IGNORECASE)
_DECLARATION = re.compile(r"\s*<\?xml\b")
_VOID = frozenset("area base br col embed hr img input link meta param source track wbr".split())
_EMPTY = re.compile(r"<([A-Za-z][\w:-]*)((?:\s[^<>]*)?)/>")


def add_page(text: str, page: BookText, path: Path, *, wanted: Collection[str] = (), place: str = "") -> None:
    """Add the prose of a page. The elements whose ids are `wanted` are marked as `place#id`."""
    etree = import_extra("lxml.etree", "books")
    if _DECLARATION.match(text):
        # XHTML closes elements that HTML does not. What is no XML after all is read as browsers do.
        try:
            _check_xml(etree, text)
        except etree.XMLSyntaxError:
            text = _EMPTY.sub(_closed, _DOCTYPE.sub("", text, count=1))
        else:
            _feed(etree.XMLParser(target=_Page(page, path, wanted, place), **_XML), _as_xml(text))
            return
    _feed(etree.HTMLParser(target=_Page(page, path, wanted, place), encoding="utf-8", huge_tree=True), text)


# No document type is loaded, and of what one says inside a file nothing is left: see `_as_xml`.
_XML: dict[str, Any] = {"encoding": "utf-8", "resolve_entities": False, "no_network": True, "load_dtd": False}


def _check_xml(etree: Any, text: str) -> None:
    _feed(etree.XMLParser(target=_Nothing(), **_XML), _as_xml(text))


def _as_xml(text: str) -> str:
    """Without its document type, which could declare anything, and with the characters that HTML has names for."""
    text = _DOCTYPE.sub("", text, count=1)
    return _ENTITY.sub(lambda found: _character(found[1]) or found[0], text)


def _character(name: str) -> str | None:
    return None if name in _OWN else html5.get(f"{name};")


def _closed(found: re.Match[str]) -> str:
    name = found[1]
    return found[0] if name.lower() in _VOID else f"<{name}{found[2]}></{name}>"


def _feed(parser: Any, text: str) -> None:
    for start in range(0, max(1, len(text)), _PIECE):  # nothing at all is a page, too
        parser.feed(text[start : start + _PIECE].encode("utf-8", "replace"))
    parser.close()


class _Nothing:
    """What a parser tells goes nowhere: whether it is well formed is all that is asked."""

    def close(self) -> None: ...


class _Page:
    """Told by a parser what it meets, it writes the prose down."""

    def __init__(self, page: BookText, path: Path, wanted: Collection[str], place: str) -> None:
        self._page, self._path, self._wanted, self._place = page, path, wanted, place
        self._depth = self._unseen = self._as_it_is = 0
        self._image = ""  # what an image in a heading is said to show

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise InputError(f"more than {_DEEPEST:,} elements stand inside each other, as in no book", self._path)
        tag = _local(tag)
        for name in ("id", "name"):
            if (there := attributes.get(name)) in self._wanted and (name == "id" or tag == "a"):
                self._page.mark(f"{self._place}#{there}")
        if self._unseen or tag in _UNSEEN or "hidden" in attributes or _is_aside(attributes):
            self._unseen += 1
            return
        if tag in _BLOCKS:
            self._page.part(PARAGRAPH)
        if tag in _HEADINGS:
            self._page.end_heading(self._image)
            self._image = ""
            self._page.begin_heading(_HEADINGS[tag])
        elif tag == "br":
            self._page.part(LINE)
        elif tag in ("td", "th"):
            self._page.part(CELL)
        elif tag == "pre":
            self._as_it_is += 1
        elif tag == "img":
            said = attributes.get("alt") or ""
            self._image = self._image or said
            if len(said) <= _LONGEST_INITIAL and said.isalpha():
                self._page.add(said)

    def end(self, tag: str) -> None:
        self._depth -= 1
        if self._unseen:
            self._unseen -= 1
            return
        tag = _local(tag)
        if tag in _HEADINGS:
            self._page.end_heading(self._image)
        if tag in _BLOCKS:
            self._page.part(PARAGRAPH)
            self._image = ""
        if tag == "pre":
            self._as_it_is -= 1

    def data(self, text: str) -> None:
        if self._unseen:
            return
        if self._as_it_is:
            self._add_lines(text)
        else:
            self._page.add(text)

    def _add_lines(self, text: str) -> None:
        """Text with line ends of its own: a blank line ends a paragraph, and what a line begins with is kept."""
        for number, line in enumerate(text.replace("\r\n", "\n").split("\n")):
            if number:
                self._page.part_more(LINE)
            if line.strip():
                self._page.add_as_it_is(line)
            elif line and not number:
                self._page.part(BLANK)

    def close(self) -> None:
        self._page.end_heading(self._image)
        self._page.part(PARAGRAPH)


def _is_aside(attributes: Mapping[str, str]) -> bool:
    kinds = " ".join(
        value or "" for name, value in attributes.items() if name == "role" or name.endswith((":type", "}type"))
    )
    return not _NO_PROSE.isdisjoint(kinds.split()) or not _PAGE_NUMBERS.isdisjoint(
        (attributes.get("class") or "").split()
    )


def _local(tag: str) -> str:
    """The name of an element without its namespace, in small letters."""
    return tag.rpartition("}")[2].rpartition(":")[2].lower()
