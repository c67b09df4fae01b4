"""`streamcoref entities`: what is in a store. The main entities, or one of them with its mentions in context; all of
the text, or chapter by chapter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from streamcoref._wording import counted, escaped
from streamcoref.cli.chapter_table import print_chapters
from streamcoref.cli.store_export import export_table
from streamcoref.cli.store_tables import called, label, print_head, print_table
from streamcoref.errors import InputError, Remedy, StreamcorefError

if TYPE_CHECKING:
    from streamcoref.store import InContext, Store, StoredEntity

_PLACES = 40  # of a timeline
_BLOCKS = "·▁▂▃▄▅▆▇█"
_LONGEST_NAME = 40
_CONTEXT = 32  # characters on each side of a mention
_OTHERS = 5  # entities of the same name to point to
_LISTED, _LISTED_BY_CHAPTER = 20, 5  # entities, if nobody says how many


class Division(StrEnum):
    """What the entities can be listed by."""

    CHAPTER = "chapter"


def entities(
    path: Annotated[
        Path, typer.Argument(metavar="FILE", help="A store: book.sqlite of resolve -o book.sqlite.", show_default=False)
    ],
    top: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help=f"How many entities to list; else {_LISTED}, {_LISTED_BY_CHAPTER} of each chapter."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Show the mentions of the entity called so, in their context.")
    ] = None,
    kind: Annotated[
        str | None, typer.Option("--type", metavar="TYPE", help="List only entities of a type, such as person.")
    ] = None,
    by: Annotated[
        Division | None, typer.Option(help="List the main entities of each chapter, or where the one called so is.")
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Chapters down to this level only: 1 are volumes, if there are any."),
    ] = None,
    says: Annotated[str | None, typer.Option(metavar="TEXT", help="Show what the entity called so says.")] = None,
    format_name: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="TABLE",
            help="Write a table instead: csv, a row a mention; quotations, a row a quotation.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PATH", help="Write it to a file, whose name may tell which."),
    ] = None,
    defuse: Annotated[
        bool, typer.Option("--defuse", help="Cells that a spreadsheet would run as formulas begin with a '.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace PATH if it exists.")] = False,
) -> None:
    """List the main entities of a store, one entity's mentions, or what it says.

    The timeline shows where in the text an entity is mentioned, from its
    beginning to its end, and how often. A store may be looked at while it is
    being written; entities that may still get mentions are marked with +,
    and have no type yet.

    With --name and --says, an entity is found by its name, by a part of it,
    or by one of its mentions; of several the largest is shown. The context is
    taken from the text's file, if that is still there and the same.

    With --by chapter there is a row for each chapter: how many mentions it
    has, and of whom; with --name as well, how many of that entity.

    --format and -o write a table for other programs: all mentions, all that
    is said, or with --says what one entity says.
    """
    as_table = format_name is not None or output is not None or defuse or force
    if as_table and (name, kind, by, top) != (None,) * 4:
        raise StreamcorefError("a table has everything, or what --says asks for; give no --name, --type, --by, --top")
    if level is not None and by is None:
        raise StreamcorefError("--level says how deep --by chapter goes; give both")
    if says is not None and (name is not None or by is not None):
        raise StreamcorefError("--says is a question of its own; ask it without --name and --by")
    if kind is not None and (name is not None or by is not None or says is not None):
        raise StreamcorefError("--type lists the entities of a type; give it without --name, --says and --by")
    with _open(path) as store:
        if as_table:
            export_table(store, format_name, output, says, defuse=defuse, force=force)
        elif says is not None:
            _print_said(store, says)
        elif by is Division.CHAPTER:
            print_chapters(store, top or _LISTED_BY_CHAPTER, name, level)
        elif name is not None:
            _print_entity(store, name)
        else:
            _print_list(store, top or _LISTED, kind)


def _open(path: Path) -> Store:
    """Whoever only looks at a store has nothing to replace: what is none has to be made."""
    from streamcoref.store import Store

    try:
        return Store.open(path)
    except StreamcorefError as error:
        if error.remedy is Remedy.ANOTHER_STORE:
            said, store = "this file is not a streamcoref store", path.with_suffix(".sqlite")
            if store == path:
                raise StreamcorefError(f"{path}: {said}", Remedy.MAKE_STORE) from None
            raise StreamcorefError(
                f"{path}: {said}; if it is a text, make one with: streamcoref resolve {path} -o {store}"
            ) from None
        if error.remedy in (Remedy.MAKE_ANEW, Remedy.OTHER_RELEASE):
            advice = f"make it anew with: streamcoref resolve TEXT -o {path} --force"
            raise StreamcorefError(f"{error.problem}; {advice}") from None
        raise


def _print_list(store: Store, top: int, kind: str | None) -> None:
    from rich import box
    from rich.table import Table

    from streamcoref.formats.event_lines import one_line

    print_head(store)
    types = store.types()
    if kind is not None and kind not in types:
        known = f"its types: {', '.join(types)}" if types else "its entities have no types"
        raise StreamcorefError(f"{store.path}: there is no entity of the type {kind!r}; {known}")
    shown = store.entities(top, kind)
    if not shown:
        return
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    table.add_column("name", no_wrap=True, max_width=_LONGEST_NAME)
    if types:
        table.add_column("type", no_wrap=True)
    table.add_column("mentions", justify="right", no_wrap=True)
    table.add_column("words", justify="right", no_wrap=True)
    table.add_column("where in the text", no_wrap=True, min_width=_PLACES)
    for entity in shown:
        where = timeline(store.timeline(entity.id, _PLACES))
        what = [one_line(entity.type or "")] if types else []
        table.add_row(label(entity), *what, f"{entity.size:,}", f"{entity.word_start:,}–{entity.word_end:,}", where)
    print_table(table)


def timeline(counts: Sequence[int]) -> str:
    """A block a place, as high as the count is in comparison with the highest."""
    highest = max(counts, default=0)
    return "".join(_BLOCKS[-(-count * (len(_BLOCKS) - 1) // highest)] if count else _BLOCKS[0] for count in counts)


def _print_said(store: Store, name: str) -> None:
    """What an entity says: where, how it is known who speaks, and the words."""
    from streamcoref.formats.event_lines import one_line
    from streamcoref.store import quotations_with_text

    entity, *_ = called(store, name)
    try:
        said = list(quotations_with_text(store, entity.id))
    except InputError as error:
        typer.echo(f"{error}: quotations are shown without their words", err=True)
        said = [(one, "") for one in store.quotations(entity.id)]
    typer.echo(f"{label(entity)}: {counted(len(said), 'quotation', 'quotations')}\n")
    names = {other.id: one_line(other.name) for other in store.entities()}
    for one, text in said:
        to = f", to {names[one.addressee]}" if one.addressee in names else ""
        typer.echo(f"{one.word_start:>9,}  {one_line(text)} ({one.kind}{to})")


def _print_entity(store: Store, name: str) -> None:
    entity, *others = called(store, name)
    kind = "" if entity.type is None else f"{escaped(entity.type)}, "
    mentions = kind + counted(entity.size, "mention", "mentions")
    typer.echo(f"{label(entity)}: {mentions}, words {entity.word_start:,} to {entity.word_end:,}")
    typer.echo(f"{timeline(store.timeline(entity.id, _PLACES))}\n")
    for line in _lines(store, entity):
        typer.echo(line)
    if others:
        more = f" and {len(others) - _OTHERS:,} more" if len(others) > _OTHERS else ""
        names = ", ".join(f"{label(other)} ({other.size:,})" for other in others[:_OTHERS])
        typer.echo(f"\nothers of that name: {names}{more}")


def _lines(store: Store, entity: StoredEntity) -> Iterator[str]:
    from streamcoref.formats.event_lines import one_line

    for before, mention, after in _with_context(store, entity):
        left, right = one_line(before), one_line(after)
        # One blank where the text has any white space there, none in "(she" and "Anna's".
        left += " " if before[-1:].isspace() else ""
        right = (" " if after[:1].isspace() else "") + right
        yield f"{mention.word_start:>9,}  {left:>{_CONTEXT}}[{one_line(mention.text)}]{right}"


def _with_context(store: Store, entity: StoredEntity) -> Iterator[InContext]:
    from streamcoref.store import InContext, mentions_in_context

    try:
        return mentions_in_context(store, entity.id, _CONTEXT)
    except InputError as error:
        typer.echo(f"{error}: mentions are shown without their context", err=True)
    return (InContext("", mention, "") for mention in store.mentions(entity.id))
