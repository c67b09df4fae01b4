"""What a caller may choose when a text is resolved: one set for Python, the command line and saved states alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import Field, StrictBool, ValidationError

from streamcoref.checked import Options, describe_mistakes
from streamcoref.errors import StreamcorefError
from streamcoref.model.evict import AnyEviction

if TYPE_CHECKING:
    from streamcoref.model.config import ModelConfig


MOST_REGISTERED = 1 << 20  # entities: some GB


class ResolveOptions(Options):
    """A stream keeps to them from its beginning to its end.

    - `singletons`: answer with entities that are mentioned once, too
    - `min_score`: leave out mentions whose decision is less probable
    - `scheme`: the annotation scheme to follow, one of the model's; None is its first
    - `genre`: of the text, one of the model's
    - `evict`: an eviction policy as `two_distances:singleton=600,cluster=1200`, or as the table of a config; None is
      the model's own
    - `merge`: entities that have been called by one name at least so often, each, become one; 0 never, as in the
      paper; None is the model's own
    - `revive`: places for entities with a name that left the memory: when the name is said again they come back; 0
      none, as in the paper; in a store any other number is a place for everybody; None is the model's own
    - `passes`: 2 reads a text twice, first to learn who is in it, for whom it takes a model that revives; a stream is
      read once
    """

    singletons: StrictBool = False
    min_score: float = Field(default=0.0, ge=0, le=1)
    scheme: str | None = None
    genre: str | None = None
    evict: AnyEviction | None = None
    merge: Annotated[int, Field(strict=True, ge=0)] | None = None
    revive: Annotated[int, Field(strict=True, ge=0, le=MOST_REGISTERED)] | None = None
    passes: Annotated[int, Field(strict=True, ge=1, le=2)] = 1

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Checked options; what is wrong is said in a sentence."""
        known = list(cls.model_fields)
        for name in values:
            if name not in known:
                raise StreamcorefError(f"there is no option {name!r}; the options are {', '.join(known)}")
        try:
            return cls.model_validate(dict(values))
        except ValidationError as error:
            raise StreamcorefError(describe_mistakes(error)) from None

    def check(self, config: ModelConfig) -> None:
        """Raise if a model of this config cannot do what is asked for."""
        for kind, chosen, names in (
            ("scheme", self.scheme, config.schemes),
            ("genre", self.genre, config.genres),
        ):
            if chosen is not None and chosen not in names:
                raise StreamcorefError(f"the model has no {kind} {chosen!r}; its {kind}s: {', '.join(names)}")
        revives = config.revive if self.revive is None else self.revive
        if self.passes > 1 and (config.kind == "baseline" or not revives):
            raise StreamcorefError(
                "to read a text twice takes a model that revives entities, or the option revive: places for them"
            )
        if self.evict is not None and config.kind == "baseline":
            raise StreamcorefError(
                "this model is a whole-document baseline, which holds no entities that could be evicted"
            )
