"""The live chat: messages with speakers, entities that grow with them, connections that are lost."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from streamcoref import EntityFinished, Event
from streamcoref.formats import read_documents
from tests.page.reading import export, mention_texts, rows
from tests.server.running import PATIENCE
from tests.toy_resolver import mentions, plain_text, resolver, started

pytestmark = pytest.mark.browser

MESSAGES = [
    ("Anna", plain_text(9, 60)),
    ("Berta", plain_text(10, 60)),
    ("Berta", "She left. 👍🏽"),
    ("Anna", plain_text(9, 60)),
]


def say(tab: Any, speaker: str, text: str) -> None:
    tab.fill("#speaker", speaker)
    tab.fill("#message", text)
    tab.keyboard.press("Enter")


def words_after(tab: Any, words: int) -> None:
    tab.locator(".counts", has_text=f"{words} words").wait_for()


@pytest.fixture
def chat(home: Any, server: str) -> Any:
    home.goto(f"{server}/#live")
    home.locator("#chat").wait_for(state="visible")
    return home


def test_entities_grow_with_what_is_said(chat: Any, tmp_path: Path) -> None:
    sizes: list[int] = []
    stream = resolver().stream()
    found: list[Event] = []
    for speaker, text in MESSAGES:
        say(chat, speaker, text)
        found += stream.feed(f"{text}\n", speaker) + stream.flush()
        counts = f"{stream.words_read} words · {len(started(found))} entities · {len(mentions(found))} mentions"
        chat.locator(".counts", has_text=re.compile(f"^{counts}$")).wait_for()
        sizes.append(sum(size for _, size in rows(chat)))
        assert sizes[-1] == len(mentions(found))
    assert sizes == sorted(sizes)
    assert sizes[0] > 0
    assert sizes[-1] > sizes[0]
    assert chat.locator(".speaker").all_text_contents() == ["Anna", "Berta", "Anna"], "said once for several messages"
    assert chat.locator("#message").input_value() == ""

    export(chat, "CoNLL-U", tmp_path / "chat.conllu")
    (document,) = read_documents(tmp_path / "chat.conllu")
    assert document.text == "\n".join(text for _, text in MESSAGES)
    assert set(document.speakers) == {"Anna", "Berta"}
    assert sum(map(len, document.clusters)) == sizes[-1]


def test_entities_grow_while_somebody_types(chat: Any) -> None:
    """What is typed counts as if it were sent, and is taken back with what is deleted."""
    first, typed = plain_text(9, 60), plain_text(10, 40)
    say(chat, "Anna", first)
    stream = resolver().stream()
    said = stream.feed(f"{first}\n", "Anna") + stream.flush()
    state = stream.state()
    counts = chat.locator(".counts")
    told = f"{stream.words_read} words · {len(started(said))} entities · {len(mentions(said))} mentions"
    counts.filter(has_text=re.compile(f"^{told}$")).wait_for()

    draft = f"👍🏽 {typed}"
    chat.fill("#speaker", "Berta")
    chat.locator("#message").press_sequentially(draft)
    would = said + stream.feed(f"{draft}\n", "Berta") + stream.flush()
    assert len(mentions(would)) > len(mentions(said))
    grown = f"{len(started(would))} entities · {len(mentions(would))} mentions"
    chat.locator("#draft", has_text=draft).wait_for()  # a shorter draft may have as many
    counts.filter(has_text=re.compile(f"{grown}$")).wait_for()
    assert sum(size for _, size in rows(chat)) == len(mentions(would))
    assert all(name for name, _ in rows(chat))
    assert chat.locator("#draft").text_content() == draft
    new = [event.mention for event in would[len(said) :] if not isinstance(event, EntityFinished)]
    texts = [mention.text for mention in new if mention.start is not None and mention.start > len(first)]
    assert sorted(mention_texts(chat, "#draft ")) == sorted(texts)

    chat.fill("#message", "")
    counts.filter(has_text=re.compile(f"^{told}$")).wait_for()
    assert chat.locator("#draft .m").count() == 0
    chat.locator("#message").press_sequentially("He")
    say(chat, "Berta", typed)
    stream = resolver().stream(state)
    said += stream.feed(f"{typed}\n", "Berta") + stream.flush()
    told = f"{stream.words_read} words · {len(started(said))} entities · {len(mentions(said))} mentions"
    counts.filter(has_text=re.compile(f"^{told}$")).wait_for()
    assert chat.locator("#draft").is_hidden()


def test_a_chat_whose_page_has_gone_is_closed(home: Any, server: str) -> None:
    """Nobody could come back to it, and it would count as open for ever."""
    with httpx.Client(base_url=server, timeout=PATIENCE) as client:
        known = client.get("/v1/streams").json()["all"]
        home.goto(f"{server}/#live")
        say(home, "Anna", "Anna saw the captain.")
        words_after(home, 5)
        home.goto("about:blank")
        until = time.monotonic() + PATIENCE
        while not all(one["closed"] for one in client.get("/v1/streams", params={"offset": known}).json()["streams"]):
            assert time.monotonic() < until
            time.sleep(0.05)
        assert client.get("/v1/streams").json()["all"] > known


def test_a_chat_that_is_left_before_it_has_begun_is_closed(home: Any, server: str) -> None:
    held: list[Any] = []
    home.route("**/v1/streams", lambda route: held.append(route))
    home.goto(f"{server}/#live")
    until = time.monotonic() + PATIENCE
    while not held:
        assert time.monotonic() < until
        home.wait_for_timeout(20)
    home.get_by_role("link", name="New text").click()
    home.locator("#start").wait_for(state="visible")
    with httpx.Client(base_url=server, timeout=PATIENCE) as client:
        known = client.get("/v1/streams").json()["all"]
        held[0].continue_()
        while (
            not (new := client.get("/v1/streams", params={"offset": known}).json()["streams"]) or not new[0]["closed"]
        ):
            assert time.monotonic() < until
            home.wait_for_timeout(50)


def test_what_is_typed_before_a_chat_has_begun_is_looked_at_when_it_has(home: Any, server: str) -> None:
    """A server that is slow to begin is asked for no stream that is not there; the console would tell."""
    held: list[Any] = []
    home.route("**/v1/streams", lambda route: held.append(route))
    home.goto(f"{server}/#live")
    draft = plain_text(10, 40)
    home.fill("#message", draft)
    home.wait_for_timeout(300)
    assert held
    held[0].continue_()
    home.locator("#draft", has_text=draft).wait_for()
    assert mention_texts(home, "#draft ")
    say(home, "Anna", "Anna saw the captain.")
    words_after(home, 5)


def test_a_lost_connection_is_taken_up_again(home: Any, server: str) -> None:
    """Nothing that was said is lost, and nothing is read twice."""
    home.expected += ["WebSocket", "Failed to load"]
    home.add_init_script(
        "const Real = WebSocket; window.sockets = []; window.WebSocket = class extends Real {"
        "constructor(...args) { super(...args); sockets.push(this); } };"
    )
    home.goto(f"{server}/#live")
    home.reload()
    say(home, "Anna", "Anna saw the captain.")
    words_after(home, 5)
    home.evaluate("sockets.at(-1).close()")
    say(home, "Berta", "She left him.")
    words_after(home, 9)
    home.wait_for_timeout(300)
    assert home.evaluate("sockets.length") == 2
    assert home.locator("#report").text_content() == ""
