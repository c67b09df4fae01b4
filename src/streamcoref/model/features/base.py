"""What a pair feature is to the rest of the model."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import BeforeValidator, SerializeAsAny

from streamcoref.model.notes import Array, Notes
from streamcoref.model.parts import PartOptions, Surroundings

if TYPE_CHECKING:
    from streamcoref.language.trackers import WordTracker
    from streamcoref.model.conversation import Conversation
    from streamcoref.model.spans import SegmentSpans
    from streamcoref.model.turns import Expected

NO_COLUMNS = np.dtype([])


@dataclass(frozen=True, slots=True)
class TextLabels:
    """What is the same for all pairs of a text: its genre and scheme, as numbers, and what spans are compared with."""

    genre: int
    scheme: int
    against: Literal["entities", "mentions"]


class Fixed(NamedTuple):
    """The one value that a feature has in a whole text; None is an embedding of zeros."""

    bucket: int | None


class Beginning(NamedTuple):
    """A value of a feature is at first what another one has learnt to be, and scores so much more than that."""

    like: int
    more: float


class PairFeature(ABC):
    """One thing that a span and an entity are compared by: one of `buckets` numbers, each with an embedding.

    A feature owns its columns: `span_columns` are what it notes of a span, `entity_columns` what it keeps of an entity,
    of fixed size however many mentions there are. It reads the first (`read`), notes a mention in the second (`note`)
    and compares the two (`compare`). Memory, saved states, training and the whole-document baseline go over the columns
    of the features that a model has and know nothing else of them. Where a column's name is another feature's, it is
    called otherwise.
    """

    name: str
    buckets: int
    # How the values begin that no two mentions have, but a mention and an entity: what a baseline has not learnt.
    beginnings: Mapping[int, Beginning] = MappingProxyType({})
    # Values that speak against a pair, each with how clearly, up to 1: what a bundled model's conflicts cost more.
    conflicts: Mapping[int, float] = MappingProxyType({})
    span_columns: np.dtype[Any] = NO_COLUMNS
    entity_columns: np.dtype[Any] = NO_COLUMNS

    def trackers(self) -> list[WordTracker]:
        """What has to follow the text word by word for it; `read` finds their numbers in `spans.segment.tracks`."""
        return []

    def fixed(self, text: TextLabels) -> Fixed | None:
        """Its value, if it is the same for all pairs of a text; None if it varies."""
        return None

    def read(self, spans: SegmentSpans) -> dict[str, Array]:
        """Its columns of a segment's k spans, [k, ...] each."""
        return {}

    def waits(self, spans: SegmentSpans) -> list[bool]:
        """Which of a segment's k spans are decided last, since it must be known before who speaks; none if empty."""
        return []

    def expect(self, notes: Notes, span: int, expected: Expected) -> None:  # noqa: B027
        """Fill in its columns of a span that tells who speaks, now that it is to be decided."""

    def settle(self, spans: SegmentSpans, notes: Notes, conversation: Conversation) -> None:  # noqa: B027
        """Fill in its columns of the spans that wait, now that it is known who speaks."""

    def note(self, entities: Notes, slot: int, spans: Notes, span: int) -> None:  # noqa: B027
        """Remember, in an entity's columns, that a span is a mention of it; its columns are all 0 before the first.

        The entity's own columns (`notes.ENTITY`) are up to date when this is called.
        """

    def merge(self, entities: Notes, kept: int, gone: int) -> None:  # noqa: B027
        """Add what is known of one entity to another, since they are the same."""

    def begin_again(self, entities: Notes, slot: int) -> None:  # noqa: B027
        """Forget of an entity what depends on the place in the text: it is read once more."""

    def is_sound(self, entities: Notes) -> bool:
        """Whether an entity's columns, which were saved and may have been changed, can be what `note` wrote.

        To be said where `compare` would fail otherwise.
        """
        return True

    @abstractmethod
    def compare(self, spans: Notes, entities: Notes) -> Array | int:
        """The bucket of each pair, which may be whether, or one number for all of them.

        The columns' first dimensions broadcast: one span [] against entities [n], k spans [k, 1] against entities [n]
        or each against entities of its own, [k, c].
        """


class FeatureOptions(PartOptions):
    """Options of a pair feature; a config may give just its name."""

    kinds: ClassVar[dict[str, type[Any]]]

    @abstractmethod
    def build(self, around: Surroundings) -> PairFeature: ...


def _by_name(value: Any) -> Any:
    return FeatureOptions.choose({"name": value} if isinstance(value, str) else value)


AnyFeature = Annotated[SerializeAsAny[FeatureOptions], BeforeValidator(_by_name)]
