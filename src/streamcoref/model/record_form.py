"""Records of entities as bytes: numbers of fixed size, then, for scorers that read text, the latest mentions.

A state has the entities of a memory column by column (`model/state.py`); here each one stands alone.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
import torch
from pydantic import TypeAdapter, ValidationError
from torch import Tensor

from streamcoref.model.arrays import numbers
from streamcoref.model.memory import EntityMemory, EntityRecord
from streamcoref.model.notes import Notes
from streamcoref.model.soundness import Extent, SavedText, are_sound

_TEXTS = TypeAdapter(list[SavedText])


@dataclass(frozen=True, slots=True, eq=False)
class EntityRecords:
    """Of n entities."""

    rows: Tensor  # [n, row size]
    notes: Notes  # [n]
    texts: list[list[SavedText]]  # [n], or none if the scorer does not read text

    def at(self, place: int) -> EntityRecord:
        texts = tuple(text.context() for text in self.texts[place]) if self.texts else ()
        return EntityRecord(int(self.notes["id"][place]), self.rows[place], self.notes.values([place])[0], texts)


class RecordForm:
    """Of the entities of one model; `memory` shows how they are laid out."""

    def __init__(self, memory: EntityMemory) -> None:
        self._memory = memory
        notes = [(name, one.dtype.newbyteorder("<"), one.shape[1:]) for name, one in memory.notes.columns.items()]
        self._kind = np.dtype([("notes", np.dtype(notes)), ("row", "<f4", (memory.rows.shape[1],))])

    def pack(self, record: EntityRecord) -> bytes:
        values = np.zeros(1, dtype=self._kind)
        for name in self._memory.notes.columns:
            values["notes"][name][0] = record.notes[name]
        values["row"][0] = numbers(record.row)
        said = json.dumps([asdict(text) for text in record.texts], ensure_ascii=False) if self._memory.contexts else ""
        return values.tobytes() + said.encode("utf-8", "surrogatepass")

    def unpack(self, packed: Sequence[object], read: Extent | None = None) -> EntityRecords | None:
        """What was packed; None if it cannot be that, of a text of which so much has been `read`, if this is given."""
        size, contexts = self._kind.itemsize, self._memory.contexts
        if not all(isinstance(one, bytes) and len(one) >= size and (contexts or len(one) == size) for one in packed):
            return None
        parts = [bytes(one) for one in packed if isinstance(one, bytes)]
        values = np.frombuffer(b"".join(part[:size] for part in parts), dtype=self._kind)
        texts: list[list[SavedText]] = []
        if contexts:
            try:
                texts = [
                    _TEXTS.validate_python(json.loads(part[size:].decode("utf-8", "surrogatepass"))) for part in parts
                ]
            except (ValueError, ValidationError, RecursionError):
                return None
        notes = Notes({name: values["notes"][name] for name in self._memory.notes.columns})
        rows = torch.from_numpy(values["row"].astype(np.float32))
        if read is not None and not are_sound(self._memory, read, rows, notes.columns, texts):
            return None
        return EntityRecords(rows, notes, texts)
