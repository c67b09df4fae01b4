"""E-books: their pages in the order of reading, their chapters by the table of contents, and what is refused."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

pytest.importorskip("lxml", reason="the extra books is not installed")

from streamcoref.errors import InputError
from streamcoref.formats import format_of_input, read_documents
from streamcoref.text.books import packed
from streamcoref.text.books.epub import extract
from tests.text.books.making import CONTAINER, complaint, damaged_copies, epub, page, point, sections, taken_out, zipped

ONE = page('<h2 id="one">CHAPTER I.</h2><p>Anna met Carl.\n   She left.</p>')
TWO = page(
    '<a id="two"/><h2>CHAPTER II.</h2><p>He wrote&nbsp;&mdash; to her.</p><h2 id="three">CHAPTER III.</h2><p>End.</p>'
)
PAGES = {"one.xhtml": ONE, "text/two.xhtml": TWO}
TEXT = "CHAPTER I.\n\nAnna met Carl. She left.\n\nCHAPTER II.\n\nHe wrote\xa0— to her.\n\nCHAPTER III.\n\nEnd."
ENTRIES = (
    '<li><a href="one.xhtml">The <i>meeting</i></a></li><li><a href="text/two.xhtml#two">The letter</a>'
    '<ol><li><a href="text/two.xhtml#three">A postscript</a></li></ol></li>'
)


def test_pages_in_the_order_of_the_spine_and_chapters_by_the_table_of_contents(tmp_path: Path) -> None:
    path = tmp_path / "novel.epub"
    path.write_bytes(epub(PAGES, ENTRIES))
    assert format_of_input(path).name == "epub"
    (document,) = read_documents(path)
    assert (document.key, document.text) == ("novel", TEXT)
    assert [document.text[a:b] for a, b in document.offsets] == list(document.words)
    second = TEXT.index("CHAPTER II.")
    assert sections(path) == [
        ("The meeting", 1, TEXT[:second]),
        ("The letter", 1, TEXT[second:]),
        ("A postscript", 2, "CHAPTER III.\n\nEnd."),
    ]


def test_the_table_of_contents_of_epub_2() -> None:
    inner = point("Two", "text/two.xhtml#two", point("Three", "text/two.xhtml#three"))
    book = taken_out(extract, epub(PAGES, contents_2=point("One", "one.xhtml#nowhere") + inner))
    assert [(one.title, one.level, book.text[one.start :][:12]) for one in book.headings] == [
        ("One", 1, "CHAPTER I.\n\n"),
        ("Two", 1, "CHAPTER II.\n"),
        ("Three", 2, "CHAPTER III."),
    ]


def test_without_a_table_of_contents_headings_make_chapters() -> None:
    titles = ["CHAPTER I.", "CHAPTER II.", "CHAPTER III."]
    assert [one.title for one in taken_out(extract, epub(PAGES)).headings] == titles
    # one that says less than the headings: the whole book as one entry
    poor = epub(PAGES, '<li><a href="one.xhtml">Start</a></li>')
    assert [one.title for one in taken_out(extract, poor).headings] == titles
    lost = epub(PAGES, '<li><a href="gone.xhtml">A</a></li><li><a href="away.xhtml">B</a></li>')
    assert [one.title for one in taken_out(extract, lost).headings] == titles


def test_without_any_marked_heading_those_that_are_plain_to_see(tmp_path: Path) -> None:
    path = tmp_path / "plain.epub"
    path.write_bytes(epub({"a.xhtml": page("<p>CHAPTER I</p><p>Anna left.</p><p>CHAPTER II</p><p>She wrote.</p>")}))
    assert [title for title, *_ in sections(path)] == ["CHAPTER I", "CHAPTER II"]


def test_the_spine_tells_the_order_and_a_page_is_read_once() -> None:
    book = taken_out(extract, epub(PAGES, spine=["i1", "i0", "i1", "missing"]))
    assert book.text.startswith("CHAPTER II.")
    assert book.text.count("Anna") == 1


def test_pages_that_are_no_xml_are_read_as_browsers_do() -> None:
    broken = '<?xml version="1.0"?><html><head><title/><script src="x"/></head><body><p>Anna & Carl <b>met.<p>She left.'
    assert taken_out(extract, epub({"a.xhtml": broken})).text == "Anna & Carl met.\n\nShe left."


def test_other_encodings_are_those_that_a_page_declares() -> None:
    latin = page("<p>Café Zoë</p>").replace("utf-8", "iso-8859-1").encode("latin-1")
    wide = page("<p>Café Zoë</p>").replace("utf-8", "utf-16").encode("utf-16")
    assert taken_out(extract, epub({"a.xhtml": latin, "b.xhtml": wide})).text == "Café Zoë\n\nCafé Zoë"
    wrong = page("<p>Café</p>").encode("latin-1")
    with pytest.raises(InputError, match=r"its page OEBPS/a.xhtml: not valid utf-8: byte 0xe9 at offset .*encoding"):
        taken_out(extract, epub({"a.xhtml": wrong}))
    assert taken_out(extract, epub({"a.xhtml": wrong}), errors="replace").text == "Caf\ufffd"
    assert taken_out(extract, epub({"a.xhtml": wrong}), encoding="cp1252").text == "Café"


ENCRYPTION = (
    '<encryption xmlns="urn:oasis:names:tc:opendocument:xmlns:container" xmlns:enc="http://www.w3.org/2001/04/xmlenc#">'
    '<enc:EncryptedData><enc:EncryptionMethod Algorithm="{}"/></enc:EncryptedData></encryption>'
)


def test_drm_is_refused_and_disguised_fonts_are_not() -> None:
    aes = ENCRYPTION.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc")
    with pytest.raises(InputError, match=r"^book: this e-book is encrypted \(DRM\)"):
        taken_out(extract, epub(PAGES, more={"META-INF/encryption.xml": aes}))
    font = ENCRYPTION.format("http://www.idpf.org/2008/embedding")
    assert taken_out(extract, epub(PAGES, more={"META-INF/encryption.xml": font})).text == TEXT


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"PK\x03\x04 and no more", "this e-book is damaged: File is not a zip file"),
        (epub(PAGES)[:-200], "this e-book is damaged"),
        (zipped({"mimetype": "application/epub+zip"}), "there is no part META-INF/container.xml in it"),
        (zipped({"META-INF/container.xml": "<container/>"}), "it does not say what it is made of"),
        (zipped({"META-INF/container.xml": ""}), "its part META-INF/container.xml is"),
        (zipped({"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": "<package/>"}), "it has no pages to read"),
        (epub({}), "it has no pages to read"),
    ],
)
def test_damaged_ones_are_one_sentence(content: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        taken_out(extract, content)
    assert str(caught.value).startswith("book: ")
    assert "\n" not in str(caught.value)


def test_a_page_that_is_not_there_is_said() -> None:
    whole = epub(PAGES)
    parts = {"mimetype": "application/epub+zip", "META-INF/container.xml": CONTAINER}
    opf = '<package><manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
    lost = zipped(parts | {"OEBPS/book.opf": f'{opf}<spine><itemref idref="a"/></spine></package>'})
    assert whole != lost
    with pytest.raises(InputError, match=r"there is no part OEBPS/a\.xhtml in it"):
        taken_out(extract, lost)


def test_damage_anywhere_is_a_sentence_or_does_no_harm() -> None:
    content = epub(PAGES, ENTRIES)
    assert all("\n" not in complaint(extract, copy) for copy in damaged_copies(content, 300, 5))


def test_what_unpacks_without_end_is_stopped_while_it_is_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "LARGEST_PART", 1 << 20)
    bomb = epub({"a.xhtml": page("<p>" + "Anna " * 400_000 + "</p>")})
    assert len(bomb) < 50_000
    with pytest.raises(InputError, match=r"its part OEBPS/a\.xhtml has more than 1 megabytes when it is unpacked"):
        taken_out(extract, bomb)
    monkeypatch.setattr(packed, "LARGEST_PART", 64 << 20)
    monkeypatch.setattr(packed, "LARGEST_WHOLE", 3 << 20)
    many = epub({f"{number}.xhtml": page("Anna " * 200_000) for number in range(5)})
    with pytest.raises(InputError, match="or all its parts more than 3"):
        taken_out(extract, many)


def test_a_size_that_lies_does_not_help_a_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    """The header says ten bytes; more are never unpacked than it says, or it is an error."""
    monkeypatch.setattr(packed, "LARGEST_PART", 1 << 20)
    body = page("<p>" + "Anna " * 400_000 + "</p>").encode()
    bomb = epub({"a.xhtml": body}).replace(len(body).to_bytes(4, "little"), (10).to_bytes(4, "little"))
    assert zlib.crc32(body)
    with pytest.raises(InputError):
        taken_out(extract, bomb)


def test_entities_are_not_expanded_and_no_file_is_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("a secret")
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    kinds = f'<!DOCTYPE html [<!ENTITY s SYSTEM "{secret.as_uri()}"><!ENTITY l0 "ha">{laughs}]>'
    hostile = page("<p>Anna &s; &l11; left.</p>").replace("<!DOCTYPE html>", kinds)
    text = taken_out(extract, epub({"a.xhtml": hostile})).text
    assert "secret" not in text
    assert "haha" not in text
    assert text.startswith("Anna ")
    assert text.endswith(" left.")
    container = CONTAINER.replace("<container", f'<!DOCTYPE c [<!ENTITY s SYSTEM "{secret.as_uri()}">]><container', 1)
    assert taken_out(extract, epub(PAGES, more={"META-INF/container.xml": container})).text == TEXT


@pytest.mark.parametrize("place", ["../../../etc/passwd", "/etc/passwd", "http://example.com/a.xhtml", "..%2f..%2fx"])
def test_references_out_of_the_book_lead_nowhere(place: str) -> None:
    with pytest.raises(InputError, match="there is no part"):
        taken_out(extract, _refers_to(place))


def _refers_to(place: str) -> bytes:
    item = f'<item id="a" href="{place}" media-type="application/xhtml+xml"/>'
    opf = f'<package><manifest>{item}</manifest><spine><itemref idref="a"/></spine></package>'
    return zipped({"META-INF/container.xml": CONTAINER, "OEBPS/book.opf": opf})
