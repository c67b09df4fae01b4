"""Words and sentences of a text that comes in chunks: the same ones however it is cut, and only a window is held."""

from __future__ import annotations

from typing import Any, NamedTuple

from streamcoref.document import Span
from streamcoref.text.sentences import LONGEST_GAP, LOOK_AHEAD, SentenceEnds
from streamcoref.text.words import BLANK_LOOK_AHEAD, HORIZON, is_blank, split_words

# New characters that are worth another look at the window, so that single ones do not each cost a pass over it.
STEP = 64
MOST_LINE_ENDS = 2  # that are counted between two words: more of them tell no more


class Split(NamedTuple):
    """Finished words: nothing that comes later changes them, or whether a sentence ends behind them.

    All spans count from the beginning of `text`, a window of the whole text that stands there at `begin`.
    """

    text: str
    begin: int
    words: list[Span]
    ends: list[int]  # after how many of these words a sentence ends
    previous_end: int  # where the word before the first of these ends
    line_ends: int  # between that word and the window, if it lies before it


class TextSplitter:
    """Fed with chunks, gives words as soon as they are certain.

    It holds the words whose sentence is undecided, at most LOOK_AHEAD and one before, and the text from there on:
    some thousand characters at most, whatever comes. What it holds can be saved as plain values.
    """

    def __init__(self) -> None:
        self._window = ""
        self._begin = 0  # of the window, in characters of the whole text
        self._scanned = 0  # up to where the window has been searched for words
        self._words: list[Span] = []  # of the window; those before `_decided` are finished
        self._decided = 0
        self._new: list[str] = []  # chunks that are not in the window yet
        self._new_length = 0
        self._line_ends = 0  # behind the last word and before the window
        self._sentences = SentenceEnds()

    @property
    def position(self) -> int:
        """The number of characters that came so far."""
        return self._begin + len(self._window) + self._new_length

    def read(self, chunk: str, final: bool = False) -> Split:
        """The words that this chunk finishes. `final` ends the word and the sentence here; more may follow."""
        self._new.append(chunk)
        self._new_length += len(chunk)
        if not final and self._new_length < max(STEP, len(self._window) - self._scanned):
            return Split("", self._begin, [], [], 0, 0)
        self._window += "".join(self._new)
        self._new, self._new_length = [], 0
        self._find_words(len(self._window) if final else self._certain())
        # Behind so long a gap a sentence begins anyway.
        gap = self._scanned - (self._words[-1][1] if self._words else 0)
        return self._finish(final or gap > LONGEST_GAP)

    def _certain(self) -> int:
        """Up to where words may begin that later text cannot change."""
        window = self._window
        lowest = max(self._scanned, len(window) - HORIZON)
        limit = len(window) - BLANK_LOOK_AHEAD
        while limit > lowest and not is_blank(window[limit]):
            limit -= 1
        return max(limit, lowest)

    def _find_words(self, limit: int) -> None:
        words, scanned = split_words(self._window, self._scanned, limit)
        self._words = self._words + words if self._words else words
        self._scanned = max(scanned, limit)

    def _finish(self, final: bool) -> Split:
        window, words, first = self._window, self._words, self._decided
        last = len(words) if final else max(first, len(words) - LOOK_AHEAD)
        ends = [end - first for end in self._sentences.find(window, words, first, last)]
        previous_end = words[first - 1][1] if first else 0
        finished = words[first:last] if first or last < len(words) else words
        split = Split(window, self._begin, finished, ends, previous_end, self._line_ends)
        self._keep_from(last, final)
        return split

    def _keep_from(self, decided: int, final: bool) -> None:
        """Forget what lies before the last finished word; all of it if nothing refers back to it."""
        if final or not self._words:
            cut, kept, behind = self._scanned, [], self._words[-1][1] if self._words else 0
        else:
            first = max(decided - 1, 0)
            cut, kept, behind = self._words[first][0], self._words[first:], 0
            decided -= first
        before = 0 if decided else self._line_ends  # a finished word is behind all that were counted
        self._line_ends = 0 if kept and decided else min(before + self._window.count("\n", behind, cut), MOST_LINE_ENDS)
        self._window = self._window[cut:]
        self._begin += cut
        self._scanned -= cut
        self._words = [(start - cut, end - cut) for start, end in kept]
        self._decided = decided if kept else 0

    def to_values(self) -> dict[str, Any]:
        """Everything it holds, as JSON has it."""
        return {
            "window": self._window + "".join(self._new),
            "new": self._new_length,
            "begin": self._begin,
            "scanned": self._scanned,
            "words": self._words,
            "decided": self._decided,
            "line_ends": self._line_ends,
            "sentence": [self._sentences.length, self._sentences.stop, sorted(self._sentences.opened)],
        }

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> TextSplitter:
        splitter = cls()
        window, new = values["window"], values["new"]
        splitter._window, splitter._new = window[: len(window) - new], [window[len(window) - new :]]
        splitter._new_length = new
        splitter._begin, splitter._scanned = values["begin"], values["scanned"]
        splitter._words = [(start, end) for start, end in values["words"]]
        splitter._decided, splitter._line_ends = values["decided"], values["line_ends"]
        length, stop, opened = values["sentence"]
        splitter._sentences = SentenceEnds(length, stop, set(opened))
        return splitter
