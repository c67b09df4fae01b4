"""The characters of markup: by its byte order mark, by what it says of itself, or else as plain text."""

from __future__ import annotations

import codecs
import re
from pathlib import Path

from streamcoref.errors import StreamcorefError
from streamcoref.text.books.book import Decoding
from streamcoref.text.decoding import TextDecoder, check_encoding

_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_DECLARED = re.compile(
    rb"""<\?xml[^>]{0,200}?encoding\s*=\s*["']([\w.:-]+)|<meta[^>]{0,500}?charset\s*=\s*["']?([\w.:-]+)""",
    re.IGNORECASE,
)
_WITHIN = 2048  # bytes in which a page says its encoding
_USUAL = "utf-8"
# What pages that call themselves by these names really are, as browsers know.
_MEANT = {"iso8859-1": "cp1252", "ascii": "cp1252", "utf-16": _USUAL, "utf-16-le": _USUAL, "utf-16-be": _USUAL}


def decoded(data: bytes, path: Path, how: Decoding, *, declares: bool = True) -> str:
    """The text of a file of markup, which may declare its encoding; one that somebody names goes before that."""
    encoding = how.encoding
    if encoding == _USUAL:
        marked = next((known for mark, known in _MARKS if data.startswith(mark)), None)
        encoding = marked or (_declared(data) if declares else _USUAL)
    decoder = TextDecoder(path, encoding, how.errors)
    return (decoder.decode(data) + decoder.decode(b"", final=True)).removeprefix("\ufeff")


def _declared(data: bytes) -> str:
    said = _DECLARED.search(data, 0, _WITHIN)
    if said is None:
        return _USUAL
    try:
        known = check_encoding((said[1] or said[2]).decode("ascii"), "strict")
    except StreamcorefError:
        return _USUAL
    # Bytes in which this could be read as ASCII are no UTF-16, whatever they say.
    return _MEANT.get(known, known)
