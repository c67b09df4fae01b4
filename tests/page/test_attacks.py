"""What others write stays text: in a text, in the names of speakers, entities, files and keys."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from streamcoref import Quotation
from streamcoref.text import document_from_text
from tests.page.reading import done, paste, rows
from tests.toy_resolver import plain_text

pytestmark = pytest.mark.browser

ATTACK = "\"><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>'</article></script>{{7*7}}"


def harmless(tab: Any) -> None:
    """Nothing of the attack is an element. (A dialog fails the test by itself.)"""
    tab.wait_for_timeout(200)
    assert tab.locator("img, script:not([src]):not([type]), svg[onload], [onerror]").count() == 0


def test_through_the_text(home: Any) -> None:
    paste(home, f"{ATTACK} {plain_text(3, 60)} {ATTACK}")
    assert home.locator(".blocks").text_content().count(ATTACK) == 2
    home.keyboard.press("/")
    home.keyboard.type(ATTACK)
    home.keyboard.press("Enter")
    harmless(home)


def test_through_the_name_of_an_entity(home: Any) -> None:
    paste(home, plain_text(3, 120))
    home.keyboard.press("j")
    home.keyboard.press("r")
    home.keyboard.type(ATTACK)
    home.keyboard.press("Enter")
    assert ATTACK in [name for name, _ in rows(home)]
    home.keyboard.press("m")
    harmless(home)


def test_through_a_speaker(home: Any, server: str) -> None:
    home.goto(f"{server}/#live")
    home.fill("#speaker", ATTACK[:80])
    home.fill("#message", ATTACK)
    home.keyboard.press("Enter")
    home.locator(".speaker").wait_for()
    assert home.locator(".speaker").text_content() == ATTACK[:80]
    harmless(home)


def test_through_the_name_of_a_file(home: Any) -> None:
    name = ATTACK.replace("/", "∕") + ".txt"
    home.locator("#file").set_input_files(
        {"name": name, "mimeType": "text/plain", "buffer": plain_text(3, 60).encode()}
    )
    home.locator("#reading").wait_for(state="visible")
    done(home)
    assert "onerror" in home.locator("#reading h1").text_content()
    home.get_by_role("link", name="New text").click()
    home.locator("#books li").first.wait_for()
    harmless(home)


def test_through_a_link_to_a_job(home: Any, server: str) -> None:
    home.expected.append("404")
    home.goto(f"{server}/#job={ATTACK}")
    home.locator("#report.bad").wait_for()
    harmless(home)


def test_an_address_that_means_nothing_is_said_so(home: Any, server: str) -> None:
    home.expected.append("404")
    home.goto(f"{server}/#job=%E0%A4%A")
    home.get_by_text("There is no such job.").wait_for()


def test_through_everything_in_a_written_page(saved_page: Any) -> None:
    document = document_from_text(ATTACK, f"{ATTACK} {ATTACK}")
    count = len(document.words)
    said = Quotation(1, count - 1, None, None, 0, 0, ATTACK, 0.5)
    clusters = (((0, count // 2), (count // 2, count)),)
    document = replace(document, clusters=clusters, speakers=(ATTACK,) * count, quotations=(said,))
    tab = saved_page(document)
    assert tab.title() == ATTACK
    tab.locator(".said").hover()
    assert tab.locator(".tip").text_content().endswith(f" ({ATTACK})")
    assert tab.locator(".speaker").first.text_content() == ATTACK
    tab.locator("[role=option]").click()
    tab.keyboard.press("s")
    assert ATTACK in tab.locator(".saying").text_content()
    harmless(tab)


def test_nothing_comes_from_elsewhere(home: Any, server: str) -> None:
    asked: list[str] = []
    home.on("request", lambda request: asked.append(request.url))
    home.reload()
    home.get_by_role("button", name="A story").click()
    done(home)
    assert asked
    assert all(url.startswith(server) for url in asked)
