"""Coreference in brackets, `(7 ... 7)`, as the CoNLL formats write it: one notation, read and written here."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

from streamcoref.document import Cluster, Document, Span
from streamcoref.errors import InputError
from streamcoref.formats.fields import answer, refuse

# One bracket of a cell such as `(0|(12)|3)`; the separator may be missing, as old files have it.
_BRACKET = re.compile(r"\((?P<opened>[^()|\s]+)(?P<single>\))?\|?|(?P<closed>[^()|\s]+)\)\|?")


class OpenBrackets:
    """The brackets of one document while it is read. A closing bracket ends the latest open one of its id.

    Those at one word are read from left to right, so that `0)|(0` ends a mention and begins another. With `as_scored`
    they are read as the official scorer does: mentions of this word alone, then those that begin, then those that end.
    There the two brackets of `0)|(0` are a mention of this word, and the one that was open stays open.
    """

    def __init__(self, path: Path, as_scored: bool = False) -> None:
        self.path, self.as_scored = path, as_scored
        self._open: dict[str, list[tuple[int, int]]] = defaultdict(list)  # id -> (first word, line)
        self._clusters: dict[str, list[Span]] = {}

    def open(self, entity: str, start: int, line: int) -> None:
        self._open[entity].append((start, line))
        self._clusters.setdefault(entity, [])  # entities come in the order of their first opening, as in scorer 8.01

    def close(self, entity: str, end: int, line: int) -> Span:
        """End a mention before word `end` and return it."""
        if not self._open[entity]:
            raise InputError(
                f"the bracket '{entity})' closes a mention that no '({entity}' has opened", self.path, line
            )
        start, _ = self._open[entity].pop()
        return start, end

    def add(self, entity: str, span: Span) -> None:
        self._clusters.setdefault(entity, []).append(span)

    def read_cell(self, cell: str, word: int, line: int) -> None:
        """Read the brackets at one word."""
        brackets = self._split(cell, line)
        if self.as_scored:
            brackets.sort(key=lambda match: 0 if match["single"] else 1 if match["opened"] else 2)
        for match in brackets:
            if match["closed"]:
                self.add(match["closed"], self.close(match["closed"], word + 1, line))
            elif match["single"]:
                self.add(match["opened"], (word, word + 1))
            else:
                self.open(match["opened"], word, line)

    def _split(self, cell: str, line: int) -> list[re.Match[str]]:
        brackets: list[re.Match[str]] = []
        position = 0
        while position < len(cell):
            match = _BRACKET.match(cell, position)
            if match is None:
                raise InputError(
                    f"the coreference column has {cell!r}, which is not made of brackets like (7, 7) or (7)",
                    self.path,
                    line,
                )
            position = match.end()
            brackets.append(match)
        return brackets

    def finish(self) -> list[list[Span]]:
        """The mentions of each entity as the file has them: repeated ones kept, entities not merged."""
        unclosed = [(line, entity) for entity, starts in self._open.items() for _, line in starts]
        if unclosed:
            line, entity = min(unclosed)
            raise InputError(f"the bracket '({entity}' opens a mention that is never closed", self.path, line)
        return list(self._clusters.values())


def bracket_cells(document: Document, separator: str, format_name: str) -> dict[int, str]:
    """The cell of every word at which a mention starts or ends; entities are numbered from 0.

    At a word the closing brackets come first, so that a mention may end where the next of its entity starts.
    Two mentions of one entity that cross any further would be read back as two nested ones: they are refused.
    """
    closing: dict[int, list[tuple[int, str]]] = defaultdict(list)
    opening: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for number, cluster in enumerate(answer(document)):
        crossing = crossing_mentions(cluster)
        if crossing:
            (a, b), (c, d) = crossing
            raise refuse(
                document,
                f"the mentions of words {a} to {b - 1} and {c} to {d - 1} are of one entity and cross",
                format_name,
            )
        for start, end in cluster:
            if end - start == 1:
                opening[start].append((end, f"({number})"))
            else:
                opening[start].append((end, f"({number}"))
                closing[end - 1].append((start, f"{number})"))
    return {
        word: separator.join(
            bracket
            # innermost first out, outermost first in
            for _, bracket in sorted(closing[word], reverse=True) + sorted(opening[word], reverse=True)
        )
        for word in closing.keys() | opening.keys()
    }


def crossing_mentions(cluster: Cluster) -> tuple[Span, Span] | None:
    """Two mentions that cross by more than one word, if there are such."""
    enclosing: list[Span] = []
    for start, end in sorted(cluster, key=lambda span: (span[0], -span[1])):
        while enclosing and enclosing[-1][1] - 1 <= start:
            enclosing.pop()
        if enclosing and enclosing[-1][1] < end:
            return enclosing[-1], (start, end)
        enclosing.append((start, end))
    return None
