"""The page of the format html, which needs no server: it reads, walks and finds with the same code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streamcoref import Document
from streamcoref.text import document_from_text
from tests.page.reading import mention_texts, rows

pytestmark = pytest.mark.browser

ANN = replace(
    document_from_text("Ann", "Ann ran. She fell.\n\nBo saw her."), clusters=(((0, 1), (3, 4), (8, 9)), ((6, 7),))
)


def test_an_entity_is_walked_through_and_left_again(saved_page: Any) -> None:
    tab = saved_page(ANN)
    assert tab.title() == "Ann"
    assert tab.locator(".counts").text_content() == "10 words · 2 entities · 4 mentions"
    assert rows(tab) == [("Ann", 3), ("Bo", 1)]
    tab.locator("[role=option]").first.click()
    seen = []
    for _ in range(4):
        seen.append(tab.locator(".current").text_content())
        tab.keyboard.press("n")
    assert seen == ["Ann", "She", "her", "Ann"]
    color = "element => getComputedStyle(element).backgroundColor"
    colors = [tab.locator(".m").nth(i).evaluate(color) for i in range(4)]
    assert colors[0] == colors[1] == colors[3] != colors[2]
    tab.keyboard.press("Escape")
    assert tab.locator(".card").is_hidden()
    assert tab.locator(".m[tabindex='0']").count() == 1
    assert tab.get_by_role("button", name="Rename").count() == 0, "corrections need a server"


def test_several_documents_are_chosen_from(saved_page: Any) -> None:
    tab = saved_page(ANN, Document("", (), ()), replace(ANN, key="<i>three</i>"))
    assert tab.get_by_label("Document").locator("option").all_text_contents() == ["Ann", "", "<i>three</i>"]
    tab.get_by_label("Document").select_option(index=2)
    assert tab.locator("h1").text_content() == "<i>three</i>"
    assert mention_texts(tab) == ["Ann", "She", "Bo", "her"]
    tab.get_by_label("Document").select_option(index=1)
    assert tab.locator(".counts").text_content() == "0 words · 0 entities · 0 mentions"


def test_line_ends_and_what_cannot_be_seen(saved_page: Any) -> None:
    text = "one\r\ntwo\x00 three\rfour\n\n\n\tfive\u2028six \x07seven\x7f"
    tab = saved_page(document_from_text("d", text))
    blocks = tab.locator(".block").all_text_contents()
    assert blocks == ["one\ntwo␀ three\nfour", "\tfive\nsix ␇seven␡"]
    style = tab.locator(".block").first.evaluate("block => getComputedStyle(block).whiteSpace")
    assert style in {"pre-wrap", "break-spaces"}


def test_mentions_that_cross_or_nest_keep_their_texts(saved_page: Any) -> None:
    clusters = [[(0, 3)], [(1, 5)], [(2, 3), (6, 7)], [(2, 6)], [(0, 7)]]
    tab = saved_page(Document.from_sentences("d", [list("abcdefg")], clusters=clusters))
    expected = ["a b c", "b c d e", "c", "g", "c d e f", "a b c d e f g"]
    assert sorted(mention_texts(tab)) == sorted(expected)
    assert tab.locator(".m[role=link]").count() == len(expected), "each is one link, in however many pieces"
    assert tab.locator(".block").text_content() == "a b c d e f g"


def test_speakers_and_words_that_share_characters(saved_page: Any) -> None:
    offsets = ((0, 3), (4, 6), (4, 6), (7, 10))
    clusters = (((0, 1), (2, 4)), ((1, 2),))
    tab = saved_page(
        Document(
            "d",
            ("fin", "de", "le", "jeu"),
            (4,),
            clusters,
            text="fin du jeu",
            offsets=offsets,
            speakers=("A", "B", "B", "B"),
        )
    )
    assert tab.locator(".speaker").all_text_contents() == ["A", "B"]
    assert sorted(mention_texts(tab)) == ["du", "du jeu", "fin"]


def test_text_can_be_read_without_scripts(browser: Any, tmp_path: Any) -> None:
    from streamcoref.formats import write_documents

    write_documents([ANN], tmp_path / "page.html", "html")
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto((tmp_path / "page.html").as_uri())
    assert tab.get_by_text("Ann ran. She fell.").is_visible()
    context.close()


def test_everything_is_printed(saved_page: Any) -> None:
    text = "\n\n".join(f"Paragraph {number} is here." for number in range(400))
    tab = saved_page(document_from_text("d", text))
    assert tab.locator(".block").count() < 400
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.locator(".block").count() == 400
