"""Mentions with the text around them, taken from the input while it is read once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from streamcoref.document import Mention


class InContext(NamedTuple):
    before: str
    mention: Mention
    after: str


def in_context(mentions: Iterable[Mention], text: Iterable[str], width: int) -> Iterator[InContext]:
    """Each mention with up to `width` characters on each side. Mentions come in the order of the text.

    The text comes in chunks, of which no more is held than is needed.
    """
    chunks = iter(text)
    window, begin = "", 0  # the characters from `begin` on
    for mention in mentions:
        assert mention.start is not None, "raw text has offsets"
        assert mention.end is not None
        first = max(0, mention.start - width)
        while begin + len(window) < mention.end + width:
            chunk = next(chunks, None)
            if chunk is None:
                break
            window += chunk
            passed = min(len(window), max(0, first - begin))
            window, begin = window[passed:], begin + passed
        before = window[max(0, first - begin) : mention.start - begin]
        after = window[mention.end - begin : mention.end + width - begin]
        yield InContext(before, mention, after)
