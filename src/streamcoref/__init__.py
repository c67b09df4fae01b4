"""Coreference resolution for text of any length, in constant memory."""

from streamcoref.document import Document, Entity, Mention
from streamcoref.errors import InputError, StreamcorefError

__version__ = "0.1.0"
__all__ = ["Document", "Entity", "InputError", "Mention", "StreamcorefError", "__version__"]
