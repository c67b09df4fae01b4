"""Texts with their mentions in brackets, each with the letter of its entity: `[a Anna] lost [b [a her] hat].`"""

from __future__ import annotations

import re

from streamcoref.document import Span

Places = dict[str, list[Span]]  # of each entity's letter: where its mentions are, in characters


def parse(marked: str) -> tuple[str, Places]:
    """The text without its brackets, and the mentions, which may nest, in the order of their ends."""
    text = ""
    opened: list[tuple[str, int]] = []
    places: Places = {}
    for piece in re.split(r"(\[\w |\])", marked):
        if piece.startswith("["):
            opened.append((piece[1], len(text)))
        elif piece == "]":
            entity, start = opened.pop()
            places.setdefault(entity, []).append((start, len(text)))
        else:
            text += piece
    assert not opened, f"a bracket is left open: {opened}"
    return text, places
