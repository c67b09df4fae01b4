"""What follows a text word by word, and says one number of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Protocol

if TYPE_CHECKING:
    from streamcoref.model.words import Word


class WordTracker(Protocol):
    """It remembers a few values, however long the text is, and reads it in parts as it reads it at once."""

    name: ClassVar[str]  # under which a segment has its numbers, and a saved stream its values

    def read(self, words: Sequence[Word]) -> list[int]:
        """The numbers of the next words."""

    def to_values(self) -> list[int | str]:
        """All that it remembers."""

    def restore(self, values: Sequence[int | str]) -> None:
        """Go on where `to_values` was asked, in another process perhaps."""
