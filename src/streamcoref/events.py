"""What a stream reports while it reads. Every mention of the answer is in exactly one event that starts or links."""

from __future__ import annotations

from dataclasses import dataclass

from streamcoref.document import Mention


@dataclass(frozen=True, slots=True)
class EntityStarted:
    """An entity and its first mention, reported as soon as the entity is sure to be in the answer."""

    entity: int
    mention: Mention


@dataclass(frozen=True, slots=True)
class MentionLinked:
    """A later mention of an entity that has started."""

    entity: int
    mention: Mention


@dataclass(frozen=True, slots=True)
class EntityFinished:
    """An entity that was evicted, or whose text has ended: nothing more will come for it. Each one started has one."""

    entity: int
    name: str
    size: int
    first: Mention
    last: Mention


Event = EntityStarted | MentionLinked | EntityFinished
