"""What all texts of one `streamcoref resolve` have in common."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver

# Takes the error of one text: reports it, or raises it if that text was the only one.
Refuse = Callable[[StreamcorefError], None]


@dataclass(frozen=True, slots=True)
class ResolveJob:
    """The model, as the user named it and as it was loaded, the resolver's options, and how to read and write."""

    model: str
    resolver: Resolver
    options: dict[str, Any]
    encoding: str
    errors: str
    force: bool
