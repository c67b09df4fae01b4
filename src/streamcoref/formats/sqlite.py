"""A store: the answer of one text in an SQLite file that a resumable job writes. See docs/store.md."""

from __future__ import annotations

from streamcoref.formats.base import Format

FORMAT = Format(
    name="sqlite",
    description="a store of one text, for a text of any length and a job that can go on later",
    endings=(".sqlite", ".sqlite3", ".db"),
    is_store=True,
)
