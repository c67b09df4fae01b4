"""Coreference resolution for text of any length, in constant memory."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from streamcoref._importing import no_collections
from streamcoref.document import Document, Entity, Mention, Quotation, Section
from streamcoref.errors import InputError, LanguageWarning, StoppedError, StreamcorefError
from streamcoref.events import EntitiesMerged, EntityFinished, EntityStarted, Event, MentionLinked, QuotationFound
from streamcoref.mention_labels import MentionLabels

if TYPE_CHECKING:
    from streamcoref.integrations.progress_bar import progress_bar
    from streamcoref.integrations.rendering import render
    from streamcoref.options import ResolveOptions
    from streamcoref.progress import ReadingProgress
    from streamcoref.resolver import Resolver, load, resolve_file
    from streamcoref.store import Store
    from streamcoref.stream import Stream

__version__ = "0.1.0"
__all__ = [
    "Document",
    "EntitiesMerged",
    "Entity",
    "EntityFinished",
    "EntityStarted",
    "Event",
    "InputError",
    "LanguageWarning",
    "Mention",
    "MentionLabels",
    "MentionLinked",
    "Quotation",
    "QuotationFound",
    "ReadingProgress",
    "ResolveOptions",
    "Resolver",
    "Section",
    "StoppedError",
    "Store",
    "Stream",
    "StreamcorefError",
    "__version__",
    "load",
    "progress_bar",
    "render",
    "resolve_file",
]

# These import torch, pydantic or SQLite, which takes time: not before somebody wants them.
_LAZY = {
    "ReadingProgress": "streamcoref.progress",
    "ResolveOptions": "streamcoref.options",
    "Resolver": "streamcoref.resolver",
    "Store": "streamcoref.store",
    "Stream": "streamcoref.stream",
    "load": "streamcoref.resolver",
    "progress_bar": "streamcoref.integrations.progress_bar",
    "render": "streamcoref.integrations.rendering",
    "resolve_file": "streamcoref.resolver",
}


def __getattr__(name: str) -> Any:
    if name == "ray":  # a module of ours, of an extra
        return import_module("streamcoref.ray")
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with no_collections():
        module = import_module(_LAZY[name])
    return getattr(module, name)


def __dir__() -> list[str]:
    """The public names and nothing else: not the modules that happen to be imported."""
    return list(__all__)
