"""A picture of a book's people, by how often they are named: how much each says, where in the book, and to whom.

python examples/people.py BOOK.txt people.png
python examples/people.py BOOK.sqlite people.png --title Emma --people 12

BOOK is a text, which is read into a store beside it (as examples/novel.py does: it may be stopped, and goes on), or a
store. The picture needs matplotlib: pip install 'streamcoref[plots]'.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import streamcoref
from streamcoref.store import Chapter, ReadingProgress, Store, StoredEntity, chapters

PEOPLE, OTHER_NAMES, PARTNERS = 12, 2, 3  # in the picture; of each
PARTS = 60  # of a book without chapters
PRONOUNS = {"he", "him", "his", "she", "her", "hers"}
# What names do not begin with.
NO_NAMES = {"i", "me", "my", "mine", "you", "your", "yours", "it", "its", "we", "us", "our", "they", "them", "their"}
NO_NAMES |= PRONOUNS | {"a", "an", "the", "this", "that", "poor", "dear"}
TITLES = {"mr", "mrs", "miss", "sir", "madam", "ma'am", "captain", "colonel", "doctor"}  # alone they name nobody
LOOKED_AT = 4  # times as many entities as are shown: a few large ones have hardly a name


@dataclass
class Person:
    """`places` has a number a part of the book: mentions in it. `partners` are whom one talks with, and how often."""

    entity: StoredEntity
    other_names: list[str]
    places: list[float]
    words_said: int = 0
    partners: Counter[int] = field(default_factory=Counter)


@dataclass
class Book:
    """`edges` are where its parts begin and end, from 0 to 1; `groups` are volumes: a title and where it begins."""

    title: str
    words: int
    quotations: int
    edges: list[tuple[float, float]]
    groups: list[tuple[str, float]]
    chapters: int
    people: list[Person]
    names: dict[int, str]


def main(arguments: Sequence[str] | None = None) -> None:
    options = parsed(arguments)
    with opened(options.book, options.model) as store:
        book = look_at(store, options.title or Path(store.origin.path).stem, options.people)
    if not book.people:
        raise streamcoref.StreamcorefError(f"{options.book}: there is nobody in it whom the text calls he or she")
    draw(book, options.picture)
    print(f"{options.picture}: {len(book.people)} people of {book.title}")


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="A picture of a book's people.")
    parser.add_argument("book", type=Path, help="a text, or a store")
    parser.add_argument("picture", type=Path, help="the file to write: .png, .svg or .pdf")
    parser.add_argument("--title", help="what to call the book (default: its file)")
    parser.add_argument("--people", type=int, default=PEOPLE, help=f"how many to show (default {PEOPLE})")
    parser.add_argument("--model", help="for a text: a model's folder or hub name (default: the bundled one)")
    return parser.parse_args(arguments)


def opened(book: Path, model: str | None) -> Store:
    if book.suffix in {".sqlite", ".sqlite3", ".db"}:
        return Store.open(book)
    return streamcoref.resolve_file(book, book.with_suffix(".sqlite"), model=model, on_progress=show)


def show(progress: ReadingProgress) -> None:
    print(f"\r{progress.words:,} words, {progress.entities:,} entities alive ", end="", file=sys.stderr)


def look_at(store: Store, title: str, most: int) -> Book:
    length = max(1, store.position.characters)
    parts = [part for part in chapters(store) if part.titles]
    edges = [(part.start / length, part.end / length) for part in parts]
    named = [(entity, names(store, entity)) for entity in islice(persons(store), LOOKED_AT * most)]
    named.sort(key=lambda one: -one[1].total())
    people = [
        Person(entity, other_names(entity, texts), places(store, entity, parts)) for entity, texts in named[:most]
    ]
    by_number = {person.entity.id: person for person in people}
    said = 0
    for said, one in enumerate(store.quotations(), start=1):  # noqa: B007
        if one.speaker in by_number:
            by_number[one.speaker].words_said += one.word_end - one.word_start
        for who, other in ((one.speaker, one.addressee), (one.addressee, one.speaker)):
            if who in by_number and other is not None and other != who:
                by_number[who].partners[other] += 1
    numbers = {number for person in people for number, _ in person.partners.most_common(PARTNERS)}
    return Book(
        title,
        store.position.words,
        said,
        edges or [(part / PARTS, (part + 1) / PARTS) for part in range(PARTS)],
        groups(parts, length),
        len(parts),
        people,
        {number: store.entity(number).name for number in numbers},
    )


def persons(store: Store) -> Iterator[StoredEntity]:
    """The largest first. Without types, people are those whom the text calls he or she."""
    if store.types():
        yield from store.entities(type="person")
        return
    for entity in store.entities():
        if any(mention.text.lower() in PRONOUNS for mention in store.mentions(entity.id)):
            yield entity


def names(store: Store, entity: StoredEntity) -> Counter[str]:
    """What it is called in capitals, and how often."""
    texts = Counter(" ".join(mention.text.split()) for mention in store.mentions(entity.id))
    return Counter({text: times for text, times in texts.items() if is_name(text)})


def is_name(text: str) -> bool:
    words = text.lower().split()
    return text[:1].isupper() and words[0] not in NO_NAMES and (len(words) > 1 or words[0].rstrip(".") not in TITLES)


def other_names(entity: StoredEntity, texts: Counter[str]) -> list[str]:
    """What else it is called, more than once, most often first."""
    return [text for text, times in texts.most_common() if times > 1 and text != entity.name][:OTHER_NAMES]


def places(store: Store, entity: StoredEntity, parts: Sequence[Chapter]) -> list[float]:
    """Mentions in each chapter by its length, or in equal parts."""
    if not parts:
        return [float(count) for count in store.timeline(entity.id, PARTS)]
    return [part.mentions[entity.id] / max(1, part.end - part.start) for part in parts]


def groups(parts: Sequence[Chapter], length: int) -> list[tuple[str, float]]:
    """Where volumes begin, if the chapters lie in some."""
    found: list[tuple[str, float]] = []
    for part in parts:
        if len(part.titles) > 1 and (not found or found[-1][0] != part.titles[0]):
            found.append((part.titles[0], part.start / length))
    return found


# The picture: its colours, and its places in pixels, a hundred of them an inch.
PAPER, INK, QUIET, LINE = "#fdfcfa", "#24211d", "#6b655c", "#e6e1d8"
COLORS = (
    "#4c78a8 #c06a5b #5b9279 #8a6fa8 #b08a3e #4f9aa8 #b5678f #7d8f45 #6f7fbf #b9794b #5d8f5b #8c7b6b #7a9cc0 #a05a6e"
).split()
FONTS = ["STIXGeneral", "DejaVu Sans"]  # both come with matplotlib; the second has what the first has not
WIDTH, ROW, HEAD, FOOT = 1500, 62, 150, 40
NAME, MENTIONS, SAYS, STRIP, WITH, RIGHT = 50, 400, 520, 560, 1110, 1450  # where columns begin; numbers end there


def draw(book: Book, path: Path) -> None:
    plt = matplotlib()
    height = HEAD + ROW * len(book.people) + FOOT
    figure = plt.figure(figsize=(WIDTH / 100, height / 100), facecolor=PAPER)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, WIDTH)
    axes.set_ylim(height, 0)
    axes.axis("off")
    paper = Paper(figure, axes)
    colors = {person.entity.id: COLORS[number % len(COLORS)] for number, person in enumerate(book.people)}
    draw_head(paper, book)
    for number, person in enumerate(book.people):
        draw_person(paper, book, person, colors, HEAD + ROW * number)
    paper.write(NAME, height - 16, "streamcoref", 10, QUIET, style="italic")
    try:
        figure.savefig(path, dpi=160, facecolor=PAPER)
    except (OSError, ValueError) as error:
        raise streamcoref.StreamcorefError(f"{path}: the picture cannot be written: {error}") from None
    finally:
        plt.close(figure)


def matplotlib() -> Any:
    try:
        import matplotlib as mpl
    except ModuleNotFoundError:
        raise streamcoref.StreamcorefError(
            "matplotlib is not installed; run: pip install 'streamcoref[plots]'"
        ) from None
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    return plt


class Paper:
    """Text and boxes by pixels."""

    def __init__(self, figure: Any, axes: Any) -> None:
        self.axes = axes
        self.renderer = figure.canvas.get_renderer()

    def write(self, x: float, y: float, text: str, size: float, color: str = INK, **how: Any) -> float:
        """Where it ends; `width` cuts what is longer."""
        width = how.pop("width", None)
        # What a book says is no formula.
        made = self.axes.text(x, y, text, fontsize=size, color=color, family=FONTS, parse_math=False, **how)
        while width is not None and self.width_of(made) > width and len(text) > 1:
            text = text[:-1].rstrip()
            made.set_text(f"{text}…")
        return x + self.width_of(made)

    def length(self, text: str, size: float) -> float:
        made = self.axes.text(0, 0, text, fontsize=size, family=FONTS, parse_math=False)
        width = self.width_of(made)
        made.remove()
        return width

    def width_of(self, made: Any) -> float:
        return float(made.get_window_extent(self.renderer).width)

    def bar(self, x: float, y: float, width: float, height: float, color: str) -> None:
        from matplotlib.patches import Rectangle

        self.axes.add_patch(Rectangle((x, y), width, height, facecolor=color, edgecolor="none"))

    def dot(self, x: float, y: float, color: str) -> None:
        self.axes.scatter([x], [y], s=26, color=color, linewidths=0)


def draw_head(paper: Paper, book: Book) -> None:
    paper.write(NAME, 62, book.title, 30, width=RIGHT - NAME)
    counts = [f"{book.words:,} words"]
    if book.chapters:
        counts.append(f"{book.chapters} chapters")
    counts.append(f"{book.quotations:,} quotations")
    paper.write(NAME, 92, f"Its people, by how often they are named  ·  {'  ·  '.join(counts)}", 12.5, QUIET)
    y = HEAD - 14
    paper.write(MENTIONS, y, "mentions", 10.5, QUIET, ha="right")
    paper.write(SAYS, y, "words said", 10.5, QUIET, ha="right")
    paper.write(WITH, y, "speaks with", 10.5, QUIET)
    named = groups_that_fit(book)
    for title, start in named:
        paper.write(strip_x(start), y, title, 10.5, QUIET)
    if not named:
        paper.write(
            STRIP, y, "from the first chapter to the last" if book.chapters else "from beginning to end", 10.5, QUIET
        )


def groups_that_fit(book: Book) -> list[tuple[str, float]]:
    """Volumes by name where there is room for that, else none."""
    starts = [start for _, start in book.groups] + [1.0]
    narrowest = min((strip_x(b) - strip_x(a) for a, b in pairwise(starts)), default=0)
    longest = max((len(title) for title, _ in book.groups), default=0)
    return book.groups if narrowest > 8 * longest else []


def strip_x(part: float) -> float:
    """Where a part of the book stands, from 0 to 1."""
    return STRIP + part * (WITH - 40 - STRIP)


def draw_person(paper: Paper, book: Book, person: Person, colors: dict[int, str], top: float) -> None:
    entity, color = person.entity, colors[person.entity.id]
    middle, foot = top + ROW / 2, top + ROW - 12
    paper.bar(NAME, top, RIGHT - NAME, 1, LINE)
    paper.dot(NAME + 5, middle - 3, color)
    if person.other_names:
        paper.write(NAME + 22, middle - 2, entity.name, 16, width=250)
        paper.write(NAME + 22, middle + 15, ", ".join(person.other_names), 10.5, QUIET, style="italic", width=250)
    else:
        paper.write(NAME + 22, middle + 3, entity.name, 16, width=250)
    paper.write(MENTIONS, middle + 3, f"{entity.size:,}", 14, ha="right")
    said = f"{person.words_said:,}" if person.words_said else "–"
    paper.write(SAYS, middle + 3, said, 14, INK if person.words_said else QUIET, ha="right")
    paper.bar(strip_x(0), foot, strip_x(1) - strip_x(0), 1, LINE)
    highest = max(person.places, default=0) or 1
    for (start, end), value in zip(book.edges, person.places, strict=True):
        left, right = strip_x(start), strip_x(end)
        gap = min(1.0, (right - left) / 4)
        if value:
            high = max(2.0, value / highest * (ROW - 22))
            paper.bar(left, foot - high, right - left - gap, high, color)
    draw_partners(paper, book, person, colors, middle)


def draw_partners(paper: Paper, book: Book, person: Person, colors: dict[int, str], middle: float) -> None:
    """As many as there is room for; the first in any case."""
    x = float(WITH)
    for number, times in person.partners.most_common(PARTNERS):
        room = RIGHT - x - 50
        if x > WITH and paper.length(book.names[number], 12) > room:
            return
        paper.dot(x + 4, middle - 2, colors.get(number, LINE))
        x = paper.write(x + 14, middle + 3, book.names[number], 12, width=room)
        x = paper.write(x + 6, middle + 3, f"{times:,}", 11, QUIET) + 18


if __name__ == "__main__":
    try:
        main()
    except streamcoref.StreamcorefError as error:
        sys.exit(f"people: {error}")
