"""Stores: the entities of a text of any length in an SQLite file, made by a job that can be killed and goes on.

`Resolver.resolve_file` makes one, `Store.open` reads it. docs/store.md describes the tables.
"""

from streamcoref.progress import ReadingProgress
from streamcoref.store.chapters import Chapter, chapters
from streamcoref.store.database import Store
from streamcoref.store.listing import InContext, mentions_in_context, quotations_with_text, said_in_context
from streamcoref.store.schema import ReadingPosition, StoredEntity, StoreOrigin
from streamcoref.store.tables import write_table

__all__ = [
    "Chapter",
    "InContext",
    "ReadingPosition",
    "ReadingProgress",
    "Store",
    "StoreOrigin",
    "StoredEntity",
    "chapters",
    "mentions_in_context",
    "quotations_with_text",
    "said_in_context",
    "write_table",
]
