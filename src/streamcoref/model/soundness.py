"""Whether entities that were saved, and may have been changed by anybody, can be those of a text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor

from streamcoref.checked import Count, Options, Text
from streamcoref.model.notes import Array, Notes
from streamcoref.model.text_context import TextContext

if TYPE_CHECKING:
    from streamcoref.model.memory import EntityMemory

_LARGEST = 1e15  # of any number of an entity: what is computed with it stays finite


class Extent(NamedTuple):
    """How much of a text has been read."""

    entities: int  # that were started
    pieces: int
    before: int  # pieces of earlier passes


class SavedText(Options):
    words: list[Text]
    start: Count
    end: Count

    def context(self) -> TextContext:
        return TextContext(tuple(self.words), self.start, self.end)


def are_sound(
    memory: EntityMemory,
    read: Extent,
    rows: Tensor,
    columns: Mapping[str, Array],
    saved_texts: Sequence[Sequence[SavedText]],
) -> bool:
    """Whether these can be entities, laid out as those of a memory, of a text of which so much has been read."""
    ids, sizes, starts, places = (columns[name] for name in ("id", "size", "start", "place"))
    if rows.dtype != torch.float32 or not bool((rows.abs() <= _LARGEST).all()):  # nor is any of them NaN
        return False
    if not bool(((ids >= 0) & (ids < read.entities)).all()) or len(np.unique(ids)) < len(ids):
        return False
    if not bool(
        ((sizes >= 1) & (sizes <= read.pieces + read.before)).all() and (np.abs(columns["score"]) <= _LARGEST).all()
    ):
        return False
    if not bool(((starts >= 0) & (places >= 2 * starts) & (places <= 2 * read.pieces)).all()):
        return False
    if len(saved_texts) != (len(ids) if memory.contexts else 0):
        return False
    for texts, size in zip(saved_texts, sizes.tolist(), strict=False):
        if len(texts) != min(size, memory.contexts) or any(not x.start < x.end <= len(x.words) for x in texts):
            return False
    return all(feature.is_sound(Notes(dict(columns))) for feature in memory.features)
