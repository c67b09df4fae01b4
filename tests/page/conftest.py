"""A browser and a server for the tests of the page. Whatever a page reports as an error fails its test."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.page.reading import settle

FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-background-networking --disable-component-update "
    "--disable-sync --no-first-run --enable-precise-memory-info --js-flags=--expose-gc"
).split()


FAULTS = {"error", "warning"}


def told(message: Any) -> str:
    """A message of the console with what it is about: of a resource that failed the text does not say which."""
    return f"{message.text} ({message.location['url']})"


# For the package, not the session: while playwright lives, this thread has an event loop that runs, and no other
# test could run one of its own.
@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Debian's chromium, driven by playwright; each test gets a profile of its own in it."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def profile(browser: Any) -> Iterator[Any]:
    """What tabs of one person share: storage."""
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.set_default_timeout(300_000)  # milliseconds, for whatever must come in the end on a busy machine
    yield context
    context.close()


@pytest.fixture
def new_tab(profile: Any) -> Iterator[Callable[[], Any]]:
    """Tabs whose console stays free of errors. `tab.expected` are parts of messages that a test provokes."""
    tabs: list[Any] = []

    def make() -> Any:
        tab = profile.new_page()
        tab.errors, tab.expected = [], []
        tab.on("console", lambda message: tab.errors.append(told(message)) if message.type in FAULTS else None)
        tab.on("pageerror", lambda error: tab.errors.append(str(error)))
        tab.on("dialog", lambda dialog: (tab.errors.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        tabs.append(tab)
        return tab

    yield make
    for tab in tabs:
        assert not [error for error in tab.errors if not any(part in error for part in tab.expected)]


@pytest.fixture
def tab(new_tab: Callable[[], Any]) -> Any:
    return new_tab()


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server with the toy model and without keys."""
    running = pytest.importorskip("tests.server.running", reason="the server is not installed")
    with running.running(tmp_path_factory.mktemp("server")) as found:
        yield found.url


@pytest.fixture
def home(tab: Any, server: str) -> Any:
    """A tab with the server's page."""
    tab.goto(server)
    return tab


@pytest.fixture
def saved_page(tab: Any, tmp_path: Path) -> Callable[..., Any]:
    """A tab with the page that the format html writes of some documents."""
    from streamcoref.formats import write_documents

    def show(*documents: Any) -> Any:
        path = tmp_path / "page.html"
        write_documents(documents, path, "html", force=True)
        tab.goto(path.as_uri())
        settle(tab)
        return tab

    return show
