"""A book into a store: its text is kept there, it goes on after being stopped, and what has changed is refused."""

from __future__ import annotations

import gzip
import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("lxml", reason="the extra books is not installed")

from streamcoref import StoppedError, StreamcorefError
from streamcoref import _document_events as document_events
from streamcoref.document import Section
from streamcoref.store import Store, chapters, database, mentions_in_context
from tests import toy_resolver
from tests.cli.toy_resolving import rows
from tests.text.books.making import epub, page

PARAGRAPHS = [toy_resolver.plain_text(seed, 120) for seed in range(4)]
PAGES = {f"{n}.xhtml": page(f"<h2>Tale {n}</h2><p>{text}</p>") for n, text in enumerate(PARAGRAPHS)}
TEXT = "\n\n".join(f"Tale {n}\n\n{text}" for n, text in enumerate(PARAGRAPHS))
RESOLVER = toy_resolver.resolver()


@pytest.fixture(autouse=True)
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(document_events, "WORDS_AT_ONCE", 15)
    monkeypatch.setattr(database, "TEXT_PART", 100)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.epub"
    path.write_bytes(epub(PAGES))
    return path


def stop_after(parts: int) -> Callable[[], bool]:
    asked = iter([False] * parts)
    return lambda: next(asked, True)


def test_the_answer_is_that_of_its_text_and_the_text_is_kept(book: Path, tmp_path: Path) -> None:
    expected = RESOLVER.resolve(TEXT, singletons=True)
    with RESOLVER.resolve_file(book, tmp_path / "book.sqlite", singletons=True) as store:
        kept = store.text()
        assert kept is not None
        assert "".join(kept) == TEXT
        found = {tuple((m.start, m.end, m.text) for m in store.mentions(entity.id)) for entity in store.entities()}
        assert found == {tuple((m.start, m.end, m.text) for m in entity.mentions) for entity in expected.entities}
        assert all(TEXT[m.start : m.end] == m.text for e in store.entities() for m in store.mentions(e.id))
        starts = [TEXT.index(f"Tale {n}") for n in range(4)]
        assert store.sections() == [
            Section(f"Tale {n}", 1, start, end) for n, (start, end) in enumerate(pairwise([*starts, len(TEXT)]))
        ]
        assert [chapter.titles for chapter in chapters(store)] == [(f"Tale {n}",) for n in range(4)]


def test_mentions_have_their_context_when_the_book_is_gone(book: Path, tmp_path: Path) -> None:
    with RESOLVER.resolve_file(book, tmp_path / "book.sqlite", singletons=True) as store:
        book.unlink()
        entity = store.entities(1)[0].id
        for before, mention, after in mentions_in_context(store, entity, 10):
            assert TEXT[max(0, (mention.start or 0) - 10) :].startswith(before + mention.text + after)
            assert len(after) == 10 or (mention.end or 0) + 10 > len(TEXT)


@pytest.mark.parametrize("parts", [0, 1, 4])
def test_stopped_it_goes_on(parts: int, book: Path, tmp_path: Path) -> None:
    whole, target = tmp_path / "whole.sqlite", tmp_path / "book.sqlite"
    RESOLVER.resolve_file(book, whole).close()
    with pytest.raises(StoppedError):
        RESOLVER.resolve_file(book, target, should_stop=stop_after(parts))
    with Store.open(target) as store:
        assert not store.position.done
        assert "".join(store.text() or ()) == TEXT
    os.utime(book)  # as in another process, the text is taken out anew
    RESOLVER.resolve_file(book, target).close()
    assert rows(target) == rows(whole)
    RESOLVER.resolve_file(book, target, on_progress=lambda _: pytest.fail("it was complete")).close()


def test_another_text_or_other_chapters_are_refused(book: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.sqlite"
    with pytest.raises(StoppedError):
        RESOLVER.resolve_file(book, target, should_stop=stop_after(3))
    before = rows(target)
    for pages in (
        PAGES | {"3.xhtml": page("<h2>Tale 3</h2><p>Another end.</p>")},
        {name: text.replace("h2", "p") for name, text in PAGES.items()},
    ):
        book.write_bytes(epub(pages))
        with pytest.raises(StreamcorefError, match=r"begun with another text \(the content of .*book.epub is not what"):
            RESOLVER.resolve_file(book, target)
    assert rows(target) == before
    book.write_bytes(epub(PAGES) + b"\n")  # other bytes, and the same book
    RESOLVER.resolve_file(book, target).close()


def test_packed_or_under_another_name_it_is_the_same(book: Path, tmp_path: Path) -> None:
    for name in ("book.epub.gz", "book"):
        other = tmp_path / name
        other.write_bytes(gzip.compress(book.read_bytes()) if name.endswith(".gz") else book.read_bytes())
        with RESOLVER.resolve_file(other, tmp_path / f"{name}.sqlite") as store:
            assert "".join(store.text() or ()) == TEXT


def test_a_store_of_plain_text_keeps_none(tmp_path: Path) -> None:
    plain = tmp_path / "plain.txt"
    plain.write_text(TEXT)
    with RESOLVER.resolve_file(plain, tmp_path / "plain.sqlite") as store:
        assert store.text() is None


def test_a_text_with_gaps_is_said_to_be_damaged(book: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.sqlite"
    RESOLVER.resolve_file(book, target).close()
    for change in ("DELETE FROM text WHERE start = 100", "UPDATE text SET characters = x'00' WHERE start = 0"):
        with closing(sqlite3.connect(target)) as connection, connection:
            connection.execute(change)
        Store.accept(target)
        with Store.open(target) as store, pytest.raises(StreamcorefError, match="damaged: its text has gaps"):
            list(store.text() or ())


def test_encodings_of_a_page_must_stay_as_they_were(tmp_path: Path) -> None:
    source, target = tmp_path / "page.html", tmp_path / "page.sqlite"
    source.write_bytes(f"<p>Café {PARAGRAPHS[0]}".encode("cp1252"))
    with pytest.raises(StreamcorefError, match="not valid utf-8"):
        RESOLVER.resolve_file(source, target)
    RESOLVER.resolve_file(source, target, encoding="cp1252").close()
    source.write_bytes(f"<p>Café {PARAGRAPHS[0]}".encode())
    with pytest.raises(StreamcorefError, match=r"another encoding \(cp1252; now utf-8\)"):
        RESOLVER.resolve_file(source, target)
