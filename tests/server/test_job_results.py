"""Pages of a job's store: they are asked for often, and go without its digests. What no store has is a sentence."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from streamcoref import StreamcorefError
from streamcoref.document import Mention, Quotation
from streamcoref.events import EntityStarted, QuotationFound
from streamcoref.server import job_results
from streamcoref.store import ReadingPosition, Store, StoreOrigin

ORIGIN = StoreOrigin("job 1", 100, "abc", "default", "f1", "{}")
ANNA = Mention(0, 1, 0, 4, "Anna", 0, 0.5)
SAID = Quotation(2, 4, 6, 12, 1, None, "named", 0.5)
PAGES: dict[str, Callable[[Path], dict[str, Any]]] = {
    "entities": lambda path: job_results.entities(path, 0, 9, None, None),
    "mentions": lambda path: job_results.mentions_between(path, 0, 99, 0, 9),
    "quotations": lambda path: job_results.quotations(path, 0, 99, None, 0, 9),
}


@pytest.mark.parametrize("table", PAGES)
def test_values_that_no_store_has(table: str, tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store.create(path, ORIGIN) as store:
        store.commit([EntityStarted(1, ANNA), QuotationFound(SAID)], ReadingPosition(20, 1, 20, 9, "", b"state"))
    page = PAGES[table](path)
    assert (page["all"], len(page[table])) == (1, 1)
    json.dumps(page)
    with closing(sqlite3.connect(path)) as connection:
        columns = [name for _, name, _, _, _, key in connection.execute(f"PRAGMA table_info({table})") if not key]
        for column in columns:
            (before,) = connection.execute(f"SELECT {column} FROM {table}").fetchone()
            connection.execute(f"UPDATE {table} SET {column} = x'00'")
            connection.commit()
            with suppress(StreamcorefError):
                assert not PAGES[table](path)["all"], column  # where it was asked for by its place
            connection.execute(f"UPDATE {table} SET {column} = ?", (before,))
