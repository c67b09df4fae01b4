"""Files that hold no plain text: known by their first bytes, so that nobody reads their markup as prose.

Some have a text that one of our readers takes out of them; of the others it is said what to do with them.
"""

from __future__ import annotations

import codecs
import re
from typing import NamedTuple


class Foreign(NamedTuple):
    """What a file is, with its article, and what to do with it; `format` is ours that reads it, if there is one."""

    what: str
    advice: str
    format: str | None = None
    perhaps: tuple[str, ...] = ()  # ours that may begin like this, too, if the name of the file says so


_CONVERT = "convert it to text first"
_SAVE = "save it as .docx or as plain text first"
_TO_EPUB = "convert it to EPUB first"
_RECOGNISE = "let a program for text recognition (OCR) make text of it first"
_UNPACK = "unpack it first"
_NAME_FILES = "unpack it and name the files in it"
_TRANSCRIBE = "write down first what is said in it"
_NO_TEXT = "name a file with text"
# First bytes -> what the file is. Only signatures that no prose begins with.
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"SQLite format 3\0", "an SQLite database", _NO_TEXT),
    (b"\x89PNG\r\n\x1a\n", "an image (PNG)", _RECOGNISE),
    (b"\xff\xd8\xff", "an image (JPEG)", _RECOGNISE),
    (b"II*\0", "an image (TIFF)", _RECOGNISE),
    (b"MM\0*", "an image (TIFF)", _RECOGNISE),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "an image (JPEG 2000)", _RECOGNISE),
    (b"AT&TFORM", "a DjVu file", _CONVERT),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office file, such as Word's .doc, or one with a password", _SAVE),
    (b"\xffWPC", "a WordPerfect file", _SAVE),
    (b"ITOLITLS", "an e-book (Microsoft Reader)", _TO_EPUB),
    (b"ITSF\x03", "a help file (CHM)", _CONVERT),
    (b"\x1f\x8b", "a gzip file inside another", _UNPACK),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", _NAME_FILES),
    (b"Rar!\x1a\x07", "a RAR archive", _NAME_FILES),
    (b"MSCF\0\0\0\0", "a cabinet archive", _NAME_FILES),
    (b"\xfd7zXZ\0", "a file packed with xz", _UNPACK),
    (b"\x28\xb5\x2f\xfd", "a file packed with zstd", _UNPACK),
    (b"\x04\x22\x4d\x18", "a file packed with lz4", _UNPACK),
    (b"ID3\x02", "a sound file (MP3)", _TRANSCRIBE),
    (b"ID3\x03", "a sound file (MP3)", _TRANSCRIBE),
    (b"ID3\x04", "a sound file (MP3)", _TRANSCRIBE),
    (b"OggS\0", "a sound file (Ogg)", _TRANSCRIBE),
    (b"fLaC\0", "a sound file (FLAC)", _TRANSCRIBE),
    (b"\x1aE\xdf\xa3", "a film (Matroska)", _TRANSCRIBE),
    (b"\x7fELF", "a program", _NO_TEXT),
    (b"\xcf\xfa\xed\xfe", "a program", _NO_TEXT),
    (b"\xca\xfe\xba\xbe", "a program", _NO_TEXT),
    (b"bplist00", "a property list", _NO_TEXT),
    (b"wOFF\0", "a font", _NO_TEXT),
    (b"wOF2\0", "a font", _NO_TEXT),
    (b"OTTO\0", "a font", _NO_TEXT),
    (b"\x00\x01\x00\x00\x00", "a font", _NO_TEXT),
    (b"\x80\x02", "a pickle", _NO_TEXT),
    (b"\x80\x03", "a pickle", _NO_TEXT),
    (b"\x80\x04", "a pickle", _NO_TEXT),
    (b"\x80\x05", "a pickle", _NO_TEXT),
    (b"\x93NUMPY", "a file of numpy", _NO_TEXT),
    (b"\x89HDF\r\n", "an HDF5 file", _NO_TEXT),
    (b"PAR1\x15", "a Parquet file", _NO_TEXT),
)
# These are looked for behind a byte order mark and white space, and the first also behind lines of other things.
_PDF = re.compile(rb"(?:\A|[\r\n])%PDF-\d")
_PDF_WITHIN = 1024  # bytes
_LATE_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (rb"{\rtf", "a rich text (RTF) file", _SAVE),
    (b"%!PS", "a PostScript file", "convert it to PDF or to text first"),
)
_BZIP2 = re.compile(rb"BZh[1-9]1AY&SY")
_ZIP = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
# What is written near the beginning of an archive of the kind.
_ZIPPED: tuple[tuple[bytes, Foreign], ...] = (
    (b"application/epub+zip", Foreign("an e-book (EPUB)", _CONVERT, "epub")),
    (b"application/vnd.oasis.opendocument", Foreign("an OpenDocument file, such as .odt", _SAVE)),
    (b"word/", Foreign("a Word file", _CONVERT, "docx")),
    (b"xl/workbook", Foreign("a spreadsheet, such as .xlsx", "save its text as .txt first")),
    (b"ppt/presentation", Foreign("a presentation, such as .pptx", "save its text as .txt first")),
    (b"[Content_Types].xml", Foreign("an Office file", _CONVERT, "docx")),
    (b"Index/Document.iwa", Foreign("a Pages file", _SAVE)),
)
_ZIPPED_ANYTHING = Foreign("a zip archive", _NAME_FILES, perhaps=("docx", "epub"))
_RIFF = re.compile(rb"RIFF....(WEBP|WAVE|AVI )", re.DOTALL)
_RIFFED = {
    b"WEBP": Foreign("an image (WebP)", _RECOGNISE),
    b"WAVE": Foreign("a sound file (WAV)", _TRANSCRIBE),
    b"AVI ": Foreign("a film (AVI)", _TRANSCRIBE),
}
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
_PAGE = Foreign("an HTML page", _CONVERT, "html")
_XML = Foreign("an XML file", _CONVERT)
_JSON = re.compile(r'\s*(\{\s*"|\[\s*\{\s*")')


def foreign(head: bytes) -> Foreign | None:
    """What a file that begins like this is, if that is known and is no plain text."""
    for signature, what, advice in _SIGNATURES:
        if head.startswith(signature):
            return Foreign(what, advice)
    if _PDF.search(head, 0, _PDF_WITHIN):
        return Foreign("a PDF file", _CONVERT, "pdf")
    begin = head.removeprefix(codecs.BOM_UTF8).lstrip()
    for signature, what, advice in _LATE_SIGNATURES:
        if begin.startswith(signature):
            return Foreign(what, advice)
    if head.startswith(_ZIP):
        return next((known for sign, known in _ZIPPED if sign in head), _ZIPPED_ANYTHING)
    if _BZIP2.match(head):
        return Foreign("a file packed with bzip2", _UNPACK)
    if riff := _RIFF.match(head):
        return _RIFFED[riff[1]]
    if b"\0" in head[:_BINARY]:  # signatures of letters alone, which a text might have in these places
        if head.startswith((b"GIF87a", b"GIF89a")):
            return Foreign("an image (GIF)", _RECOGNISE)
        if head[4:8] == b"ftyp":
            return Foreign("a film, sound or image file (MP4)", _TRANSCRIBE)
        if head[60:68] in _BOOK:
            return Foreign("an e-book (Kindle or Palm)", _TO_EPUB)
        if head[257:262] == b"ustar":
            return Foreign("a tar archive", _NAME_FILES)
        if head.startswith(b"MZ"):
            return Foreign("a program", _NO_TEXT)
    return _markup(as_text(head))


def as_text(head: bytes) -> str:
    """The characters by a byte order mark, or else UTF-8's; what is neither does no harm where markup is sought."""
    for mark, encoding in ((codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):
        if head.startswith(mark):
            return head.decode(encoding, "replace")
    return head.decode("utf-8-sig", "replace")


def _markup(text: str) -> Foreign | None:
    before = _BEFORE_MARKUP.match(text)
    start = before.end() if before else 0
    if _MARKUP.match(text, start):
        return _PAGE if _HTML.search(text, start, start + _PROLOGUE) else _XML
    element = _ELEMENT.match(text, start)
    closings = _CLOSING.findall(text, start) if element else []
    if element is None or not (len(closings) >= _FEWEST_CLOSINGS or f"</{element[1]}>" in closings):
        return None
    return _PAGE if element[1].lower() in _HTML_ELEMENTS else _XML


def is_json(text: str) -> bool:
    """Whether it begins with an object, or a list of objects, as no prose does."""
    return _JSON.match(text) is not None
