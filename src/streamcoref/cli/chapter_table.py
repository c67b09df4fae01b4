"""`streamcoref entities --by chapter`: a row for each chapter of a store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from streamcoref.cli.store_tables import called, label, print_head, print_table
from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from rich.table import Table

    from streamcoref.store import Chapter, Store, StoredEntity

_LONGEST_TITLE = 60
_BAR = 30  # blocks of the longest
_OPENING = "(before the first)"


def print_chapters(store: Store, top: int, name: str | None, level: int | None) -> None:
    """The main entities of each chapter, or how often it mentions the one that is called so."""
    from streamcoref.store import chapters

    entity = None if name is None else called(store, name)[0]
    found = list(chapters(store, level))
    if not found:
        raise StreamcorefError(f"{store.path}: no chapters were found in this text; leave out --by chapter")
    print_head(store)
    print_table(_main_entities(store, found, top) if entity is None else _of_one(entity, found))


def _main_entities(store: Store, found: list[Chapter], top: int) -> Table:
    table = _table()
    table.add_column("mentions", justify="right", no_wrap=True)
    table.add_column("main entities", overflow="fold")
    for chapter in found:
        main = sorted(chapter.mentions.items(), key=lambda pair: (-pair[1], pair[0]))[:top]
        said = ", ".join(f"{label(store.entity(number))} {count:,}" for number, count in main)
        table.add_row(_title(chapter), f"{chapter.mentions.total():,}", said)
    return table


def _of_one(entity: StoredEntity, found: list[Chapter]) -> Table:
    table = _table()
    table.add_column(label(entity), justify="right", no_wrap=True)
    table.add_column("", no_wrap=True, min_width=_BAR)
    counts = [chapter.mentions[entity.id] for chapter in found]
    highest = max(counts) or 1
    for chapter, count in zip(found, counts, strict=True):
        table.add_row(_title(chapter), f"{count:,}", "█" * -(-count * _BAR // highest))
    return table


def _table() -> Table:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("chapter", no_wrap=True, max_width=_LONGEST_TITLE)
    return table


def _title(chapter: Chapter) -> str:
    from streamcoref.formats.event_lines import one_line

    return " · ".join(map(one_line, chapter.titles)) or _OPENING
