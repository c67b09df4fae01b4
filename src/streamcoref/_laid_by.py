"""What is remembered of entities that left the memory for a store, and may come back: it lies there beside them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Protocol, runtime_checkable

from pydantic import TypeAdapter, ValidationError

from streamcoref._saved_stream import SavedEntity, check_mention
from streamcoref._tracking import Tracked
from streamcoref.errors import StreamcorefError
from streamcoref.model.memory import EntityRecord

_ENTITY: TypeAdapter[SavedEntity] = TypeAdapter(SavedEntity)
_ANYWHERE = 1 << 48  # characters: of those of a mention it is only known that they are its own


class Laid(Protocol):
    """An entity with what lies beside it."""

    @property
    def record(self) -> EntityRecord: ...

    @property
    def tracked(self) -> bytes | None: ...


@runtime_checkable
class Shelf(Protocol):
    """A register that keeps bytes beside its entities, as that of a store does."""

    def tracked(self, entity: int) -> bytes | None:
        """What lies beside one that the latest segment has called."""

    def lay(self, tracked: Mapping[int, bytes]) -> None:
        """Keep this beside entities that are there."""

    def all_tracked(self) -> Iterator[Laid]:
        """Everybody who has something beside them, in the order of their numbers."""

    def damaged(self) -> StreamcorefError:
        """What to raise if that is not what was laid there."""


class LaidBy:
    """Puts what is remembered of entities on a shelf, and takes it from there, checked: it may have been changed."""

    def __init__(self, shelf: Shelf) -> None:
        self._shelf = shelf

    def put(self, entities: Mapping[int, Tracked]) -> None:
        self._shelf.lay({number: _packed(entity) for number, entity in entities.items()})

    def take(self, record: EntityRecord, words: int) -> Tracked | None:
        """Of one that has come back when so many words have been read; None if it has never been in the answer."""
        packed = self._shelf.tracked(record.id)
        return None if packed is None else self._unpacked(record, packed, words)

    def rest(self, words: int) -> Iterator[tuple[int, Tracked]]:
        """Of all who are still there, by their numbers, in order."""
        for laid in self._shelf.all_tracked():
            if laid.tracked is not None:
                yield laid.record.id, self._unpacked(laid.record, laid.tracked, words)

    def damaged(self) -> StreamcorefError:
        return self._shelf.damaged()

    def _unpacked(self, record: EntityRecord, packed: bytes, words: int) -> Tracked:
        try:
            values = _ENTITY.validate_python(json.loads(packed.decode("utf-8", "surrogatepass")))
            entity = Tracked.from_values(values)
            for mention in (entity.first, entity.last):
                check_mention(mention, words, _ANYWHERE)
        except (ValueError, ValidationError, RecursionError):
            raise self.damaged() from None
        if not (entity.size <= record.notes["size"] and entity.first_score <= record.notes["score"]):
            raise self.damaged()
        return entity


def _packed(entity: Tracked) -> bytes:
    # Halves of characters stay halves: see `pack_state`.
    return json.dumps(entity.to_values(), separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
