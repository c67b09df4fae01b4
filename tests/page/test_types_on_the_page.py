"""Types beside the names of entities, in what is found by them, and in what is exported."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamcoref.formats import write_documents
from streamcoref.text import document_from_text
from tests.page.reading import TEXT, export, paste, rows
from tests.server.running import running
from tests.toy_resolver import plain_text, started, typed_resolver

pytestmark = pytest.mark.browser

ANN = replace(
    document_from_text("Ann", "Ann ran to Ely. She saw it."),
    predicted_clusters=(((0, 1), (5, 6)), ((3, 4), (7, 8))),
    types={(0, 1): ("person", 0.75), (3, 4): ("place", 0.5)},
)


def types(tab: Any) -> list[str]:
    return tab.locator("[role=option] .type").all_text_contents()


def test_a_written_page_shows_types_and_finds_by_them(saved_page: Any) -> None:
    tab = saved_page(ANN)
    assert types(tab) == ["person", "place"]
    tab.get_by_label("Find an entity or words").fill("place")
    tab.wait_for_function("document.querySelectorAll('[role=option]').length === 1")
    assert rows(tab) == [("Ely", 2)]
    assert types(saved_page(replace(ANN, types={}))) == []


def test_the_list_is_filtered_by_type(saved_page: Any) -> None:
    tab = saved_page(ANN)
    choice = tab.get_by_label("Type", exact=True)
    assert choice.locator("option").all_text_contents() == ["All types", "person (1)", "place (1)"]
    choice.select_option("place")
    assert rows(tab) == [("Ely", 2)]
    tab.get_by_label("Find an entity or words").fill("Ann")
    tab.get_by_text("No entity is called so.").wait_for()
    tab.get_by_label("Find an entity or words").fill("")
    choice.select_option("")
    assert rows(tab) == [("Ann", 2), ("Ely", 2)]
    assert saved_page(replace(ANN, types={})).get_by_label("Type", exact=True).is_hidden()


def test_a_chat_has_the_names_and_types_that_the_server_gives_now(tab: Any, tmp_path: Path) -> None:
    message, stream = plain_text(9, 60), typed_resolver().stream()
    found = stream.feed(f"{message}\n", "Anna") + stream.flush()
    known = {entity.entity: [entity.name, entity.type] for entity in stream.entities()}
    expected = sorted(known[event.entity] for event in started(found))
    with running(tmp_path / "data", resolver=typed_resolver()) as server:
        tab.goto(f"{server.url}/#live")
        tab.fill("#speaker", "Anna")
        tab.fill("#message", message)
        tab.keyboard.press("Enter")
        tab.wait_for_function(
            """expected => {
              const rows = [...document.querySelectorAll("[role=option]")];
              const text = (row, part) => row.querySelector(part)?.textContent ?? null;
              const shown = rows.map((row) => [text(row, ".name"), text(row, ".type")]);
              return JSON.stringify(shown.sort()) === JSON.stringify(expected.sort());
            }""",
            arg=expected,
        )


@pytest.mark.parametrize("kind", ["JSON", "CSV"])
def test_an_answer_with_types_is_exported_as_python_writes_it(tab: Any, tmp_path: Path, kind: str) -> None:
    document = typed_resolver().resolve(TEXT)
    with running(tmp_path / "data", resolver=typed_resolver()) as server:
        tab.goto(server.url)
        paste(tab, TEXT)
        assert sorted(types(tab)) == sorted(entity.type for entity in document.entities)
        found = export(tab, kind, tmp_path / "page")
    write_documents([document], tmp_path / f"python.{kind.lower()}", kind.lower())
    assert found == (tmp_path / f"python.{kind.lower()}").read_bytes().decode()
