"""The whole state of a text being read, as one value: save it, move it, go on elsewhere with the same result."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import numpy as np
import torch
from pydantic import Field, StrictBool, ValidationError
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

from streamcoref.checked import Count, Options, Positive
from streamcoref.errors import StreamcorefError
from streamcoref.model.conversation import MOST_ANSWERS, MOST_PENDING, Conversation
from streamcoref.model.memory import EntityMemory
from streamcoref.model.register import Register
from streamcoref.model.segments import Segment
from streamcoref.model.soundness import Extent, SavedText, are_sound
from streamcoref.model.turns import MOST_TURNS, NOBODY, Way

VERSION = 5
_REGISTER = "register."  # before the names of what is saved of those who may come back
_DAMAGED = "this is not a saved streamcoref state, or it is damaged"


@dataclass
class State:
    """The entities alive, those that may come back, who speaks, and how much has been read, in pieces (special ones
    counted) and in words."""

    memory: EntityMemory
    register: Register
    conversation: Conversation = field(default_factory=Conversation)
    pieces: int = 0
    words: int = 0
    before: int = 0  # pieces of earlier passes, if the text is being read once more

    @property
    def read(self) -> Extent:
        """How much of the text has been."""
        return Extent(self.memory.next_id, self.pieces, self.before)

    def advance(self, segment: Segment) -> None:
        """Note that a segment has been read."""
        self.pieces = segment.end
        self.words = segment.first_word + len(segment.words)

    def to_bytes(self) -> bytes:
        header: dict[str, Any] = {
            "version": VERSION,
            "next_id": self.memory.next_id,
            "pieces": self.pieces,
            "words": self.words,
            "before": self.before,
            "conversation": self.conversation.to_values(),
            "texts": _texts(self.memory),
            "register_texts": _texts(self.register.memory),
        }
        if (outside := self.register.to_values()) is not None:
            header["registered"] = outside
        tensors = _tensors(self.memory)
        if len(self.register.memory):
            tensors |= {_REGISTER + name: tensor for name, tensor in _tensors(self.register.memory).items()}
        tensors["header"] = torch.frombuffer(bytearray(json.dumps(header).encode()), dtype=torch.uint8)
        data: bytes = save(tensors)
        return data

    def restore(self, data: bytes) -> None:
        """Become what was saved; this state, a new one of the model that is to go on, says what must be there.

        Whatever can be known of a memory that was not changed since is checked.
        """
        try:
            tensors = load(data)
            values = json.loads(tensors.pop("header").numpy().tobytes())
            version = values["version"]
        except (SafetensorError, KeyError, ValueError, AttributeError, TypeError, RecursionError) as error:
            raise StreamcorefError(_DAMAGED) from error
        if version != VERSION:
            raise StreamcorefError(f"the state has version {str(version)[:20]}, this release reads version {VERSION}")
        try:
            header = SavedMemory.model_validate(values)
        except ValidationError as error:
            raise StreamcorefError(_DAMAGED) from error
        dormant = {
            name.removeprefix(_REGISTER): tensors.pop(name) for name in list(tensors) if name.startswith(_REGISTER)
        }
        _fill(self.memory, tensors, header, header.texts)
        if dormant:
            _fill(self.register.memory, dormant, header, header.register_texts)
        self.register.check_values(header.registered)
        if self.register.known(set(self.memory.ids.tolist())):
            raise StreamcorefError(_DAMAGED)
        self.conversation = Conversation.from_values(header.conversation.model_dump())
        if not self.conversation.is_sound(header.words, header.next_id):
            raise StreamcorefError(_DAMAGED)
        self.pieces, self.words, self.before = header.pieces, header.words, header.before


def _texts(memory: EntityMemory) -> list[list[dict[str, Any]]]:
    return [[asdict(text) for text in texts] for texts in memory.texts]


def _tensors(memory: EntityMemory) -> dict[str, Tensor]:
    """Rows and notes of the entities."""
    notes = memory.notes.at(slice(0, len(memory)))
    tensors = {name: torch.from_numpy(np.ascontiguousarray(array)) for name, array in notes.columns.items()}
    return {**tensors, "rows": memory.rows[: len(memory)].cpu().contiguous()}


def _fill(
    memory: EntityMemory, tensors: dict[str, Tensor], header: SavedMemory, saved_texts: list[list[SavedText]]
) -> None:
    """Put saved entities into an empty memory, if that can be them."""
    rows = tensors.pop("rows", None)
    try:
        columns = {name: tensor.numpy() for name, tensor in tensors.items()}
    except TypeError as error:  # a type that numpy has not
        raise StreamcorefError(_DAMAGED) from error
    if rows is None or rows.dim() != 2 or any(len(column) != len(rows) for column in columns.values()):
        raise StreamcorefError(_DAMAGED)
    if rows.shape[1] != memory.rows.shape[1]:
        raise StreamcorefError(
            f"the state was saved by another model: its entities have {rows.shape[1]} numbers, "
            f"not {memory.rows.shape[1]}"
        )
    if not memory.notes.same_columns(columns):
        raise StreamcorefError("the state was saved by another model: other things are noted of its entities")
    if not are_sound(memory, Extent(header.next_id, header.pieces, header.before), rows, columns, saved_texts):
        raise StreamcorefError(_DAMAGED)
    memory.reserve(len(rows))
    memory.count, memory.next_id = len(rows), header.next_id
    memory.rows[: len(rows)] = rows.to(memory.rows.device)
    for name, column in columns.items():
        memory.notes[name][: len(rows)] = column
    memory.texts = [tuple(text.context() for text in texts) for texts in saved_texts]


Numbered = Annotated[int, Field(strict=True, ge=NOBODY, le=1 << 48)]  # an entity, or nobody


class SavedTurn(Options):
    number: Positive
    first_paragraph: Count
    last_paragraph: Count
    end: Count
    gap: Count
    speaker: Numbered
    addressee: Numbered
    way: Way
    score: Annotated[float, Field(ge=0, le=1)]
    heard: Annotated[float, Field(ge=0, le=1)]
    named: StrictBool
    called: Numbered
    pending: Annotated[list[tuple[Count, Count, Count | None, Count | None]], Field(max_length=MOST_PENDING)]
    own: Annotated[
        list[tuple[Count, Count]], Field(default_factory=list, max_length=MOST_PENDING + 1)
    ]  # and one before


class SavedConversation(Options):
    paragraph: Count
    latest: Count
    answers: Annotated[list[tuple[Count, Count, Positive]], Field(max_length=MOST_ANSWERS)]
    turns: Annotated[list[SavedTurn], Field(max_length=MOST_TURNS)]


class SavedMemory(Options):
    """What stands beside the arrays."""

    version: Count
    next_id: Count
    pieces: Count
    words: Count
    before: Count
    texts: list[list[SavedText]]
    register_texts: list[list[SavedText]]
    conversation: SavedConversation
    registered: tuple[Count, Count] | None = None  # what a register says that is elsewhere
