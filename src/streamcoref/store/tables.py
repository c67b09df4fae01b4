"""A store as the tables that documents are written as, a row a mention or a quotation, for a text of any length."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, TextIO

from streamcoref.errors import StreamcorefError
from streamcoref.formats import csv_out, quotations_out
from streamcoref.formats.csv_cells import row_writer
from streamcoref.formats.files import plain_name
from streamcoref.store.database import Store
from streamcoref.store.listing import quotations_with_text
from streamcoref.store.schema import StoredEntity

_REMEMBERED = 10_000  # entities, so that not every row asks for its names again
_PROSE = ".txt"  # what a text's key is without
TABLES = (csv_out.FORMAT.name, quotations_out.FORMAT.name)


def write_table(
    store: Store, name: str, stream: TextIO, *, speaker: int | None = None, defuse: bool = False, text: bool = True
) -> None:
    """Write the table that the format of that name has of a document, little by little.

    `csv` has one row a mention, `quotations` one a quotation: all of them, or those of a `speaker`. The characters
    of quotations come from the text's file; one that is gone is an InputError, unless they are to be left out.
    """
    if name not in TABLES:
        raise StreamcorefError(f"a store has no table {name!r}; it can be written as {' or '.join(TABLES)}")
    columns: Sequence[str]
    rows: Iterator[Sequence[Any]]
    if name == quotations_out.FORMAT.name:
        columns, rows = quotations_out.COLUMNS, _quotations(store, speaker, text=text)
    else:
        if speaker is not None:
            raise StreamcorefError(f"what a speaker says is in the table {quotations_out.FORMAT.name}, not in {name}")
        typed = bool(store.types())
        columns = csv_out.COLUMNS + csv_out.TYPE_COLUMNS if typed else csv_out.COLUMNS
        rows = (row[: len(columns)] for row in _mentions(store))
    put = row_writer(stream, defuse=defuse)
    put([columns])
    put(rows)


def _mentions(store: Store) -> Iterator[tuple[Any, ...]]:
    key, entity_of = _key(store), _entities(store)
    for number, mention in store.all_mentions():
        yield csv_out.row(key, entity_of(number), mention)


def _quotations(store: Store, speaker: int | None, *, text: bool) -> Iterator[tuple[Any, ...]]:
    key, entity_of = _key(store), _entities(store)
    said = quotations_with_text(store, speaker) if text else ((one, "") for one in store.quotations(speaker))

    def name(number: int | None) -> str | None:
        return None if number is None else entity_of(number).name

    return (quotations_out.row(key, one, name(one.speaker), name(one.addressee), words) for one, words in said)


def _entities(store: Store) -> Callable[[int], StoredEntity]:
    return lru_cache(_REMEMBERED)(store.entity)


def _key(store: Store) -> str:
    """What a document of the same text would be called."""
    options = json.loads(store.origin.options)
    if "document" in options:
        return str(options["document"])
    return plain_name(Path(store.origin.path)).removesuffix(_PROSE)
