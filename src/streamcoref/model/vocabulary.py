"""Names that a model has an embedding for: genres and annotation schemes."""

from __future__ import annotations

from collections.abc import Sequence


def number_of(name: str | None, known: Sequence[str]) -> int:
    """The number of a name; an unknown one, or none, is the first, the model's default."""
    return known.index(name) if name is not None and name in known else 0
