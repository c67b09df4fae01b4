"""EPUB in: the pages of an e-book in the order in which it is read, its chapters by its table of contents."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from streamcoref.errors import InputError, StreamcorefError
from streamcoref.integrations.extras import import_extra
from streamcoref.text.books.book import Book, BookText, Decoding, one_line
from streamcoref.text.books.charsets import decoded
from streamcoref.text.books.markup import add_page
from streamcoref.text.books.packed import Archive
from streamcoref.text.sections import Heading

_CONTAINER, _ENCRYPTION = "META-INF/container.xml", "META-INF/encryption.xml"
# Fonts are often disguised by these, and nothing else: the text is open.
_DISGUISES = frozenset(["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"])
_PAGES = frozenset(["application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document"])
MOST_PAGES, _MOST_ENTRIES = 20_000, 100_000
_DEEPEST = 50  # levels of a table of contents
_FEWEST = 2  # entries of a table of contents that says more than the headings of the pages


class _Entry(NamedTuple):
    """A line of a table of contents; `place` is the name of a page, and perhaps of an element in it."""

    title: str
    level: int
    place: str


class _Item(NamedTuple):
    """What the book says of one of its files."""

    place: str
    media: str
    properties: frozenset[str]


def extract(stream: BinaryIO, path: Path, how: Decoding) -> Book:
    archive = Archive(stream, path, "this e-book")
    _refuse_encrypted(archive)
    package = _package(archive)
    root = _parsed(archive, package)
    items = _items(archive, root, package)
    entries = _contents(archive, root, items)
    wanted: dict[str, set[str]] = {}
    for entry in entries:
        page, _, fragment = entry.place.partition("#")
        wanted.setdefault(page, set()).add(fragment)
    text = BookText(path)
    for item in _spine(archive, root, items):
        text.mark(f"{item.place}#")
        try:
            source = decoded(archive.read(item.place), path, how)
        except InputError as error:
            raise InputError(f"its page {item.place}: {error.message}", path, error.line, error.remedy) from None
        add_page(source, text, path, wanted=wanted.get(item.place, ()), place=item.place)
    headings = _headings(text, entries)
    return text.book(headings if len(headings) >= _FEWEST or not text.headings else None)


def _headings(text: BookText, entries: list[_Entry]) -> list[Heading]:
    """The entries that lead to a page that was read; to its beginning, where the element is not there."""
    places = text.settled_marks()
    found = []
    for entry in entries:
        start = places.get(entry.place, places.get(f"{entry.place.partition('#')[0]}#"))
        if start is not None and entry.title:
            found.append(Heading(entry.title, entry.level, start))
    return found


def _refuse_encrypted(archive: Archive) -> None:
    if _ENCRYPTION not in archive.names:
        return
    methods = _parsed(archive, _ENCRYPTION).iter("{*}EncryptionMethod")
    if any(method.get("Algorithm") not in _DISGUISES for method in methods):
        raise InputError(
            "this e-book is encrypted (DRM), and can be read only by the programs of its shop; get it without DRM",
            archive.path,
        )


def _package(archive: Archive) -> str:
    """The name of the file that says what the book is made of."""
    for found in _parsed(archive, _CONTAINER).iter("{*}rootfile"):
        place = found.get("full-path") or ""
        if place in archive.names:
            return place
    raise archive.damaged("it does not say what it is made of")


def _items(archive: Archive, root: Any, package: str) -> dict[str, _Item]:
    """The files of the book by their ids."""
    return {
        item.get("id") or "": _Item(
            archive.resolved(package, item.get("href") or ""),
            (item.get("media-type") or "").lower(),
            frozenset((item.get("properties") or "").split()),
        )
        for manifest in root.iter("{*}manifest")
        for item in manifest.iter("{*}item")
    }


def _spine(archive: Archive, root: Any, items: dict[str, _Item]) -> list[_Item]:
    """Its pages in the order of reading, each once; without the page that is a table of contents."""
    references = [reference.get("idref") or "" for reference in root.iter("{*}itemref")]
    pages = [items[name] for name in dict.fromkeys(references) if name in items]
    pages = [page for page in pages if page.media in _PAGES and "nav" not in page.properties]
    if len(pages) > MOST_PAGES:
        raise InputError(f"this e-book has more than {MOST_PAGES:,} pages, as none has", archive.path)
    if not pages:
        raise archive.damaged("it has no pages to read")
    return pages


def _contents(archive: Archive, root: Any, items: dict[str, _Item]) -> list[_Entry]:
    """The table of contents, of EPUB 3 or else of EPUB 2; nothing if it cannot be read, as one can do without."""
    for place, read in _tables(root, items):
        try:
            entries = [entry for entry, _ in zip(read(archive, place), range(_MOST_ENTRIES), strict=False)]
        except StreamcorefError:
            continue
        if entries:
            return entries
    return []


def _tables(root: Any, items: dict[str, _Item]) -> Iterator[tuple[str, Any]]:
    for item in items.values():
        if "nav" in item.properties:
            yield item.place, _nav_entries
    named = [spine.get("toc") for spine in root.iter("{*}spine")]
    for name, item in items.items():
        if name in named or item.media == "application/x-dtbncx+xml":
            yield item.place, _ncx_entries


def _nav_entries(archive: Archive, place: str) -> Iterator[_Entry]:
    """Lists inside lists, each item with a link."""
    tables = list(_parsed(archive, place).iter("{*}nav"))
    chosen = [table for table in tables if "toc" in _type(table).split()] or tables[:1]
    for table in chosen[:1]:
        for link in table.iter("{*}a"):
            level = sum(_name(above) == "ol" for above in link.iterancestors())
            yield _entry(archive, place, "".join(link.itertext()), level, link.get("href"))


def _ncx_entries(archive: Archive, place: str) -> Iterator[_Entry]:
    for point in _parsed(archive, place).iter("{*}navPoint"):
        level = 1 + sum(_name(above) == "navPoint" for above in point.iterancestors())
        title = next((label.text or "" for label in point.iterfind("{*}navLabel/{*}text")), "")
        where = next((content.get("src") for content in point.iterfind("{*}content")), None)
        yield _entry(archive, place, title, level, where)


def _entry(archive: Archive, place: str, title: str, level: int, reference: str | None) -> _Entry:
    target = archive.resolved(place, reference or "")
    return _Entry(one_line(title), min(level, _DEEPEST), f"{target}#{(reference or '').partition('#')[2]}")


def _type(element: Any) -> str:
    return " ".join(value for name, value in element.attrib.items() if name.endswith("}type") or name == "epub:type")


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _parsed(archive: Archive, place: str) -> Any:
    """A file of XML as a tree. No entity is expanded, nothing is loaded, and what is wrong with it is passed over."""
    etree = import_extra("lxml.etree", "books")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, recover=True, remove_comments=True
    )
    try:
        root = etree.fromstring(archive.read(place), parser)
    except (etree.XMLSyntaxError, ValueError) as error:
        raise archive.damaged(f"its part {place} is no XML ({error})") from None
    if root is None:
        raise archive.damaged(f"its part {place} is empty")
    return root
