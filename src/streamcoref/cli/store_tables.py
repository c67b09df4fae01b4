"""What the tables of `streamcoref entities` have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from streamcoref._wording import counted, escaped
from streamcoref.errors import StreamcorefError

if TYPE_CHECKING:
    from rich.table import Table

    from streamcoref.store import Store, StoredEntity


def print_head(store: Store) -> None:
    """The text, and what was found in it."""
    count, mentions = store.counts()
    state = "" if store.position.done else ", not read to its end"
    words, found = counted(store.position.words, "word", "words"), counted(count, "entity", "entities")
    typer.echo(f"{escaped(store.origin.path)}: {words}{state}; {found}, {counted(mentions, 'mention', 'mentions')}")


def print_table(table: Table) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = 1000  # a file has no edge to wrap at
    console.print(table)


def label(entity: StoredEntity) -> str:
    """Its name; one that may still get mentions is marked."""
    from streamcoref.formats.event_lines import one_line

    return one_line(entity.name) + ("" if entity.finished else " +")


def called(store: Store, name: str) -> list[StoredEntity]:
    """The entities of that name, at least one, the one that is meant first."""
    found = store.named(name)
    if not found:
        raise StreamcorefError(f"{store.path}: no entity or mention is called {name!r}; list the main ones with --top")
    return found
