"""Chapters of a store: where they begin and end, and who is mentioned in them; stopped and gone on with, too."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from streamcoref import Section, StoppedError
from streamcoref.errors import StreamcorefError
from streamcoref.formats import files, write_documents
from streamcoref.store import Store, chapters
from tests import toy_resolver
from tests.cli.toy_resolving import rows

RESOLVER = toy_resolver.resolver()
PROSE = [toy_resolver.plain_text(seed, 120).replace(" . ", ".\n\n") + "\n\n" for seed in range(4)]
VOLUMES = "VOLUME I\n\nCHAPTER I\n\n{1}CHAPTER II\n\n{2}VOLUME II\n\nCHAPTER I\n\n{3}EPILOGUE\n\n!"
TEXT = ("{0}" + VOLUMES).format(*PROSE)


@pytest.fixture(autouse=True)
def short_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "CHUNK_BYTES", 101)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    path = tmp_path / "book.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def stop_after(parts: int) -> Callable[[], bool]:
    asked = iter(range(1 << 30))
    return lambda: next(asked) >= parts


def test_a_store_has_the_sections_of_the_document(book: Path) -> None:
    expected = RESOLVER.resolve(TEXT).sections
    assert [section.title for section in expected] == [
        "VOLUME I",
        "CHAPTER I",
        "CHAPTER II",
        "VOLUME II",
        "CHAPTER I",
        "EPILOGUE",
    ]
    with RESOLVER.resolve_file(book, book.with_suffix(".sqlite")) as store:
        assert tuple(store.sections()) == expected


@pytest.mark.parametrize("parts", [1, 3, 8, 13])
def test_stopped_and_gone_on_with_they_are_the_same(book: Path, tmp_path: Path, parts: int) -> None:
    whole, target = tmp_path / "whole.sqlite", tmp_path / "book.sqlite"
    RESOLVER.resolve_file(book, whole).close()
    stops = 0
    while True:
        try:
            RESOLVER.resolve_file(book, target, should_stop=stop_after(parts)).close()
            break
        except StoppedError:
            stops += 1
            with Store.open(target) as store:
                assert all(section.end <= store.position.characters for section in store.sections())
    assert stops
    assert rows(target) == rows(whole)
    assert len(rows(whole)["sections"]) == 6


def test_sections_that_are_not_the_texts_are_refused(book: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.sqlite"
    with pytest.raises(StoppedError):
        RESOLVER.resolve_file(book, target, should_stop=stop_after(12))
    with Store.open(target) as store:
        assert store.sections()
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("DELETE FROM sections WHERE rowid = 1")
        connection.commit()
    Store.accept(target)
    with pytest.raises(StreamcorefError, match="damaged: its sections are not those of this text"):
        RESOLVER.resolve_file(book, target)


def test_a_document_brings_its_own(tmp_path: Path) -> None:
    document = RESOLVER.resolve(TEXT, key="a")
    write_documents([document], tmp_path / "a.jsonl", "jsonlines")
    with RESOLVER.resolve_file(tmp_path / "a.jsonl", tmp_path / "a.sqlite") as store:
        assert tuple(store.sections()) == document.sections


def test_who_is_mentioned_where(book: Path) -> None:
    with RESOLVER.resolve_file(book, book.with_suffix(".sqlite")) as store:
        found = list(chapters(store))
        # The small model takes the "I" of a heading for a mention, so that volumes have some of their own.
        assert [chapter.titles for chapter in found if len(chapter.titles) != 1] == [
            (),
            ("VOLUME I", "CHAPTER I"),
            ("VOLUME I", "CHAPTER II"),
            ("VOLUME II", "CHAPTER I"),
            ("VOLUME II", "EPILOGUE"),
        ]
        mentions = [(entity.id, mention) for entity in store.entities() for mention in store.mentions(entity.id)]
        for chapter in found:
            inside = [number for number, mention in mentions if chapter.start <= (mention.start or 0) < chapter.end]
            assert sorted(chapter.mentions.elements()) == sorted(inside)
        assert sum(chapter.mentions.total() for chapter in found) == len(mentions) > 50
        volumes = list(chapters(store, level=1))
        assert [chapter.titles for chapter in volumes] == [(), ("VOLUME I",), ("VOLUME II",)]
        of_volume = [chapter.mentions for chapter in found if chapter.titles[:1] == ("VOLUME I",)]
        assert volumes[1].mentions == sum(of_volume, Counter())
        assert store.entity(mentions[0][0]).id == mentions[0][0]
        with pytest.raises(StreamcorefError, match="there is no entity 999999"):
            store.entity(999999)


def test_a_text_without_headings_has_none(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(PROSE[0])
    with RESOLVER.resolve_file(tmp_path / "a.txt", tmp_path / "a.sqlite") as store:
        assert store.sections() == list(chapters(store)) == []


def test_a_section_being_read_ends_where_the_text_has_been_read_to(book: Path, tmp_path: Path) -> None:
    target = tmp_path / "book.sqlite"
    with pytest.raises(StoppedError):
        RESOLVER.resolve_file(book, target, should_stop=stop_after(12))
    with Store.open(target) as store:
        *_, last = store.sections()
        assert last == Section("CHAPTER I", 2, TEXT.index("CHAPTER I"), store.position.characters)
