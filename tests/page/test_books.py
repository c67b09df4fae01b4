"""Books become jobs: progress, a reload in the middle, two tabs, stopping, corrections that stay."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from streamcoref.formats import write_documents
from tests.page.reading import TEXT, done, export, rows
from tests.toy_resolver import plain_text, resolver

pytestmark = pytest.mark.browser

BOOK = "\n\n".join(plain_text(seed, 300) for seed in range(20))  # some seconds of work for the toy model


def send(tab: Any, text: str, name: str = "book.txt") -> None:
    tab.locator("#file").set_input_files({"name": name, "mimeType": "text/plain", "buffer": text.encode()})
    tab.wait_for_url("**/#job=*")


def drop(tab: Any, name: str, data: bytes) -> None:
    """Drop a file on the page, as a person would."""
    handle = tab.evaluate_handle(
        """([name, data]) => {
          const transfer = new DataTransfer();
          transfer.items.add(new File([Uint8Array.from(atob(data), (c) => c.charCodeAt(0))], name));
          return transfer;
        }""",
        [name, base64.b64encode(data).decode()],
    )
    tab.dispatch_event("main", "dragover", {"dataTransfer": handle})
    tab.dispatch_event("main", "drop", {"dataTransfer": handle})


def words_shown(tab: Any) -> int:
    return int(tab.locator(".counts").text_content().split()[0].replace(",", ""))


def test_a_dropped_file_is_read(home: Any, tmp_path: Path) -> None:
    path = tmp_path / "note.conllu"
    write_documents([resolver().resolve(TEXT, key="note")], path, "conllu")
    drop(home, path.name, path.read_bytes())
    home.locator("#reading").wait_for(state="visible")
    done(home)
    assert home.locator("#reading h1").text_content() == "note.conllu"
    document = resolver().resolve(TEXT)
    assert words_shown(home) == len(document.words)
    expected = {(entity.name, entity.size) for entity in document.entities}
    assert set(rows(home)) == expected


def test_a_dropped_text_is_read(home: Any) -> None:
    handle = home.evaluate_handle(
        "text => { const transfer = new DataTransfer(); transfer.setData('text/plain', text); return transfer; }", TEXT
    )
    home.dispatch_event("main", "drop", {"dataTransfer": handle})
    done(home)
    assert words_shown(home) == len(resolver().resolve(TEXT).words)


def test_a_file_that_is_no_text_is_a_sentence(home: Any) -> None:
    home.locator("#file").set_input_files(
        {"name": "a.txt", "mimeType": "text/plain", "buffer": b"%PDF-1.4 \xff\xfe\x00"}
    )
    home.locator("#report.bad").wait_for()
    home.locator("#progress").wait_for(state="hidden")
    assert home.locator("#report").text_content().strip()


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Jobs stand still when some of the book has been read, until this is set or they are stopped: however busy the
    machine is, what a test does then is in the middle."""
    from streamcoref.server import jobs
    from streamcoref.store import job as store_job

    go_on = threading.Event()
    read = jobs.read_job

    def slowly(*book: Any, on_progress: Any, should_stop: Any) -> Any:
        parts = 0

        def hold(progress: Any) -> None:
            nonlocal parts
            on_progress(progress)
            parts += progress.entities > 0
            while parts > 2 and not (go_on.wait(0.05) or should_stop()):  # the parts before are saved
                pass

        return read(*book, on_progress=hold, should_stop=should_stop)

    monkeypatch.setattr(jobs, "read_job", slowly)
    monkeypatch.setattr(store_job, "SAVE_SECONDS", 0.0)
    yield go_on
    go_on.set()


@pytest.mark.slow
def test_a_reload_in_the_middle_and_a_second_tab(home: Any, new_tab: Callable[[], Any], held: threading.Event) -> None:
    send(home, BOOK)
    home.locator("#progress").wait_for(state="visible")
    home.locator(".m").first.wait_for()
    percent = home.locator("progress").evaluate("bar => bar.value")
    assert 0 < percent < 1, "it appears while it is read"
    home.reload()
    home.locator(".m").first.wait_for()
    second = new_tab()
    second.goto(home.url)
    second.locator(".m").first.wait_for()
    second.keyboard.press("j")
    chosen = second.locator(".card .name").text_content()
    held.set()
    document = resolver().resolve(BOOK)
    for tab in (home, second):
        done(tab)
        assert words_shown(tab) == len(document.words)
        mentions = sum(entity.size for entity in document.entities)
        assert tab.locator(".counts").text_content().endswith(f"{mentions:,} mentions")
        largest = max(entity.size for entity in document.entities)
        assert rows(tab)[0][1] == largest
    assert chosen
    assert second.locator(".card").is_visible(), "who was chosen while it was read is still chosen"
    second.keyboard.press("n")
    assert second.locator(".m.on.current").count() == 1


@pytest.mark.slow
@pytest.mark.usefixtures("held")
def test_a_book_can_be_stopped_and_removed(home: Any) -> None:
    send(home, BOOK, "stopped.txt")
    home.locator(".m").first.wait_for()
    home.get_by_role("button", name="Stop").click()
    home.locator("#report", has_text="Stopped.").wait_for()
    assert home.locator("#progress").is_hidden()
    assert home.locator(".m").count() > 0, "what was read can still be looked at"
    home.get_by_role("link", name="New text").click()
    book = home.locator("#books li").filter(has_text="stopped.txt")
    book.get_by_role("button").click()
    book.wait_for(state="detached")


def test_a_book_of_a_busy_server_is_waited_for(home: Any) -> None:
    """Whatever is asked is refused once, as when too many ask at once."""
    refused: set[str] = set()

    def busy(route: Any) -> None:
        what = route.request.url.split("?")[0]
        if what in refused:
            route.fallback()
            return
        refused.add(what)
        route.fulfill(
            status=429, headers={"Retry-After": "1"}, json={"error": "9 calls are waiting already; try again"}
        )

    home.expected.append("429")
    home.route("**/v1/jobs/*/*", busy)
    send(home, TEXT, "busy.txt")
    done(home)
    assert words_shown(home) == len(resolver().resolve(TEXT).words)
    assert home.locator("#report").text_content() == ""
    assert len(refused) > 2


@pytest.mark.slow
def test_the_start_tells_how_far_books_are(home: Any, held: threading.Event) -> None:
    send(home, BOOK, "slow.txt")
    home.locator(".m").first.wait_for()
    home.get_by_role("link", name="New text").click()
    book = home.locator("#books li").filter(has_text="slow.txt")
    book.get_by_text("% read").wait_for()
    held.set()
    book.get_by_role("link").click()
    done(home)
    home.get_by_role("link", name="New text").click()
    words = len(resolver().resolve(BOOK).words)
    book.get_by_text(f"{words:,} words").wait_for()


def test_corrections_of_a_book_stay_and_are_seen_in_the_other_tab(
    home: Any, new_tab: Callable[[], Any], tmp_path: Path
) -> None:
    send(home, TEXT, "small.txt")
    done(home)
    second = new_tab()
    second.goto(home.url)
    done(second)
    home.keyboard.press("j")
    home.keyboard.press("r")
    home.keyboard.type("The Harbour Master")
    home.keyboard.press("Enter")
    second.locator("[role=option]").filter(has_text="The Harbour Master").wait_for()
    home.reload()
    done(home)
    assert rows(home)[0][0] == "The Harbour Master"
    (saved,) = json.loads(export(home, "JSON", tmp_path / "page"))
    assert saved["key"].startswith("small")
    assert saved["text"] == TEXT
    assert "The Harbour Master" in [entity["name"] for entity in saved["entities"]]


def test_a_long_paste_becomes_a_book(home: Any) -> None:
    """What is pasted is read while one waits; a book is not."""
    sent: list[str] = []
    home.route("**/v1/jobs", lambda route: (sent.append(route.request.method), route.abort()))
    home.expected.append("ERR_FAILED")
    home.locator("#text").evaluate("(field, text) => { field.value = text; }", "A word and another. " * 25_000)
    home.get_by_role("button", name="Read it").click()
    home.get_by_text("The server cannot be reached.").wait_for()
    assert "POST" in sent
