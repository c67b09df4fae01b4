"""Quotations on the page: marked in the text, told of when one points at them, walked through, corrected, exported."""

from __future__ import annotations

import csv
import io
import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamcoref import Document, Quotation
from streamcoref.events import with_answer
from streamcoref.formats import write_documents
from streamcoref.text import document_from_text
from tests.page.reading import done, export, paste, rows, settle, shown
from tests.toy_resolver import resolver

pytestmark = pytest.mark.browser

# 𝔊 is one character of Python's and two of the browser's.
LINES = ["“𝔊 I came, Bo,” said Ann.", "“Did you?” asked Bo. “When?”", "“Hush!”", "“Now,” said Ann, “ Bo.”", "Bo left."]
TEXT = "\n\n".join(LINES)


def words(document: Document, *wanted: str) -> list[tuple[int, int]]:
    """Where these words stand, each after the one before."""
    found, at = [], 0
    for word in wanted:
        at = document.words.index(word, at)
        found.append((at, at + 1))
        at += 1
    return found


def talk(key: str = "Talk") -> Document:
    document = document_from_text(key, TEXT)
    ann, bo = words(document, "I", "Ann", "Ann"), words(document, "Bo", "Bo", "Bo", "Bo")
    document = replace(document, predicted_clusters=(tuple(ann), tuple(bo)))
    marks = [number for number, word in enumerate(document.words) if word in "“”"]
    spans = [(first, last + 1) for first, last in zip(marks[::2], marks[1::2], strict=True)]
    who = [(0, 1, "named"), (1, 0, "named"), (1, None, "turns"), (None, 0, "unknown"), (0, 1, "named"), (0, 1, "named")]
    quotations = [
        Quotation(*span, None, None, speaker, addressee, kind, 0.5)
        for span, (speaker, addressee, kind) in zip(spans, who, strict=True)
    ]
    return replace(document, quotations=tuple(quotations))


def test_quotations_are_marked_and_say_who_speaks(saved_page: Any) -> None:
    tab = saved_page(talk())
    assert shown(tab) == "\n".join(LINES)
    quoted = tab.locator(".q").all_text_contents()
    assert quoted == ["“𝔊 I came, Bo,”", "“Did you?”", "“When?”", "“Hush!”", "“Now,”", "“ Bo.”"]
    told = tab.locator(".said").evaluate_all("bars => bars.map(bar => bar.getAttribute('aria-label'))")
    assert told == [
        "Ann to Bo (named)",
        "Bo to Ann (named)",
        "Bo (turns)",
        "Unknown speaker to Ann",
        "Ann to Bo (named)",
        "Ann to Bo (named)",
    ]
    hues = tab.locator(".q").evaluate_all("elements => elements.map(element => element.style.getPropertyValue('--h'))")
    assert hues[0] == hues[4] != hues[1]
    assert hues[3] == ""
    assert tab.locator(".counts").text_content().endswith("6 quotations")
    assert tab.locator(".tip").is_hidden()
    tab.locator(".q").nth(1).hover()
    settle(tab)
    assert tab.locator(".tip").text_content() == "Bo to Ann (named)"
    assert tab.locator("[role=option].on .name").all_text_contents() == ["Bo"]
    tab.locator(".q").nth(3).hover()
    assert tab.locator(".tip").text_content() == "Unknown speaker to Ann"
    tab.locator("h1").hover()
    assert tab.locator(".tip").is_hidden()


def test_a_text_without_quotations_shows_nothing_of_them(saved_page: Any) -> None:
    tab = saved_page(replace(talk(), quotations=()))
    assert tab.locator(".q, .said").count() == 0
    assert tab.get_by_role("checkbox", name="Who speaks").is_hidden()
    assert "quotation" not in tab.locator(".counts").text_content()
    tab.locator("[role=option]").first.click()
    assert tab.locator(".kinds").is_hidden()
    tab.keyboard.press("s")
    assert tab.locator(".where").text_content() == "1 of 4"


def test_one_walks_through_what_an_entity_says(saved_page: Any) -> None:
    tab = saved_page(talk())
    tab.locator("[role=option]", has_text="Ann").click()
    assert tab.locator(".kinds button").all_text_contents() == ["3 mentions", "says 3"]
    tab.keyboard.press("s")
    settle(tab)
    walked = []
    for _ in range(4):
        walked.append((tab.locator(".where").text_content(), tab.locator(".q.current").text_content()))
        assert tab.locator(".saying").text_content() == "Ann to Bo (named)"
        tab.keyboard.press("n")
        settle(tab)
    assert walked == [
        ("1 of 3", "“𝔊 I came, Bo,”"),
        ("2 of 3", "“Now,”"),
        ("3 of 3", "“ Bo.”"),
        ("1 of 3", "“𝔊 I came, Bo,”"),
    ]
    tab.get_by_role("button", name="3 mentions").click()
    assert tab.locator(".saying").is_hidden()
    assert tab.locator(".where").text_content() == "3 of 3", "the walk goes on from where one is"
    # A bar is a link: it chooses who speaks, at what is said there.
    tab.keyboard.press("Escape")
    tab.locator(".said").nth(2).click()
    assert tab.locator(".card .name").text_content() == "Bo"
    assert tab.locator(".where").text_content() == "2 of 2"
    tab.keyboard.press("Escape")
    tab.locator(".said").nth(3).click()
    assert tab.locator(".card").is_hidden(), "nobody knows who says that"


def test_those_who_speak_are_listed_by_how_often_they_do(saved_page: Any) -> None:
    tab = saved_page(talk())
    assert rows(tab) == [("Bo", 4), ("Ann", 3)]
    tab.get_by_role("checkbox", name="Who speaks").check()
    assert rows(tab) == [("Ann", 3), ("Bo", 2)]
    assert tab.get_by_role("listbox", name="Entities who speak, the most first").is_visible()
    tab.locator("[role=option]").first.click()
    assert tab.locator(".where").text_content() == "1 of 3"
    assert tab.locator(".saying").is_visible()
    tab.get_by_role("checkbox", name="Who speaks").uncheck()
    assert rows(tab) == [("Bo", 4), ("Ann", 3)]


def test_arrows_and_focus_tell_who_speaks(saved_page: Any) -> None:
    tab = saved_page(talk())
    assert tab.locator(".blocks [tabindex='0']").count() == 1
    tab.locator(".blocks [tabindex='0']").focus()
    assert tab.locator(".tip").text_content() == "Ann to Bo (named)"
    focused = "document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
    walked = [tab.evaluate(focused)]
    for _ in range(6):
        tab.keyboard.press("ArrowRight")
        walked.append(tab.evaluate(focused))
    assert walked == ["Ann to Bo (named)", "I", "Bo", "Ann", "Bo to Ann (named)", "Bo", "Bo (turns)"]
    back = []
    for _ in range(6):
        tab.keyboard.press("ArrowLeft")
        back.append(tab.evaluate(focused))
    assert back == walked[-2::-1]
    assert tab.locator(".blocks [tabindex='0']").count() == 1
    tab.keyboard.press("Enter")
    assert tab.locator(".where").text_content() == "1 of 3"
    assert tab.locator(".saying").is_visible()


def test_a_quotation_over_paragraphs_and_across_a_mention(saved_page: Any) -> None:
    """It is drawn in every block that it has a part of, and announced once."""
    document = document_from_text("d", "Bo said: “One.\n\n“Two.\n\n“Three,” and left.")
    last = len(document.words)
    document = replace(
        document,
        predicted_clusters=(((0, 1),), ((last - 4, last - 1),)),
        quotations=(Quotation(3, last - 3, None, None, 0, None, "named", 0.5),),
    )
    tab = saved_page(document)
    assert "".join(tab.locator(".q").all_text_contents()) == "“One.“Two.“Three,”"
    assert tab.locator(".said").count() == 1
    assert shown(tab) == "Bo said: “One.\n“Two.\n“Three,” and left."


def test_no_line_ends_between_a_bar_and_what_is_said(saved_page: Any) -> None:
    text = "Bo bent down beside his sister and looked. “Josiah Penn,” he read. “He made it, and then he left.”"
    document = document_from_text("d", text)
    marks = [number for number, word in enumerate(document.words) if word in "“”"]
    said = [
        Quotation(first, last + 1, None, None, None, None, "unknown", 0.0)
        for first, last in zip(marks[::2], marks[1::2], strict=True)
    ]
    tab = saved_page(replace(document, quotations=tuple(said)))
    apart = """bars => bars.filter(bar => {
      const text = document.createRange();
      text.setStart(bar.nextSibling, 0);
      text.setEnd(bar.nextSibling, 1);
      return Math.abs(text.getBoundingClientRect().bottom - bar.getBoundingClientRect().bottom) > 15;
    }).length"""
    for width in range(320, 600, 10):
        tab.set_viewport_size({"width": width, "height": 700})
        settle(tab)
        assert tab.locator(".said").evaluate_all(apart) == 0, width


def spoken(text: str, key: str = "text") -> Document:
    """What a stream answers: with the speakers that it knows at the time."""
    stream = resolver().stream()
    return with_answer(document_from_text(key, text), stream.feed(text) + stream.close())


def dialogue(seed: int) -> str:
    chance = random.Random(seed)
    who = "Anna|the captain|the keeper|he|she|the old captain|Carl".split("|")
    what = "I have lost the ship|Where is it|the letter is in the harbour|No|He left her|she saw it".split("|")
    lines = []
    for _ in range(14):
        one, said = chance.choice(who), chance.choice(what)
        ways = [
            f'"{said}," said {one}. {chance.choice(who)} saw {chance.choice(who)}.',
            f'{one} said: "{said}."',
            f'{one} left the ship. "{said}," {one} said.',
        ]
        lines.append(chance.choice(ways))
    return "\n\n".join(lines)


# One in which the toy model knows several who speak; a wide character before them moves all places.
STORY = "👍 " + dialogue(74)


@pytest.mark.parametrize(("kind", "name"), [("JSON", "json"), ("Quotations", "quotations")])
def test_quotations_are_exported_as_python_writes_them(home: Any, tmp_path: Path, kind: str, name: str) -> None:
    paste(home, STORY)
    document = spoken(STORY)
    assert home.locator(".said").count() == len(document.quotations) == 14
    assert sum(quotation.speaker is not None for quotation in document.quotations) > 2
    saved = export(home, kind, tmp_path / "page")
    write_documents([document], tmp_path / "python", name)
    assert saved == (tmp_path / "python").read_bytes().decode()


def test_merging_and_renaming_keep_who_speaks(home: Any, tmp_path: Path) -> None:
    paste(home, STORY)
    document = spoken(STORY)
    home.get_by_role("checkbox", name="Who speaks").check()
    (one, most), (other, fewer), *_ = rows(home)
    home.locator("[role=option]").nth(1).click()
    home.keyboard.press("m")
    home.locator("[role=option]").nth(0).click()
    home.keyboard.press("r")
    home.keyboard.type("Somebody")
    home.keyboard.press("Enter")
    assert rows(home)[0] == ("Somebody", most + fewer)
    assert home.locator(".said[aria-label^='Somebody']").count() == most + fewer
    saved = list(csv.DictReader(io.StringIO(export(home, "Quotations", tmp_path / "page"))))
    assert len({row["speaker"] for row in saved if row["speaker_name"] == "Somebody"}) == 1
    assert sum(row["speaker_name"] == "Somebody" for row in saved) == most + fewer
    (whole,) = json.loads(export(home, "JSON", tmp_path / "page"))
    named = [whole["entities"][said["speaker"]]["name"] for said in whole["quotations"] if said["speaker"] is not None]
    assert named.count("Somebody") == most + fewer
    for _ in range(2):
        home.get_by_role("button", name="Undo").click()
    assert rows(home)[:2] == [(one, most), (other, fewer)]
    write_documents([document], tmp_path / "python", "json")
    assert export(home, "JSON", tmp_path / "page") == (tmp_path / "python").read_bytes().decode()


def test_a_book_of_the_server_has_them_too(home: Any, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text(STORY, encoding="utf-8")
    home.set_input_files("#file", tmp_path / "text.txt")
    home.locator("#reading").wait_for(state="visible")
    done(home)
    document = spoken(STORY)
    home.locator(".said").first.wait_for()
    assert home.locator(".counts").text_content().endswith("14 quotations")
    write_documents([replace(document, key="text.txt")], tmp_path / "python", "quotations")
    saved = export(home, "Quotations", tmp_path / "page")
    assert saved == (tmp_path / "python").read_bytes().decode()
