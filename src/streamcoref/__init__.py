"""Coreference resolution for text of any length, in constant memory."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamcoref.document import Document, Entity, Mention
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.events import EntityFinished, EntityStarted, Event, MentionLinked

if TYPE_CHECKING:
    from streamcoref.resolver import Resolver, load
    from streamcoref.stream import Stream

__version__ = "0.1.0"
__all__ = [
    "Document",
    "Entity",
    "EntityFinished",
    "EntityStarted",
    "Event",
    "InputError",
    "Mention",
    "MentionLinked",
    "Resolver",
    "Stream",
    "StreamcorefError",
    "__version__",
    "load",
]

# These import torch, which takes seconds: not before somebody wants them.
_LAZY = {"Resolver": "streamcoref.resolver", "Stream": "streamcoref.stream", "load": "streamcoref.resolver"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
