"""What is told while a text is read, and how a job that reads one is asked to stop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How far a text has been read: its characters so far, and in all if that is known, the words that the model has
    read, and the entities alive. Of a document without a text, words are counted instead of characters."""

    characters: int
    characters_in_all: int | None
    words: int
    entities: int


OnProgress = Callable[[ReadingProgress], None]
ShouldStop = Callable[[], bool]


class Stopping:
    """The caller's `should_stop`, asked in several places. What it said last is kept, so that all act on one answer."""

    def __init__(self, should_stop: ShouldStop | None) -> None:
        self.stopped = False
        self._should_stop = should_stop

    def ask(self) -> bool:
        self.stopped = self._should_stop is not None and bool(self._should_stop())
        return self.stopped
