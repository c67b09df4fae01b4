"""Chapters of plain text: headings that are plain to see ("CHAPTER XII.", "Volume II"), found while the text flows."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from streamcoref.text.numbers import NUMBER, number_of
from streamcoref.text.sections import Heading

_LONGEST_LINE = 300  # characters; a longer one is prose
_LONGEST_TITLE = 100  # characters of a line that may be a title
_MOST_LINES = 3  # of a heading with its title
# What divisions are called, the outermost first; those of one rank follow each other and do not nest.
_RANKS = (
    ("volume", "vol"),
    ("part",),
    ("book",),
    ("chapter", "chap", "adventure", "act", "canto", "letter", "stave"),
    ("scene",),
)
_RANK = {name: rank for rank, names in enumerate(_RANKS) for name in names}
_CHAPTER, _NUMERAL = _RANK["chapter"], len(_RANKS)
_NAMED = re.compile(rf"({'|'.join(_RANK)})\.? +(?:the +)?({NUMBER})(?![\w'’])(.*)", re.IGNORECASE)
# What may follow the number: nothing, or a title, which is set off or begins with no small letter.
_REST = re.compile(r"[.:]?|(?:[.:]| *[—–-]+) *(?P<set_off>\S.*)|[.:,]? +(?P<title>[^a-z ].*)")
_UNNUMBERED = frozenset("prologue epilogue preface foreword afterword introduction conclusion".split())
_ALONE = re.compile(r"([IVXLC]+)\.?")
_AROUND = " \t\r\f_*=#"  # what may stand around a heading: indentation, and marks of emphasis


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A heading that waits for its text. One that is `listed` follows the one before as in a table of contents."""

    title: str
    rank: int
    number: int | None
    start: int
    has_title: bool  # besides its name and number
    listed: bool = False


class HeadingFinder:
    """Reads a text in chunks of any size and tells of each heading when the text below it has begun.

    A heading is a paragraph of its own, or the first line of one, that says what begins there and its number; a
    Roman numeral alone is one if it is the next. Headings below which nothing stands but others of their kind are
    a table of contents. It holds a few lines at most, and how the text is cut into chunks makes no difference.
    """

    def __init__(self) -> None:
        self._line = ""  # what has come of the line, or the beginning of it
        self._line_start = self._position = 0
        self._paragraph: list[tuple[int, str]] = []  # its first lines and where they start
        self._settled = False  # nothing that the paragraph goes on with matters
        self._waiting: list[_Candidate] = []
        self._open: list[int] = []  # ranks of the divisions that the text is in, the outermost first
        self._numeral = 0  # the last one that stood alone
        self._found: list[Heading] = []

    def read(self, text: str) -> list[Heading]:
        """The headings that have become certain."""
        *lines, last = text.split("\n")
        for line in lines:
            self._add(line)
            self._end_line()
        self._add(last)
        return self._take()

    def end(self) -> list[Heading]:
        """The last ones: the text has ended."""
        self._end_line()
        self._end_paragraph()
        return self._take()

    def _take(self) -> list[Heading]:
        found, self._found = self._found, []
        return found

    def _add(self, text: str) -> None:
        self._position += len(text)
        self._line += text[: _LONGEST_LINE + 1 - len(self._line)]
        if len(self._line) > _LONGEST_LINE and not self._settled and self._line.strip():
            self._paragraph.append((self._line_start, self._line))
            self._settle()

    def _end_line(self) -> None:
        line, start = self._line, self._line_start
        self._position += 1
        self._line, self._line_start = "", self._position
        if not line.strip():
            self._end_paragraph()
        elif not self._settled:
            self._paragraph.append((start, line))
            if len(self._paragraph) > _MOST_LINES:
                self._settle()

    def _end_paragraph(self) -> None:
        if self._paragraph and not self._settled:
            self._settle(is_short=True)
        self._paragraph, self._settled = [], False

    def _settle(self, *, is_short: bool = False) -> None:
        """Decide what a paragraph is. A short one, which has ended, may be a heading and its title."""
        self._settled = True
        texts = [line.strip(_AROUND) for _, line in self._paragraph]
        if any(_candidate(text, 0) for text in texts[1:]):
            return  # lines of a table of contents
        heading = self._heading(texts)
        if heading is not None and is_short and all(len(text) <= _LONGEST_TITLE for text in texts):
            title = " ".join([heading.title, *filter(None, texts[1:])])
            self._see_heading(replace(heading, title=title, has_title=heading.has_title or len(texts) > 1))
        elif heading is None and is_short and len(texts) == 1 and self._is_title(texts[0]):
            last = self._waiting.pop()
            self._waiting.append(replace(last, title=f"{last.title} {texts[0]}", has_title=True))
        else:
            if heading is not None and not heading.has_title:  # the text begins right below it
                self._see_heading(heading)
            self._place_waiting()

    def _is_title(self, text: str) -> bool:
        """Whether a line is the title of the heading that stands above it: in capitals."""
        lacking = bool(self._waiting) and not self._waiting[-1].has_title
        return lacking and text.isupper() and len(text) <= _LONGEST_TITLE

    def _heading(self, texts: list[str]) -> _Candidate | None:
        """What the first line says, unless it is a sentence that goes on: "Part I" / "of the plan had failed"."""
        found = _candidate(texts[0], self._start())
        if found is None or (not found.has_title and any(text[:1].islower() for text in texts[1:2])):
            return None
        return None if found.rank == _NUMERAL and found.number not in (1, self._numeral + 1) else found

    def _start(self) -> int:
        start, line = self._paragraph[0]
        return start + len(line) - len(line.lstrip())

    def _see_heading(self, found: _Candidate) -> None:
        before = None
        while self._waiting and self._waiting[-1].rank >= found.rank:
            before = self._waiting.pop()
        if before is not None and before.rank == found.rank and before.number is not None:
            found = replace(found, listed=found.number == before.number + 1)
        self._numeral = (found.number or 0) if found.rank == _NUMERAL else 0
        self._waiting.append(found)

    def _place_waiting(self) -> None:
        """Prose has come: headings that wait have their text, but for those of a table of contents."""
        for heading in self._waiting:
            if not heading.listed:
                while self._open and self._open[-1] >= heading.rank:
                    self._open.pop()
                self._open.append(heading.rank)
                self._found.append(Heading(heading.title, len(self._open), heading.start))
        self._waiting.clear()


def _candidate(line: str, start: int) -> _Candidate | None:
    """What a line may be the heading of, without what stands around it."""
    named = _NAMED.fullmatch(line)
    if named:
        name, number, after = named.groups()
        rest = _REST.fullmatch(after)
        if rest is None or name[0].islower() or (number.isalpha() and number[0].islower()):
            return None
        known = number_of(number)
        if known is None and number.lower() != "last":
            return None
        has_title = rest["set_off"] is not None or rest["title"] is not None
        return _Candidate(" ".join(line.split()), _RANK[name.lower()], known, start, has_title)
    bare = line.rstrip(".:")
    if bare.lower() in _UNNUMBERED and (bare.isupper() or bare.istitle()):
        return _Candidate(bare, _CHAPTER, None, start, has_title=True)
    alone = _ALONE.fullmatch(line)
    number_alone = number_of(alone[1]) if alone else None
    return None if number_alone is None else _Candidate(line, _NUMERAL, number_alone, start, has_title=False)
