"""Figures over whole novels: by hand, and against the reference on made-up cases."""

from __future__ import annotations

import json
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from streamcoref import (
    EntityFinished,
    EntityStarted,
    Event,
    InputError,
    Mention,
    MentionLinked,
    Quotation,
    QuotationFound,
    StreamcorefError,
)
from streamcoref.experiments.book_marks import (
    BookMarks,
    Share,
    agreement,
    by_distance,
    by_kind,
    figures,
    in_windows,
    mention_kind,
    over_length,
    read_marks,
    trim,
)
from streamcoref.experiments.run import run_experiment
from streamcoref.store import ReadingPosition, Store, StoreOrigin
from tests import toy_resolver

TEXT = '"I am here, Ben," said Anna Weber. "You came."\n\n"_I_ did," he said. "Anna, I did."\n'
WHO = {"I": "Anna", "Ben": "Ben", "You": "Ben", "_I_": "Ben", "Anna,": "Anna", "I did.": "Ben"}


def spans() -> dict[str, tuple[int, int]]:
    return {part: (TEXT.rindex(part), TEXT.rindex(part) + len(part)) for part in WHO} | {"I": (1, 2)}


def marks() -> dict[str, Any]:
    quoted = [[0, 17], [35, 46], [48, 58], [68, 82]]
    return {
        "mentions": [[*spans()[part], who] for part, who in WHO.items() if part != "I did."],
        "quotations": [[[quoted[0], quoted[1]], "Anna", "Explicit"], [[quoted[2], quoted[3]], "Ben", "Anaphoric"]],
        "characters": {"Anna": ["Anna", "Anna Weber"], "Ben": ["Ben"]},
    }


@pytest.fixture
def book(tmp_path: Path) -> BookMarks:
    (tmp_path / "b.txt").write_text(TEXT, encoding="utf-8", newline="")
    (tmp_path / "b.json").write_text(json.dumps(marks()), encoding="utf-8")
    return read_marks(tmp_path / "b.txt", tmp_path / "b.json")


def mention(word: int, start: int, end: int) -> Mention:
    return Mention(word, word + 1, start, end, TEXT[start:end], 0, 1.0)


def store_of(path: Path) -> Store:
    """Anna is right but for an I that is Ben's, whose own I was not found."""
    anna, ben = (0, 1, 2), (1, 12, 15)
    events: list[Event] = [
        EntityStarted(0, mention(*anna)),
        MentionLinked(0, mention(2, 23, 33)),
        MentionLinked(0, mention(5, 69, 73)),
        EntityStarted(1, mention(*ben)),
        MentionLinked(1, mention(3, 36, 39)),
        QuotationFound(Quotation(0, 2, 0, 17, 0, 1, "named", 0.9)),
        QuotationFound(Quotation(3, 4, 35, 46, 0, 1, "named", 0.9)),
        QuotationFound(Quotation(4, 5, 48, 58, 0, None, "turns", 0.8)),
        EntityFinished(0, "Anna Weber", 3, mention(*anna), mention(5, 69, 73)),
        EntityFinished(1, "Ben", 2, mention(*ben), mention(3, 36, 39)),
    ]
    store = Store.create(path, StoreOrigin("b.txt", len(TEXT), "x", "m", "f", "{}"))
    store.commit(events, ReadingPosition(len(TEXT), 3, len(TEXT), 20, "", None, True))
    return store


def test_by_hand(book: BookMarks, tmp_path: Path) -> None:
    with store_of(tmp_path / "b.sqlite") as store:
        found = figures(book, store)
    assert found["mentions"] == 5
    assert found["found"] == 4 / 5
    assert found["precision"] == 1.0
    assert found["recall"] == pytest.approx((2 * 1 + 2 * 2 / 3 + 1 / 3) / 5)
    assert found["main"] == pytest.approx((1 + 2 / 3) / 2)
    assert found["said"] == {"all": (1, 2), "explicit": (1, 1), "anaphoric": (0, 1)}
    assert found["by_kind"]["I"] == {"mentions": 2, "precision": 1.0, "recall": pytest.approx((1 + 1 / 3) / 2)}
    assert found["over_length"][-1] == (len(TEXT), pytest.approx(found["f1"]))


def test_by_distance(book: BookMarks) -> None:
    everything = dict(book.mentions)
    assert by_distance(book, everything) == {"first mention": Share(2, 1.0, 1.0), "up to 1,000": Share(3, 1.0, 1.0)}
    assert set(by_kind(book, everything)) == {"I", "name", "you"}
    assert over_length(book, everything, 2)[-1][1] == 1.0


@pytest.mark.parametrize(
    ("text", "kind"),
    [("_I_", "I"), ("your", "you"), ("Her", "he, she"), ("Mr. Weber", "name"), ("the man", "other"), ("--", "other")],
)
def test_kinds(text: str, kind: str) -> None:
    assert mention_kind(text) == kind


def test_spans_are_trimmed() -> None:
    assert trim("a _word_, b", (2, 9)) == (3, 7)
    assert trim("a -- b", (2, 4)) is None


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"mentions": [[1]], "quotations": [], "characters": {}}'])
def test_what_is_no_marks(tmp_path: Path, content: str) -> None:
    (tmp_path / "b.txt").write_text(TEXT, encoding="utf-8")
    (tmp_path / "b.json").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match="no marks of a novel"):
        read_marks(tmp_path / "b.txt", tmp_path / "b.json")


def test_marks_of_another_text(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("short", encoding="utf-8")
    (tmp_path / "b.json").write_text(json.dumps(marks()), encoding="utf-8")
    with pytest.raises(InputError, match="outside of the text"):
        read_marks(tmp_path / "b.txt", tmp_path / "b.json")
    with pytest.raises(InputError, match="cannot be read"):
        read_marks(tmp_path / "none.txt", tmp_path / "b.json")


def reference(shared: Path) -> Any:
    loader = SourceFileLoader("score_book", str(shared / "tools" / "score-book"))
    spec = spec_from_loader("score_book", loader)
    assert spec is not None
    module = module_from_spec(spec)
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = before
    return module


@pytest.mark.corpus
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(-1, 4)), min_size=1, max_size=30))
def test_the_reference_gives_the_same(shared: Path, cases: list[tuple[int, int]]) -> None:
    characters = [character for character, _ in cases]
    assume(len(set(characters)) < len(characters))  # with characters of one mention alone the reference fails
    module = reference(shared)
    places = {number: (number * 1000, number * 1000 + 5) for number in range(len(cases))}
    gold = {places[n]: f"who{character}" for n, (character, _) in enumerate(cases)}
    answer = {places[n]: entity for n, (_, entity) in enumerate(cases) if entity >= 0}
    theirs = module.figures(gold, {span: ("e", entity) for span, entity in answer.items()})
    ours = agreement(gold, answer)
    names = {"found": "found", "precision": "b3_p", "recall": "b3_r", "f1": "b3_f", "main": "main"}
    if len(set(answer.values())) < len(answer):
        names["ceafe"] = "ceafe"  # where there are clusters to compare
    for name, their_name in names.items():
        assert getattr(ours, name) == pytest.approx(theirs[their_name]), name
    apart = module.figures(
        {span: (who, span[0] // 9000) for span, who in gold.items()},
        {span: ("e", entity, span[0] // 9000) for span, entity in answer.items()},
    )
    assert in_windows(gold, answer) == pytest.approx(apart["b3_f"])


def test_the_experiment(tmp_path: Path) -> None:
    toy_resolver.save_model(tmp_path / "model")
    (tmp_path / "b.txt").write_text(TEXT * 20, encoding="utf-8", newline="")
    (tmp_path / "b.json").write_text(json.dumps(marks()), encoding="utf-8")
    config = tmp_path / "books.toml"
    config.write_text(
        f'[[models]]\nname = "toy"\npath = "{tmp_path / "model"}"\n'
        f'[[books]]\nname = "b"\ntext = "{tmp_path / "b.txt"}"\nmarks = "{tmp_path / "b.json"}"\n',
        encoding="utf-8",
    )

    def begin(count: int) -> Any:
        assert count == 1
        return lambda _number, _cell: lambda _done, _of: None

    files = run_experiment("books", config, tmp_path / "out", [], begin)
    page = (tmp_path / "out" / "books.md").read_text(encoding="utf-8")
    assert {file.name for file in files} == {"results.json", "books.md", "books.png", "books.html"}
    assert "| b " in page
    assert "## toy" in page
    assert run_experiment("books", config, tmp_path / "out", [], begin) == files  # nothing is computed again
    with pytest.raises(StreamcorefError, match="no-such-scheme"):  # it is asked for, then
        run_experiment("books", config, tmp_path / "other", ['scheme="no-such-scheme"'], begin)
