"""The page for keyboards, screen readers, narrow screens, light and dark: checked by axe-core where npm can get it."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.page.reading import TEXT, paste
from tests.page.test_who_speaks import talk

pytestmark = pytest.mark.browser

AXE = "axe-core@4"


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script, fetched by npm into a folder of the test."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("npm is not installed, so axe-core cannot be had")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run([npm, "install", "--silent", "--prefix", folder, AXE], capture_output=True, timeout=120)
    script: Path = folder / "node_modules/axe-core/axe.min.js"
    if done.returncode or not script.is_file():
        pytest.skip("npm could not install axe-core")
    return script.read_text(encoding="utf-8")


def violations(tab: Any, axe: str) -> list[str]:
    tab.evaluate(axe)
    found = tab.evaluate("axe.run(document, {resultTypes: ['violations']})")
    return [
        f"{violation['id']}: {node['html'][:200]} {node['failureSummary']}"
        for violation in found["violations"]
        for node in violation["nodes"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing(home: Any, axe: str, scheme: str, width: int) -> None:
    home.emulate_media(color_scheme=scheme)
    home.set_viewport_size({"width": width, "height": 800})
    assert violations(home, axe) == []
    paste(home, TEXT)
    assert violations(home, axe) == []
    home.keyboard.press("j")
    home.keyboard.press("r")
    assert violations(home, axe) == []
    home.evaluate("location.hash = 'live'")
    home.locator("#chat").wait_for(state="visible")
    assert violations(home, axe) == []
    home.fill("#message", TEXT)
    home.locator("#draft .m").first.wait_for()
    assert violations(home, axe) == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 400])
def test_axe_finds_nothing_in_quotations_and_types(saved_page: Any, axe: str, scheme: str, width: int) -> None:
    document = talk()
    first = [(entity.mentions[0].word_start, entity.mentions[0].word_end) for entity in document.entities]
    tab = saved_page(replace(document, types={first[0]: ("person", 0.5), first[1]: ("animal", 0.5)}))
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": width, "height": 800})
    assert violations(tab, axe) == []
    tab.locator(".said").first.focus()
    assert tab.locator(".tip").is_visible()
    assert violations(tab, axe) == []
    tab.keyboard.press("Enter")
    assert tab.locator(".saying").is_visible()
    assert violations(tab, axe) == []
    tab.get_by_role("checkbox", name="Who speaks").check()
    assert violations(tab, axe) == []
    fits = "elements => elements.every(e => e.scrollWidth <= e.clientWidth + 1)"
    assert tab.locator("html, .text, aside").evaluate_all(fits)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_the_description_of_the_server(tab: Any, server: str, axe: str, scheme: str) -> None:
    tab.emulate_media(color_scheme=scheme)
    tab.set_viewport_size({"width": 400, "height": 800})
    tab.goto(f"{server}/docs")
    tab.locator("details").evaluate_all("all => all.forEach((one) => { one.open = true; })")
    assert violations(tab, axe) == []
    assert tab.locator("html").evaluate("page => page.scrollWidth <= page.clientWidth + 1")


def test_a_text_is_few_stops_for_the_tab_key(home: Any) -> None:
    paste(home, TEXT)
    assert home.locator(".m[role=link]").count() > 30
    assert home.locator(".m[tabindex='0']").count() == 1
    stops = []
    home.locator("[type=search]").focus()
    for _ in range(4):
        home.keyboard.press("Tab")
        stops.append(home.evaluate("document.activeElement.className || document.activeElement.type"))
    assert "entities" in stops
    assert home.locator("[tabindex='0']").count() < 8


def test_arrows_go_from_mention_to_mention(home: Any) -> None:
    paste(home, TEXT)
    home.locator(".m[tabindex='0']").focus()
    focused = "document.activeElement.place && [document.activeElement.place.start, document.activeElement.place.end]"
    places = [home.evaluate(focused)]
    for _ in range(10):
        home.keyboard.press("ArrowRight")
        places.append(home.evaluate(focused))
    assert all(places)
    assert [start for start, _ in places] == sorted(start for start, _ in places)
    assert len({tuple(place) for place in places}) == 11
    home.keyboard.press("ArrowLeft")
    assert home.evaluate(focused) == places[-2]
    assert home.locator(".m[tabindex='0']").count() == 1
    home.keyboard.press("Enter")
    assert home.locator(".card").is_visible()


def test_a_list_is_one_stop_and_says_how_long_it_is(home: Any) -> None:
    paste(home, TEXT)
    listbox = home.get_by_role("listbox")
    listbox.focus()
    home.keyboard.press("ArrowDown")
    home.keyboard.press("ArrowDown")
    active = home.locator(f"#{listbox.get_attribute('aria-activedescendant')}")
    assert active.get_attribute("aria-selected") == "true"
    assert active.get_attribute("aria-posinset") == "2"
    assert int(active.get_attribute("aria-setsize")) == home.locator("[role=option]").count()
    home.keyboard.press("Enter")
    assert home.evaluate("document.activeElement.matches('.m.current')"), "Enter goes into the text"


@pytest.mark.parametrize("width", [320, 400, 700, 1280])
def test_nothing_is_wider_than_the_screen(home: Any, width: int) -> None:
    home.set_viewport_size({"width": width, "height": 700})
    for text in (None, TEXT + "x" * 300):
        if text:
            paste(home, text)
            home.keyboard.press("j")
        fits = "elements => elements.every(e => e.scrollWidth <= e.clientWidth + 1)"
        assert home.locator("html, .text, #start").evaluate_all(fits)
    text_height = home.locator(".text").evaluate("pane => pane.clientHeight")
    assert text_height > 200, "the list leaves room for the text"
