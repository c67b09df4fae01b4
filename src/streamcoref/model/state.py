"""The whole state of a text being read, as one value: save it, move it, go on elsewhere with the same result."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from streamcoref.errors import StreamcorefError
from streamcoref.model.memory import EntityMemory
from streamcoref.model.segments import Segment
from streamcoref.model.text_context import TextContext

VERSION = 2
HEADER = {"version", "next_id", "pieces", "words", "sentences", "texts"}


@dataclass
class State:
    """The entities alive, and how far the text has been read: pieces (special ones counted), words, sentences."""

    memory: EntityMemory
    pieces: int = 0
    words: int = 0
    sentences: int = 0

    def advance(self, segment: Segment) -> None:
        """Note that a segment has been read."""
        self.pieces = segment.end
        self.words = segment.first_word + len(segment.words)
        self.sentences = int(segment.sentence_of_piece[-1]) + 1

    def to_bytes(self) -> bytes:
        memory = self.memory
        arrays = {name: getattr(memory, name)[: len(memory)] for name in EntityMemory._ARRAYS}
        tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in arrays.items()}
        tensors["rows"] = memory.rows[: len(memory)].cpu().contiguous()
        header = {
            "version": VERSION,
            "next_id": memory.next_id,
            "pieces": self.pieces,
            "words": self.words,
            "sentences": self.sentences,
            "texts": [[asdict(text) for text in texts] for texts in memory.texts],
        }
        tensors["header"] = torch.frombuffer(bytearray(json.dumps(header).encode()), dtype=torch.uint8)
        data: bytes = save(tensors)
        return data

    @classmethod
    def from_bytes(cls, data: bytes, row_size: int, device: torch.device | str = "cpu") -> State:
        """The state that was saved, checked against the row size of the model that is to go on with it."""
        damaged = "this is not a saved streamcoref state, or it is damaged"
        try:
            tensors = load(data)
            header = json.loads(tensors.pop("header").numpy().tobytes())
            rows = tensors.pop("rows")
            complete = header.keys() >= HEADER and tensors.keys() == set(EntityMemory._ARRAYS)
        except (SafetensorError, KeyError, ValueError, AttributeError) as error:
            raise StreamcorefError(damaged) from error
        if not complete or any(len(tensor) != len(rows) for tensor in tensors.values()):
            raise StreamcorefError(damaged)
        if header["version"] != VERSION:
            raise StreamcorefError(f"the state has version {header['version']}, this release reads version {VERSION}")
        if rows.shape[1] != row_size:
            raise StreamcorefError(
                f"the state was saved by another model: its entities have {rows.shape[1]} numbers, not {row_size}"
            )
        memory = EntityMemory(row_size, device)
        memory.reserve(len(rows))
        memory.count, memory.next_id = len(rows), header["next_id"]
        memory.rows[: len(rows)] = rows.to(device)
        for name, tensor in tensors.items():
            array: np.ndarray[tuple[int, ...], np.dtype[np.generic]] = getattr(memory, name)
            array[: len(rows)] = tensor.numpy()
        memory.texts = [
            tuple(TextContext(tuple(t["words"]), t["start"], t["end"]) for t in texts) for texts in header["texts"]
        ]
        return cls(memory, header["pieces"], header["words"], header["sentences"])

    def save(self, path: str | Path) -> None:
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | Path, row_size: int, device: torch.device | str = "cpu") -> State:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            raise StreamcorefError(f"cannot read the state {path}: {error.strerror}") from error
        return cls.from_bytes(data, row_size, device)
