"""Quotations in a store, and entities that turn out to be one."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamcoref import (
    EntitiesMerged,
    EntityFinished,
    EntityStarted,
    Event,
    Mention,
    MentionLinked,
    Quotation,
    QuotationFound,
    StreamcorefError,
)
from streamcoref.cli import app
from streamcoref.store import ReadingPosition, Store, StoreOrigin

TEXT = '"I am here," said Anna to Ben.\n"Good," he said.\nAnna left.'


def mention(text: str, word: int, start: int) -> Mention:
    return Mention(word, word + 1, start, start + len(text), text, 0, 0.9)


ANNA, BEN, HE, LATER = mention("Anna", 7, 18), mention("Ben", 9, 26), mention("he", 14, 39), mention("Anna", 17, 48)
FIRST = Quotation(0, 6, 0, 12, 3, 5, "named", 0.94)
SECOND = Quotation(11, 14, 31, 38, 5, 3, "pronoun", 0.93)
EVENTS: list[Event] = [
    EntityStarted(3, ANNA),
    EntityStarted(5, BEN),
    MentionLinked(5, HE),
    QuotationFound(FIRST),
    QuotationFound(SECOND),
    EntityStarted(9, LATER),
]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    text = tmp_path / "talk.txt"
    text.write_text(TEXT, encoding="utf-8", newline="")
    sha256 = hashlib.sha256(text.read_bytes()).hexdigest()
    options = json.dumps({"encoding": "utf-8", "errors": "strict"})
    with Store.create(tmp_path / "talk.sqlite", StoreOrigin(str(text), len(TEXT), sha256, "m", "f", options)) as store:
        store.commit(EVENTS, ReadingPosition(len(TEXT), 3, len(TEXT), 20, "", b"state"))
    return tmp_path / "talk.sqlite"


def test_what_is_said(path: Path) -> None:
    with Store.open(path) as store:
        assert list(store.quotations()) == [FIRST, SECOND]
        assert list(store.quotations(5)) == [SECOND]
        assert list(store.quotations(9)) == []


def test_entities_that_are_one(path: Path) -> None:
    with Store.open(path, writable=True) as store:
        merged: list[Event] = [EntitiesMerged(3, 9), EntityFinished(3, "Anna", 2, ANNA, LATER)]
        store.commit(merged, replace(store.position, done=True, state=None))
        assert [(one.id, one.size, one.start, one.end) for one in store.entities()] == [(3, 2, 18, 52), (5, 2, 26, 41)]
        assert [one.start for one in store.mentions(3)] == [18, 48]
        assert list(store.mentions(9)) == []
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT gone, kept FROM merges").fetchall() == [(9, 3)]
    connection.close()


def test_a_number_stays_known_however_often_it_is_merged(path: Path) -> None:
    with Store.open(path, writable=True) as store:
        store.commit([EntitiesMerged(5, 9), EntitiesMerged(3, 5)], replace(store.position, words=21))
        assert [(one.id, one.size) for one in store.entities()] == [(3, 4)]
        assert {(one.speaker, one.addressee) for one in store.quotations()} == {(3, 3)}
    with sqlite3.connect(path) as connection:
        assert connection.execute("SELECT gone, kept FROM merges ORDER BY gone").fetchall() == [(5, 3), (9, 3)]
    connection.close()


def test_what_somebody_says_on_the_command_line(path: Path) -> None:
    run = CliRunner().invoke(app, ["entities", str(path), "--says", "anna"])
    assert run.output.splitlines() == ["Anna +: 1 quotation", "", '        0  "I am here," (named, to Ben)']
    (path.parent / "talk.txt").write_text("gone", encoding="utf-8")
    run = CliRunner().invoke(app, ["entities", str(path), "--says", "Ben"])
    assert "shown without their words" in run.stderr
    assert "       11   (pronoun, to Anna)" in run.stdout.splitlines()


def test_one_question_at_a_time(path: Path) -> None:
    run = CliRunner().invoke(app, ["entities", str(path), "--says", "Anna", "--name", "Anna"])
    assert isinstance(run.exception, StreamcorefError)
    assert "a question of its own" in str(run.exception)


def test_values_that_no_quotation_has(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE quotations SET score = 'high'")
    connection.close()
    Store.accept(path)
    with Store.open(path) as store, pytest.raises(StreamcorefError, match="damaged"):
        list(store.quotations())
