"""Word in (.docx): paragraphs, and headings by the outline levels of their styles.

The XML is read as it comes. Of what Word can track, the text as it is now counts: insertions, and no deletions.
Headers, footers, notes and comments stand in files of their own and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, BinaryIO

from streamcoref.errors import InputError
from streamcoref.integrations.extras import import_extra
from streamcoref.text.books.book import BLANK, LINE, PARAGRAPH, Book, BookText, Decoding
from streamcoref.text.books.packed import Archive

_RELATIONS = "_rels/.rels"
_NAMESPACES = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",  # "strict"
)
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"  # the same again, for old programs
_DELETED = frozenset("del moveFrom instrText delText rPrChange pPrChange sectPrChange".split())
_HEADING_NAME = re.compile(r"heading ([1-9])", re.IGNORECASE)
_BODY = 10  # one more than the deepest outline level, which counts from 1
_DEEPEST_STYLE = 20  # styles that are based on each other
_DEEPEST = 1000  # elements inside each other


def extract(stream: BinaryIO, path: Path, _how: Decoding) -> Book:
    archive = Archive(stream, path, "this Word file")
    main = _main(archive)
    folder = main.rpartition("/")[0]
    styles = f"{folder}/styles.xml".lstrip("/")
    levels = _levels(_parse(archive, styles, _Styles())) if styles in archive.names else {}
    text = BookText(path)
    if not _parse(archive, main, _Body(text, levels)).is_word:
        raise _no_word(path)
    return text.book()


def _main(archive: Archive) -> str:
    """The name of the part with the text."""
    found = _parse(archive, _RELATIONS, _Relations(archive)).found if _RELATIONS in archive.names else None
    main = found or "word/document.xml"
    if main not in archive.names:
        raise _no_word(archive.path)
    return main


def _no_word(path: Path) -> InputError:
    return InputError("this is no Word file; if it is another one of Office, save its text as .docx or .txt", path)


class _Target:
    """What a parser needs to be told to: elements of Word by their names, and the depth of all."""

    def __init__(self) -> None:
        self.depth = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise ValueError(f"more than {_DEEPEST:,} elements stand inside each other")
        self.begin(_word(tag), {_local(name): value for name, value in attributes.items()})

    def end(self, tag: str) -> None:
        self.depth -= 1
        self.finish(_word(tag))

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None: ...

    def finish(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...

    def close(self) -> Any:
        return self


class _Relations(_Target):
    def __init__(self, archive: Archive) -> None:
        super().__init__()
        self._archive = archive
        self.found: str | None = None

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        if attributes.get("Type", "").endswith("/officeDocument"):
            self.found = self._archive.resolved("", attributes.get("Target", ""))


class _Styles(_Target):
    """Of each style its outline level, if it has one of its own, and what it is based on."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: dict[str, int] = {}
        self.based_on: dict[str, str] = {}
        self._style = ""

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        value = attributes.get("val", "")
        if tag == "style":
            self._style = attributes.get("styleId", "")
        elif tag == "name" and (known := _HEADING_NAME.fullmatch(value)):
            self.levels.setdefault(self._style, int(known[1]))
        elif tag == "basedOn":
            self.based_on[self._style] = value
        elif tag == "outlineLvl":
            self.levels[self._style] = _level(value)


def _levels(styles: _Styles) -> dict[str, int]:
    """The outline level of every style that has one, of its own or by what it is based on."""
    found = {}
    for style in styles.levels.keys() | styles.based_on.keys():
        name = style
        for _ in range(_DEEPEST_STYLE):
            if name in styles.levels or name not in styles.based_on:
                break
            name = styles.based_on[name]
        found[style] = styles.levels.get(name, _BODY)
    return found


def _level(value: str) -> int:
    return int(value) + 1 if value.isdecimal() and int(value) + 1 < _BODY else _BODY


class _Body(_Target):
    def __init__(self, text: BookText, levels: Mapping[str, int]) -> None:
        super().__init__()
        self.is_word = False
        self._text, self._levels = text, levels
        self._unseen = self._words = 0
        self._level = _BODY
        self._begun = False  # whether the paragraph has text, and its properties are known
        self._boxes: list[str] = []  # text that floats beside a paragraph comes after it
        self._in_box = 0

    def begin(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._unseen or tag in _DELETED or tag == _FALLBACK:
            self._unseen += 1
        elif tag == "document":
            self.is_word = True
        elif tag == "txbxContent":
            self._in_box += 1
        elif self._in_box:
            self._begin_in_box(tag)
        elif tag == "p":
            self._text.part(PARAGRAPH)
            self._level, self._begun = _BODY, False
        elif tag == "pStyle":
            self._level = self._levels.get(attributes.get("val", ""), _BODY)
        elif tag == "outlineLvl":
            self._level = _level(attributes.get("val", ""))
        elif tag == "t":
            self._words += 1
            self._begin_text()
        elif tag in ("tab", "ptab"):
            self._text.part(BLANK)
        elif tag in ("br", "cr"):
            self._text.part(LINE if attributes.get("type", "textWrapping") == "textWrapping" else BLANK)
        elif tag == "noBreakHyphen":
            self._begin_text()
            self._text.add("-")
        elif tag in ("tr", "tbl"):
            self._text.part(PARAGRAPH)

    def _begin_in_box(self, tag: str) -> None:
        if tag == "t":
            self._words += 1
        elif tag == "p":
            self._boxes.append(PARAGRAPH)
        elif tag in ("tab", "br", "cr"):
            self._boxes.append(BLANK)

    def _begin_text(self) -> None:
        """Its properties come before a paragraph's text, so that by now it is known whether it is a heading."""
        if not self._begun and self._level < _BODY:
            self._text.begin_heading(self._level)
        self._begun = True

    def finish(self, tag: str) -> None:
        if self._unseen:
            self._unseen -= 1
        elif tag == "txbxContent":
            self._in_box -= 1
        elif tag == "t":
            self._words -= 1
        elif tag == "p" and not self._in_box:
            self._text.end_heading()
            self._text.part(PARAGRAPH)
            for part in "".join(self._boxes).split(PARAGRAPH):
                self._text.add(part)
                self._text.part(PARAGRAPH)
            self._boxes.clear()

    def data(self, text: str) -> None:
        if self._unseen or not self._words:
            return
        if self._in_box:
            self._boxes.append(text)
        else:
            self._text.add(text)


def _word(tag: str) -> str:
    """The name of an element of Word; others keep their namespaces, so that none is taken for one of Word's."""
    namespace, _, name = tag.removeprefix("{").partition("}")
    return name if namespace in _NAMESPACES else tag


def _local(name: str) -> str:
    return name.rpartition("}")[2]


def _parse(archive: Archive, place: str, target: Any) -> Any:
    etree = import_extra("lxml.etree", "books")
    parser = etree.XMLParser(
        target=target, resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True, remove_pis=True
    )
    data = archive.read(place)
    if b"<!DOCTYPE" in data or b"<!ENTITY" in data:  # Office writes none, and one could declare anything
        raise archive.damaged(f"its part {place} has a document type")
    try:
        parser.feed(data)
        return parser.close()
    except (etree.XMLSyntaxError, ValueError) as error:
        raise archive.damaged(f"its part {place} is no XML of Word ({error})") from None
