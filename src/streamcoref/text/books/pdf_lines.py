"""Lines of printed pages as running text: words that were broken are whole, and paragraphs are parted."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from streamcoref.text.books.book import without_no_text
from streamcoref.text.books.running_lines import blank_running_lines

_PARAGRAPH = "\n\n"
_MOST_EMPTY = 1.6  # lines for each that has text: if there are more, most lines have an empty one behind them
_BROKEN = re.compile(r"([^\W\d_]+)(-|\xad|‐)\Z")
_GOES_ON = re.compile(r"([^\W\d_]+)")
_ENDS = re.compile(r"[.!?…:][\"'”’»)\]]*\Z")  # what the last line of a paragraph ends with
_SHORT = 0.85  # of a usual line: the last line of a paragraph seldom is full
_USUAL = 0.75  # the quantile of lengths that a full line has
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def joined_pages(pages: Sequence[str]) -> tuple[str, list[int]]:
    """The text, and where each page starts in it; paragraphs whose ends can be seen are parted by blank lines."""
    lines = [[line.strip() for line in without_no_text(page).split("\n")] for page in pages]
    blank_running_lines(lines)
    lines = [_trimmed(page) for page in lines]
    width = _usual_width(lines)
    words = Counter(word for page in lines for line in page for word in _WORD.findall(line.casefold()))
    parts: list[str] = []
    length = 0
    starts: list[int] = []
    last = ""  # the line before; a paragraph may go on from page to page
    for page in lines:
        starts.append(-1)
        for line in page:
            if line:
                gap, dropped = _gap(last, line, width, words) if last else (_PARAGRAPH if parts else "", 0)
                if dropped:
                    parts[-1] = parts[-1][:-dropped]
                parts += (gap, line)
                length += len(gap) - dropped
                starts[-1] = length if starts[-1] == -1 else starts[-1]
                length += len(line)
            last = line
    end = length
    for number in reversed(range(len(starts))):  # an empty page starts where the next one does
        end = starts[number] = end if starts[number] == -1 else starts[number]
    return "".join(parts), starts


def _gap(last: str, line: str, width: int, words: Counter[str]) -> tuple[str, int]:
    """What stands between two lines of text, and how many characters of the first one go."""
    broken, on = _BROKEN.search(last), _GOES_ON.match(line)
    if broken and on and on[1][0].islower():
        first, second = broken[1].casefold(), on[1].casefold()
        # The book itself knows how it writes the word; one that stands nowhere else was broken by its printer.
        with_hyphen = broken[2] == "-" and words[f"{first}-{second}"] > words[first + second]
        return "", 0 if with_hyphen else 1
    is_last = bool(_ENDS.search(last)) and len(last) < _SHORT * width and not line[0].islower()
    return (_PARAGRAPH if is_last else "\n"), 0


def _trimmed(page: list[str]) -> list[str]:
    """Without empty lines at its edges; and without any, if there is one behind every line and they say nothing."""
    filled = [number for number, line in enumerate(page) if line]
    if not filled:
        return []
    inner = page[filled[0] : filled[-1] + 1]
    return [line for line in inner if line] if len(inner) > _MOST_EMPTY * len(filled) else inner


def _usual_width(pages: list[list[str]]) -> int:
    lengths = sorted(len(line) for page in pages for line in page if line)
    return lengths[int(_USUAL * (len(lengths) - 1))] if lengths else 0
