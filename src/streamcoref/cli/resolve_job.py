"""What all texts of one `streamcoref resolve` have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver


@dataclass(frozen=True, slots=True)
class Job:
    """The model, as the user named it and as it was loaded, the resolver's options, and how to read and write."""

    model: str
    resolver: Resolver
    options: dict[str, Any]
    encoding: str
    errors: str
    force: bool
