"""examples/people.py: a picture of a book's people, of a small store."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamcoref import EntityFinished, EntityStarted, Event, Mention, MentionLinked, Quotation, QuotationFound
from streamcoref.store import ReadingPosition, Store, StoreOrigin
from streamcoref.text.sections import Heading

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
LENGTH = 1000


def mention(text: str, start: int) -> Mention:
    return Mention(start // 5, start // 5 + 1, start, start + len(text), text, 0, 0.9)


def entity(number: int, *mentions: tuple[str, int], name: str, kind: str | None = None) -> list[Event]:
    first, *others = [mention(*one) for one in mentions]
    events: list[Event] = [EntityStarted(number, first), *(MentionLinked(number, other) for other in others)]
    last = others[-1] if others else first
    return [*events, EntityFinished(number, name, len(mentions), first, last, kind, None if kind is None else 0.9)]


def said(start: int, words: int, speaker: int | None, addressee: int | None) -> Event:
    return QuotationFound(Quotation(start // 5, start // 5 + words, start, start + 9, speaker, addressee, "named", 0.9))


def make(path: Path, *, types: bool = False) -> Path:
    """Anna, who costs $5 and talks to Ben; Ben; a ship, which is nobody; a dog, whom nobody calls he."""
    person, thing = ("person", "object") if types else (None, None)
    events = [
        *entity(1, ("Anna", 110), ("Miss $A$", 120), ("Miss $A$", 130), ("she", 620), name="Anna $5$", kind=person),
        *entity(2, ("Ben", 640), ("him", 700), ("Her Ben", 800), ("Her Ben", 810), name="Ben", kind=person),
        *entity(3, *[("the ship", 150 + 10 * i) for i in range(9)], name="the ship", kind=thing),
        *entity(4, ("Rex", 900), ("Rex", 910), ("Rex", 920), name="Rex", kind=person),
        said(200, 12, 1, 2),
        said(300, 8, 1, 2),
        said(400, 5, 2, 1),
        said(500, 3, None, 4),
        said(600, 2, 1, 3),
    ]
    headings = [Heading("VOLUME I", 1, 100), Heading("Chapter 1", 2, 105), Heading("VOLUME II", 1, 600)]
    origin = StoreOrigin("/books/sea.txt", LENGTH, "", "m", "f", "{}")
    with Store.create(path, origin) as store:
        store.commit(events, ReadingPosition(LENGTH, 1, LENGTH, 200, done=True), headings=headings, length=LENGTH)
    return path


@pytest.fixture
def people(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(EXAMPLES)
    import people

    return people


def test_what_is_drawn(people: Any, tmp_path: Path) -> None:
    with Store.open(make(tmp_path / "sea.sqlite")) as store:
        book = people.look_at(store, "Sea", 5)
    assert [person.entity.name for person in book.people] == ["Anna $5$", "Ben"], "the largest first, people only"
    anna, ben = book.people
    assert anna.other_names == ["Miss $A$"]
    assert ben.other_names == []
    assert (anna.words_said, ben.words_said) == (22, 5)
    assert anna.partners == {2: 3, 3: 1}
    assert ben.partners == {1: 3}
    assert book.names == {1: "Anna $5$", 2: "Ben", 3: "the ship"}
    assert (book.quotations, book.chapters) == (5, 2)
    assert book.edges == [(0.105, 0.6), (0.6, 1.0)]
    assert anna.places == [3 / 495, 1 / 400]
    assert ben.places == [0, 4 / 400]
    with Store.open(make(tmp_path / "typed.sqlite", types=True)) as store:
        named = [person.entity.name for person in people.look_at(store, "Sea", 5).people]
    assert named == ["Anna $5$", "Rex", "Ben"], "where there are types, they tell; who is named most often comes first"


def test_the_picture(people: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    picture = tmp_path / "people.png"
    people.main([str(make(tmp_path / "sea.sqlite")), str(picture), "--title", "The $ea & <b>"])
    assert picture.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert capsys.readouterr().out == f"{picture}: 2 people of The $ea & <b>\n"
    people.main([str(tmp_path / "sea.sqlite"), str(tmp_path / "people.svg")])
    drawn = (tmp_path / "people.svg").read_text(encoding="utf-8")
    for text in ("sea", "Anna $5$", "Miss $A$", "Ben", "22", "the ship"):
        assert f"<!-- {text} -->" in drawn, text


def test_a_book_without_chapters_and_long_names(people: Any, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra plots is not installed")
    with Store.open(make(tmp_path / "sea.sqlite")) as store:
        book = people.look_at(store, "Sea " * 200, 5)
    anna = book.people[0]
    book.people = [replace_name(anna, "Anna " * 60)] * 3
    book.edges, book.groups, book.chapters = [(0.0, 0.5), (0.5, 1.0)], [], 0
    people.draw(book, tmp_path / "long.png")
    assert (tmp_path / "long.png").stat().st_size > 1000


def replace_name(person: Any, name: str) -> Any:
    return replace(person, entity=replace(person.entity, name=name))


@pytest.mark.slow
def test_mistakes_are_one_sentence(tmp_path: Path) -> None:
    store = make(tmp_path / "sea.sqlite")
    environment = os.environ | {"OMP_NUM_THREADS": "1"}

    def run(*arguments: object, code: str = "pass") -> str:
        script = f"import sys, runpy; {code}; sys.argv[1:] = {[str(one) for one in arguments]!r}; "
        script += f"runpy.run_path({str(EXAMPLES / 'people.py')!r}, run_name='__main__')"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment)
        assert done.returncode == 1
        return done.stderr

    assert run(tmp_path / "none.sqlite", tmp_path / "a.png").startswith(
        f"people: {tmp_path / 'none.sqlite'}: no such store"
    )
    missing = run(store, tmp_path / "a.png", code="sys.modules['matplotlib'] = None")
    assert missing == "people: matplotlib is not installed; run: pip install 'streamcoref[plots]'\n"
    assert "the picture cannot be written" in run(store, tmp_path / "none" / "a.png")
    assert "the picture cannot be written" in run(store, tmp_path / "a.poem")
