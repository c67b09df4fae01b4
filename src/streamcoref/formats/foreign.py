"""Files that hold no plain text: known by their first bytes, so that nobody reads their markup as prose."""

from __future__ import annotations

import codecs
import re

# First bytes -> what the file is. Only signatures that no prose begins with.
_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\x89PNG\r\n\x1a\n", "an image (PNG)"),
    (b"\xff\xd8\xff", "an image (JPEG)"),
    (b"II*\0", "an image (TIFF)"),
    (b"MM\0*", "an image (TIFF)"),
    (b"AT&TFORM", "a DjVu file"),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file, such as Word's .doc"),
    (b"\x1f\x8b", "a gzip file inside another"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xfd7zXZ\0", "a file packed with xz"),
    (b"\x28\xb5\x2f\xfd", "a file packed with zstd"),
    (b"ID3\x02", "a sound file (MP3)"),
    (b"ID3\x03", "a sound file (MP3)"),
    (b"ID3\x04", "a sound file (MP3)"),
    (b"OggS\0", "a sound file (Ogg)"),
    (b"fLaC\0", "a sound file (FLAC)"),
    (b"\x7fELF", "a program"),
    (b"\x80\x02", "a pickle"),
    (b"\x80\x03", "a pickle"),
    (b"\x80\x04", "a pickle"),
    (b"\x80\x05", "a pickle"),
    (b"PAR1\x15", "a Parquet file"),
)
# These are looked for behind a byte order mark and white space, and the first also behind lines of other things.
_PDF = re.compile(rb"(?:\A|[\r\n])%PDF-\d")
_PDF_WITHIN = 1024  # bytes
_LATE_SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (rb"{\rtf", "a rich text (RTF) file"),
    (b"%!PS", "a PostScript file"),
)
_BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# What is written near the beginning of an archive of the kind.
_ZIPPED: tuple[tuple[bytes, str], ...] = (
    (b"application/epub+zip", "an e-book (EPUB)"),
    (b"application/vnd.oasis.opendocument", "an OpenDocument file, such as .odt"),
    (b"[Content_Types].xml", "an Office file, such as .docx"),
    (b"word/", "an Office file, such as .docx"),
)
_RIFF = re.compile(rb"RIFF....(WEBP|WAVE|AVI )", re.DOTALL)
_BINARY = 512  # bytes among which such files have a zero
_BOOK = (b"BOOKMOBI", b"TEXtREAd")  # Kindle and Palm, after a name of 32 bytes and dates: at byte 60
# White space and comments, which may come before the first tag.
_BEFORE_MARKUP = re.compile(r"\ufeff?(?:\s+|<!--.*?-->)*", re.DOTALL)
_MARKUP = re.compile(r"<(\?xml\b|!doctype\b|html\b|head>|body\b|svg\b|tei\b|tei\.2\b|rss\b|feed\b)", re.IGNORECASE)
_HTML = re.compile(r"<html\b|<!doctype\s+html\b|<head>|<body\b", re.IGNORECASE)
# Pages and documents without such a beginning start with some element and close some; a chat starts with "<Anna>", too.
_ELEMENT = re.compile(r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?/?>")
_CLOSING = re.compile(r"</[A-Za-z][\w:.-]*\s*>")
_FEWEST_CLOSINGS = 2
_HTML_ELEMENTS = frozenset(
    "a article aside b blockquote br center div em font footer form h1 h2 h3 h4 h5 h6 header hr i img li link main "
    "meta nav ol p pre script section span strong style table title u ul".split()
)
_PROLOGUE = 2000  # characters in which a page that begins as XML says that it is HTML
_JSON = re.compile(r'\s*(\{\s*"|\[\s*\{\s*")')


def foreign(head: bytes) -> str | None:
    """What a file that begins like this is, with its article, if that is known and is no plain text."""
    for signature, what in _SIGNATURES:
        if head.startswith(signature):
            return what
    if _PDF.search(head, 0, _PDF_WITHIN):
        return "a PDF file"
    begin = head.removeprefix(codecs.BOM_UTF8).lstrip()
    for signature, what in _LATE_SIGNATURES:
        if begin.startswith(signature):
            return what
    if head.startswith(_ZIP):
        return next((what for sign, what in _ZIPPED if sign in head), "a zip archive")
    if _BZIP2.match(head):
        return "a file packed with bzip2"
    if riff := _RIFF.match(head):
        return {b"WEBP": "an image (WebP)", b"WAVE": "a sound file (WAV)", b"AVI ": "a film (AVI)"}[riff[1]]
    if b"\0" in head[:_BINARY]:  # signatures of letters alone, which a text might have in these places
        if head.startswith((b"GIF87a", b"GIF89a")):
            return "an image (GIF)"
        if head[4:8] == b"ftyp":
            return "a film, sound or image file (MP4)"
        if head[60:68] in _BOOK:
            return "an e-book (Kindle or Palm)"
        if head[257:262] == b"ustar":
            return "a tar archive"
    return _markup(as_text(head))


def as_text(head: bytes) -> str:
    """The characters by a byte order mark, or else UTF-8's; what is neither does no harm where markup is sought."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if head.startswith(mark):
            return head.decode(encoding, "replace")
    return head.decode("utf-8-sig", "replace")


def _markup(text: str) -> str | None:
    before = _BEFORE_MARKUP.match(text)
    start = before.end() if before else 0
    if _MARKUP.match(text, start):
        return "an HTML page" if _HTML.search(text, start, start + _PROLOGUE) else "an XML file"
    element = _ELEMENT.match(text, start)
    closings = _CLOSING.findall(text, start) if element else []
    if element is None or not (len(closings) >= _FEWEST_CLOSINGS or f"</{element[1]}>" in closings):
        return None
    return "an HTML page" if element[1].lower() in _HTML_ELEMENTS else "an XML file"


def is_json(text: str) -> bool:
    """Whether it begins with an object, or a list of objects, as no prose does."""
    return _JSON.match(text) is not None
