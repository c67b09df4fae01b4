"""`books`: how well models follow the people of whole novels, and who says what."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from pydantic import Field

from streamcoref.checked import Options
from streamcoref.evaluation.report import Table, markdown
from streamcoref.experiments.base import NONE, Cell, Experiment, Found, Progress, Values, key
from streamcoref.experiments.book_marks import DISTANCES, figures, read_marks
from streamcoref.experiments.options import Models, RunChoice, identity
from streamcoref.experiments.plot import Plot, Series
from streamcoref.progress import ReadingProgress

_KINDS = ("name", "he, she", "I", "you", "other")
_SAID = ("explicit", "anaphoric", "implicit", "all")


class BookChoice(Options):
    name: str
    text: Path  # the novel, UTF-8
    marks: Path  # who is meant and who speaks, as `book_marks.py` describes it


class BooksOptions(Options):
    models: Models
    books: tuple[BookChoice, ...] = Field(min_length=1)
    merge: int | None = Field(default=None, ge=0)  # as the option of that name; None is each model's own
    revive: int | None = Field(default=None, ge=0)  # the same
    passes: int = Field(default=1, ge=1, le=2)  # the same
    scheme: str | None = None  # the same
    run: RunChoice = RunChoice()


def cells(options: BooksOptions, folder: Path) -> list[Cell]:
    return [
        Cell(key(model.name, book.name), _work(options, number, book, folder))
        for number, model in enumerate(options.models)
        for book in options.books
    ]


def _work(options: BooksOptions, model: int, book: BookChoice, folder: Path) -> Callable[[Progress], Values]:
    def work(progress: Progress) -> Values:
        from streamcoref.resolver import Resolver

        marks = read_marks(book.text, book.marks)
        checkpoint = options.models[model].load()
        service = checkpoint.model.service(options.run.threads, options.run.batch)
        resolver = Resolver(checkpoint, Path(options.models[model].path or ""), service)
        folder.mkdir(parents=True, exist_ok=True)
        target = folder / f"{model + 1}-{book.name}.sqlite"

        def tell(now: ReadingProgress) -> None:
            progress(now.characters, len(marks.text))

        names = "merge", "revive", "passes", "scheme"
        more: dict[str, Any] = {name: getattr(options, name) for name in names}
        with resolver.resolve_file(book.text, target, on_progress=tell, **more) as store:
            return figures(marks, store)

    return work


def inputs(options: BooksOptions) -> list[Path]:
    books = [file for book in options.books for file in (book.text, book.marks)]
    return [*(file for model in options.models for file in model.files()), *books]


def page(options: BooksOptions, found: Found) -> str:
    parts = [
        "# Whole novels\n\n"
        "Over the mentions that people have marked, all of which lie in quotations: B-cubed over the whole novel and "
        "in windows of 9,000 characters, CEAF-e, and the mean share of a main character's mentions that lie in one "
        "entity. A mention that was not found is an entity of its own. *Said* is the share of quotations whose speaker "
        "is right, an entity being whom its mentions name most often.\n"
    ]
    for model in options.models:
        values = {book.name: found[key(model.name, book.name)] for book in options.books}
        mean = _mean(list(values.values()))
        parts += [f"## {model.name}\n", markdown(_people(values, mean)), markdown(_said(values))]
        parts += [markdown(_shares(values, "by_kind", _KINDS, "By kind of mention: precision / recall"))]
        names = (*(name for name, _ in DISTANCES), "first mention")
        title = "By characters since the person was mentioned before: precision / recall"
        parts.append(markdown(_shares(values, "by_distance", names, title)))
    return "\n".join(parts)


_FIGURES = ("found", "precision", "recall", "f1", "window_f1", "ceafe", "main")


def _mean(values: list[Values]) -> Values:
    return {name: sum(one[name] for one in values) / len(values) for name in _FIGURES}


def _people(values: dict[str, Values], mean: Values) -> Table:
    columns = ["novel", "mentions", "found", "B3 P", "B3 R", "B3 F", "in windows", "CEAF-e", "main"]
    rows = [
        [name, f"{one['mentions']:,}", *(f"{100 * one[figure]:.1f}" for figure in _FIGURES)]
        for name, one in values.items()
    ]
    return Table("People", columns, [rows, [["mean", "", *(f"{100 * mean[figure]:.1f}" for figure in _FIGURES)]]])


def _said(values: dict[str, Values]) -> Table:
    def share(one: Values, kind: str) -> str:
        right, every = one["said"].get(kind, (0, 0))
        return f"{100 * right / every:.1f}" if every else NONE

    rows = [[name, *(share(one, kind) for kind in _SAID)] for name, one in values.items()]
    return Table("Said: right speakers in percent", ["novel", *_SAID], [rows])


def _shares(values: dict[str, Values], what: str, names: tuple[str, ...], title: str) -> Table:
    def share(one: Values, name: str) -> str:
        found = one[what].get(name)
        return NONE if found is None else f"{100 * found['precision']:.0f} / {100 * found['recall']:.0f}"

    rows = [[novel, *(share(one, name) for name in names)] for novel, one in values.items()]
    return Table(title, ["novel", *names], [rows])


def plots(options: BooksOptions, found: Found) -> list[Plot]:
    series = [
        Series(
            f"{model.name}, {book.name}" if len(options.models) > 1 else book.name,
            [point[0] for point in values["over_length"]],
            [100 * point[1] for point in values["over_length"]],
            "line",
            colour=number * len(options.books) + place,
        )
        for number, model in enumerate(options.models)
        for place, book in enumerate(options.books)
        if (values := found[key(model.name, book.name)])
    ]
    return [Plot("books", "People over the length read", "characters read", "B-cubed F1", series)]


BOOKS = Experiment("books", BooksOptions, identity, inputs, cells, page, plots)
