"""How one text is read, and what each of its segments brings."""

from __future__ import annotations

from dataclasses import dataclass, field

from streamcoref.document import Span
from streamcoref.model.evict import EvictionPolicy
from streamcoref.model.features import FeatureIndex
from streamcoref.model.memory import EntityRecord
from streamcoref.model.merging import Merge
from streamcoref.model.notes import Notes
from streamcoref.model.pair_score import FeatureTables
from streamcoref.model.spans import SegmentSpans
from streamcoref.model.turns import SpokenQuotation


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """What is the same for all segments of a text. It is never changed: any number of texts may share one.

    The model knows nothing of it: who reads chooses scheme, genre and eviction policy.
    """

    scheme: int
    tables: FeatureTables
    index: FeatureIndex
    evict: EvictionPolicy
    merge: int = 0  # how often two entities must have been called by one name to be merged; 0: they never are
    revive: int = 0  # places for entities that left the memory and come back when they are named; 0: nobody does


@dataclass(frozen=True, slots=True)
class Link:
    """One decision: a span joins an entity, or starts one.

    A new entity has the score 0; `probability` is the decision's share of the softmax. `share` is how much of the
    entity's vector the span is when it has joined: all of it, if it is new. `types` is how likely each of the model's
    types is for the span, where it has some.
    """

    span: Span  # end-exclusive words of the text
    entity: int
    is_new: bool
    score: float
    probability: float
    mention_score: float
    share: float
    types: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class SegmentResult:
    """What a segment brought: a link for each of its spans, in order, and the entities that are let go for good.

    `alive` counts the entities before these went. A whole-document model has one result for all segments, and holds no
    entities: there `alive` is None. Links stand in the order in which they were decided, as the spans do, and `notes`
    are what was known of these. `quotations` are those of which no more will be known. Who `came_back` from the
    register stands here as they were there; `laid_by` are the numbers of those who went there.
    """

    spans: list[SegmentSpans]
    links: list[Link]
    evicted: list[EntityRecord] = field(default_factory=list)
    alive: int | None = None
    notes: Notes | None = None
    quotations: list[SpokenQuotation] = field(default_factory=list)
    merged: list[Merge] = field(default_factory=list)
    came_back: list[EntityRecord] = field(default_factory=list)
    laid_by: list[int] = field(default_factory=list)
