"""What a corpus may say of a mention besides its entity: its type, its kind, whether it is new to the reader."""

from __future__ import annotations

from dataclasses import dataclass

TYPES = (
    "person",
    "place",
    "organization",
    "object",
    "event",
    "time",
    "abstract",
    "animal",
    "plant",
    "substance",
    "vehicle",
    "facility",
)
KINDS = ("PROP", "NOM", "PRON")  # names, noun phrases and pronouns, as LitBank calls them
STATUSES = ("new", "giv:act", "giv:inact", "acc:inf", "acc:com", "acc:aggr")  # as in GUM: new, given, accessible

# The types of corpora in ours. GUM has ten: its places may be buildings, and its objects ships. LitBank has ACE's six.
_OURS = {
    **{name: (name,) for name in TYPES},
    "place": ("place", "facility"),
    "object": ("object", "vehicle"),
    "PER": ("person",),
    "FAC": ("facility",),
    "GPE": ("place",),
    "LOC": ("place",),
    "VEH": ("vehicle",),
    "ORG": ("organization",),
}


@dataclass(frozen=True, slots=True)
class MentionLabels:
    """Gold labels of a mention, as far as its corpus has them.

    `types` has the type of its entity: one, or several of which one is right, where a corpus tells fewer apart than we
    do; the first is the name that the corpus gives it.
    """

    types: tuple[str, ...] = ()
    kind: str | None = None
    status: str | None = None

    @classmethod
    def of(cls, type: str = "", kind: str = "", status: str = "") -> MentionLabels:  # noqa: A002
        """Labels by the names of GUM and LitBank; a name that is neither's says nothing to us."""
        return cls(_OURS.get(type, ()), kind if kind in KINDS else None, status if status in STATUSES else None)

    def __bool__(self) -> bool:
        """Whether anything is known."""
        return bool(self.types or self.kind or self.status)
