"""Small books, made in code: EPUB and PDF by hand, Word by python-docx, which is none of ours."""

from __future__ import annotations

import io
import random
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from streamcoref.errors import InputError
from streamcoref.formats import read_documents
from streamcoref.text.books.book import Book, Decoding, Extract

CONTAINER = """<?xml version="1.0"?><container xmlns="urn:oasis:names:tc:opendocument:xmlns:container" version="1.0">
<rootfiles><rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>"""
NCX_MEDIA = "application/x-dtbncx+xml"


def taken_out(extract: Extract, content: bytes, name: str = "book", **how: str) -> Book:
    return extract(io.BytesIO(content), Path(name), Decoding(**how))


def complaint(extract: Extract, content: bytes) -> str:
    """What is said of a file; nothing if it can be read."""
    try:
        taken_out(extract, content)
    except InputError as error:
        return str(error)
    return ""


def damaged_copies(content: bytes, count: int, seed: int) -> Iterator[bytes]:
    """The file cut short, or with some bytes changed."""
    chance = random.Random(seed)
    for _ in range(count):
        copy = bytearray(content[: chance.randrange(1, len(content))] if chance.random() < 0.25 else content)
        for _ in range(chance.randrange(1, 8)):
            copy[chance.randrange(len(copy))] = chance.randrange(256)
        yield bytes(copy)


def sections(path: Path) -> list[tuple[str, int, str]]:
    """The sections of a book's file: title, level, and their text."""
    (document,) = read_documents(path)
    assert document.text is not None
    return [(one.title, one.level, document.text[one.start : one.end]) for one in document.sections]


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content, zipfile.ZIP_STORED if name == "mimetype" else None)
    return stream.getvalue()


def page(body: str) -> str:
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml" '
        f'xmlns:epub="http://www.idpf.org/2007/ops"><head><title>No prose</title></head><body>{body}</body></html>'
    )


def nav(entries: str) -> str:
    return page(f'<nav epub:type="landmarks"><ol/></nav><nav epub:type="toc"><h1>Contents</h1><ol>{entries}</ol></nav>')


def ncx(points: str) -> str:
    return f'<?xml version="1.0"?><ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>'


def point(title: str, target: str, inner: str = "") -> str:
    label = f"<navLabel><text>{title}</text></navLabel>"
    return f'<navPoint>{label}<content src="{target}"/>{inner}</navPoint>'


def epub(
    pages: Mapping[str, str | bytes],
    contents: str = "",
    contents_2: str = "",
    spine: Sequence[str] | None = None,
    more: Mapping[str, str | bytes] | None = None,
) -> bytes:
    """An e-book of these pages, with a table of contents of EPUB 3 and one of EPUB 2."""
    xhtml = "application/xhtml+xml"
    items = [f'<item id="i{n}" href="{name}" media-type="{xhtml}"/>' for n, name in enumerate(pages)]
    parts = {f"OEBPS/{name}": content for name, content in pages.items()}
    if contents:
        items.append(f'<item id="nav" href="nav.xhtml" media-type="{xhtml}" properties="nav"/>')
        parts["OEBPS/nav.xhtml"] = nav(contents)
    if contents_2:
        items.append(f'<item id="ncx" href="toc.ncx" media-type="{NCX_MEDIA}"/>')
        parts["OEBPS/toc.ncx"] = ncx(contents_2)
    order = spine or [*(["nav"] if contents else []), *(f"i{n}" for n in range(len(pages)))]
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        f'<manifest>{"".join(items)}</manifest><spine toc="ncx">'
        f'{"".join(f"""<itemref idref="{name}"/>""" for name in order)}</spine></package>'
    )
    first = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER, "OEBPS/book.opf": package}
    return zipped(first | parts | dict(more or {}))


def pdf(
    pages: Sequence[Sequence[str]], outline: Sequence[tuple[str, int, int]] = (), password: str | None = None
) -> bytes:
    """A PDF with these lines on its pages; of the outline title, level and page; encrypted if there is a password."""
    import pypdf

    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
    ]
    kids = []
    for lines in pages:
        shown = b"".join(b"(%b) Tj T*\n" % _escaped(line) for line in lines)
        stream = b"BT /F1 12 Tf 14 TL 72 720 Td\n%bET" % shown
        objects.append(b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream))
        kids.append(len(objects) + 1)
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
    references = b" ".join(b"%d 0 R" % kid for kid in kids)
    objects[1] = b"<< /Type /Pages /Kids [%b] /Count %d >>" % (references, len(kids))
    plain = _written(objects)
    if not outline and password is None:
        return plain
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(plain))
    above: list[Any] = []
    for title, level, number in outline:
        parent = above[level - 2] if level > 1 else None
        above[level - 1 :] = [writer.add_outline_item(title=title, page_number=number, parent=parent)]
    if password is not None:
        writer.encrypt(password, algorithm="RC4-128")
    stream_out = io.BytesIO()
    writer.write(stream_out)
    return stream_out.getvalue()


def _escaped(line: str) -> bytes:
    return line.encode("cp1252").replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _written(objects: Sequence[bytes]) -> bytes:
    """The file of PDF objects, numbered from 1, the first one its root."""
    content = bytearray(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n")
    places = []
    for number, value in enumerate(objects, start=1):
        places.append(len(content))
        content += b"%d 0 obj\n%b\nendobj\n" % (number, value)
    start = len(content)
    content += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    content += b"".join(b"%010d 00000 n \n" % place for place in places)
    content += b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)
    return bytes(content)
