"""A server with keys: the page asks for one, sends it with every call, and forgets it with the tab."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.page.reading import TEXT, done
from tests.toy_resolver import resolver

pytestmark = pytest.mark.browser

KEY = "a-key-of-the-tests/+=?"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    running = pytest.importorskip("tests.server.running", reason="the server is not installed")
    from streamcoref.server.keys import Keys

    with running.running(tmp_path_factory.mktemp("guarded"), keys=Keys([KEY])) as found:
        yield found.url


def give(tab: Any, key: str) -> None:
    tab.locator("#key-dialog").wait_for(state="visible")
    tab.fill("#key", key)
    tab.get_by_role("button", name="Go on").click()


def test_a_key_is_asked_for_and_kept_for_the_tab(tab: Any, guarded: str, new_tab: Callable[[], Any]) -> None:
    tab.expected.append("401")
    tab.goto(guarded)
    assert tab.locator("#key-dialog").is_hidden(), "nothing has been asked of the server yet"
    tab.fill("#text", TEXT)
    tab.get_by_role("button", name="Read it").click()
    give(tab, "not the right key, <img src=x onerror=alert(1)>")
    tab.get_by_text("The server did not accept this key.").wait_for()
    give(tab, "nor-is-this-one-here")
    tab.get_by_text("The server did not accept this key.").wait_for()
    give(tab, KEY)
    done(tab)
    assert tab.locator(".counts").text_content().startswith(f"{len(resolver().resolve(TEXT).words)} words")
    assert KEY not in tab.content()
    tab.reload()
    tab.get_by_role("button", name="A story").click()
    done(tab)
    assert tab.locator(".block").count() > 0

    other = new_tab()
    other.expected.append("401")
    other.goto(guarded)
    other.get_by_role("button", name="A story").click()
    other.locator("#key-dialog").wait_for(state="visible")
    other.get_by_role("button", name="Not now").click()
    other.get_by_text("This server asks for a key.").wait_for()


def test_the_chat_sends_the_key_too(tab: Any, guarded: str) -> None:
    tab.expected.append("401")
    tab.goto(f"{guarded}/#live")
    give(tab, KEY)
    tab.fill("#speaker", "Anna")
    tab.fill("#message", TEXT)
    tab.keyboard.press("Enter")
    tab.locator(".m").first.wait_for()
