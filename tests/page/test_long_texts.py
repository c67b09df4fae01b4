"""A book of 450,000 words stays smooth, and thousands of mentions that cross cost no more than they are."""

from __future__ import annotations

import io
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from streamcoref import Document
from streamcoref.formats import write_documents
from streamcoref.formats.html_out import write
from streamcoref.text import document_from_text
from tests.page.measuring import book, measure

pytestmark = pytest.mark.browser


@pytest.mark.slow
def test_a_book_of_450_000_words(tab: Any, tmp_path: Path) -> None:
    """benchmarks/page.py prints the figures. A busy machine must pass here: only processor time counts."""
    document = book(450_000)
    path = tmp_path / "book.html"
    write_documents([document], path, "html")
    found = measure(tab, path)
    for kind in ("scroll", "jump"):
        assert found[kind]["elements"] < 5000, "only what is on the screen is in the page"
        assert found[kind]["work_ms"] < 50
    assert found["heap_mb"] < 200
    assert found["work_ms"] < 10_000

    # What is far away is there: the last mention of the largest entity.
    largest = max(document.entities, key=lambda entity: entity.size)
    tab.locator("[role=option]").first.click()
    assert tab.locator(".card .where").text_content() == f"1 of {largest.size:,}"
    tab.keyboard.press("p")
    assert tab.locator(".current").first.text_content() == largest.mentions[-1].text
    current = tab.locator(".current").first.bounding_box()
    assert 0 < current["y"] < 900, "and on the screen"
    # What one says, too.
    tab.get_by_role("checkbox", name="Who speaks").check()
    tab.locator("[role=option]").first.click()
    number = int(tab.locator("[role=option] .size").first.text_content().replace(",", ""))
    spoken = Counter(one.speaker for one in document.quotations if one.speaker is not None)
    assert number == max(spoken.values()) > 100
    tab.keyboard.press("p")
    assert tab.locator(".where").text_content() == f"{number:,} of {number:,}"
    assert tab.locator(".q.current").first.is_visible()
    assert tab.locator("*").count() < 5000

    tab.locator("[type=search]").fill(document.text[-60:-1])
    tab.locator(".hits").click()
    assert tab.locator(".hit").first.is_visible()


def crossing(count: int) -> Document:
    """So many mentions that all cross one another: each begins and ends a word after the one before.

    Another mention gives each entity a short name.
    """
    document = document_from_text("d", " ".join(f"w{i}" for i in range(3 * count)))
    clusters = tuple(((i, i + count), (2 * count + i, 2 * count + i + 1)) for i in range(count))
    return replace(document, clusters=clusters)


def test_crossing_mentions_are_written_in_a_time_that_grows_with_their_number() -> None:
    def seconds(count: int) -> float:
        document = crossing(count)
        assert len(document.entities) == count
        best = float("inf")
        for _ in range(5):
            began = time.process_time()
            write([document], io.StringIO())
            best = min(best, time.process_time() - began)
        return best

    assert seconds(1600) < 20 * seconds(200), "eight times as many; quadratic would be 64 times the time"


def test_thousands_of_crossing_mentions_are_drawn(saved_page: Any) -> None:
    tab = saved_page(crossing(1500))
    tab.locator(".m").first.wait_for()
    assert tab.locator("*").count() < 30_000
    tab.locator("[role=option]").nth(15).click()
    assert tab.locator(".where").text_content() == "1 of 2"
    assert tab.locator(".current").count() > 0, "one that is chosen is drawn however many lie over it"
    tab.keyboard.press("n")
    assert tab.locator(".where").text_content() == "2 of 2"
