"""How numbers and foreign strings are said in sentences for people."""

from __future__ import annotations

import re

# What a terminal would obey instead of showing it, or which would break or turn round a line: control characters, line
# and paragraph separators, direction marks, halves of characters.
_UNSAYABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def escaped(text: object) -> str:
    """A string, or a path, that may come from anywhere, on one line: what cannot be shown is written as Python does."""
    return _UNSAYABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), str(text))


def counted(number: int, one: str, many: str) -> str:
    """1 entity, 2 entities, 1,000 entities."""
    return f"{number:,} {one if number == 1 else many}"
