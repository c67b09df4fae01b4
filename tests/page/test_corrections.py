"""Entities are renamed and merged by hand; what is exported is what Python writes for the corrected document."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamcoref import Document
from streamcoref.formats import read_documents, write_documents
from tests.page.reading import TEXT, export, paste, rows
from tests.toy_resolver import resolver

pytestmark = pytest.mark.browser

KINDS = {"JSON": "json", "CoNLL-U": "conllu", "CSV": "csv"}


def written(document: Document, kind: str, tmp_path: Path) -> str:
    path = tmp_path / f"python.{KINDS[kind]}"
    write_documents([document], path, KINDS[kind], force=True)
    return path.read_bytes().decode()


def merged(document: Document, one: int, other: int) -> Document:
    clusters = list(document.predicted_clusters or ())
    clusters[one] = clusters[one] + clusters[other]
    del clusters[other]
    return replace(document, predicted_clusters=tuple(clusters))


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_exported_letter_by_letter_as_python_writes_it(home: Any, tmp_path: Path, kind: str) -> None:
    text = f'  "A | b\\c",\t{TEXT}\r\n\n👍🏽 she said "no, \x00" 𝔊. \n'.replace("\r\n", "\n")
    paste(home, text)
    assert export(home, kind, tmp_path / "page") == written(resolver().resolve(text), kind, tmp_path)


@pytest.mark.parametrize("kind", KINDS)
def test_two_entities_are_merged_and_one_renamed(home: Any, tmp_path: Path, kind: str) -> None:
    paste(home, TEXT)
    document = resolver().resolve(TEXT)
    one, other = sorted(document.entities, key=lambda entity: (-entity.size, entity.mentions[0].word_start))[:2]
    first, second, *_ = rows(home)
    assert (first, second) == ((one.name, one.size), (other.name, other.size))
    home.locator("[role=option]").nth(0).click()
    home.get_by_role("button", name="Merge…").click()
    home.locator("[role=option]").nth(1).click()
    assert home.locator("#report").text_content() == f"“{other.name}” is now “{one.name}”."
    home.keyboard.press("r")
    home.keyboard.type('Dr. "N", PhD')
    home.keyboard.press("Enter")
    assert rows(home)[0] == ('Dr. "N", PhD', one.size + other.size)

    corrected = merged(document, one.id, other.id)
    saved = export(home, kind, tmp_path / f"page.{KINDS[kind]}")
    expected = written(corrected, kind, tmp_path)
    if kind == "CoNLL-U":
        assert saved == expected
        (back,) = read_documents(tmp_path / "page.conllu")
        assert (back.words, back.text, back.clusters) == (document.words, TEXT, corrected.predicted_clusters)
    elif kind == "JSON":
        (wanted,) = json.loads(expected)
        biggest = max(wanted["entities"], key=lambda entity: entity["size"])
        biggest["name"] = 'Dr. "N", PhD'
        assert json.loads(saved) == [wanted]
    else:
        wanted_rows, saved_rows = (list(csv.DictReader(io.StringIO(table))) for table in (expected, saved))
        for row in wanted_rows:
            if row["size"] == str(one.size + other.size):
                row["name"] = 'Dr. "N", PhD'
        assert saved_rows == wanted_rows


def test_corrections_are_taken_back_one_by_one(home: Any, tmp_path: Path) -> None:
    paste(home, TEXT)
    before, names = export(home, "JSON", tmp_path / "page"), rows(home)
    home.keyboard.press("j")
    home.keyboard.press("m")
    home.locator(".m[role=link]:not(.on)").first.click()
    home.keyboard.press("r")
    home.keyboard.type("Nobody")
    home.keyboard.press("Enter")
    assert export(home, "JSON", tmp_path / "page") != before
    undo = home.get_by_role("button", name="Undo")
    undo.click()
    undo.click()
    assert undo.is_disabled()
    assert rows(home) == names
    assert export(home, "JSON", tmp_path / "page") == before


def test_escape_ends_the_asking_and_nothing_is_changed(home: Any) -> None:
    paste(home, TEXT)
    names = rows(home)
    home.keyboard.press("j")
    home.keyboard.press("m")
    assert "Pick the entity" in home.locator("#report").text_content()
    home.keyboard.press("Escape")
    assert home.locator("#report").text_content() == ""
    home.locator("[role=option]").nth(1).click()
    assert home.locator(".card .name").text_content() == names[1][0]
    assert rows(home) == names


def test_mentions_of_one_entity_that_cross_are_no_conllu(home: Any) -> None:
    """As Python refuses them: they would be read back as nested ones."""
    document = resolver().resolve(TEXT)
    spans = {(m.word_start, m.word_end): entity for entity in document.entities for m in entity.mentions}
    one, other = next(
        (spans[a], spans[b])
        for a in spans
        for b in spans
        if a[0] < b[0] < a[1] - 1 and a[1] < b[1] and spans[a] is not spans[b]
    )
    paste(home, TEXT)
    home.locator(f'.m[role=link][title="{one.name} · 1 of {one.size}"]').first.click()
    home.keyboard.press("m")
    home.locator(f'.m[role=link][title="{other.name} · 1 of {other.size}"]').first.click()
    home.get_by_role("button", name="CoNLL-U").click()
    home.get_by_text("This cannot be written as CoNLL-U").wait_for()
