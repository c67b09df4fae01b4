"""What tests do on the page again and again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.toy_resolver import plain_text

# Of the toy model's answers one that CoNLL-U can hold: no two mentions of an entity cross.
TEXT = plain_text(9, 150).replace(" . ", " .\n").replace(" ? ", " ?\n\n")


def paste(tab: Any, text: str) -> None:
    """Paste a text and wait until it has been read."""
    tab.fill("#text", text)
    tab.get_by_role("button", name="Read it").click()
    tab.locator("#reading").wait_for(state="visible")
    done(tab)


def done(tab: Any) -> None:
    """Wait until nothing is read any more, and everything is drawn."""
    tab.locator("#reading[aria-busy=false]").wait_for()


def settle(tab: Any) -> None:
    """Wait until the page has drawn what it knows: it draws once a frame."""
    tab.evaluate("() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))")


def rows(tab: Any) -> list[tuple[str, int]]:
    """Names and sizes of the entities in the list, as far as they are drawn."""
    settle(tab)
    found = tab.locator("[role=option]").evaluate_all(
        "rows => rows.map(row => [row.querySelector('.name').textContent, row.querySelector('.size').textContent])"
    )
    return [(name, int(size.replace(",", ""))) for name, size in found]


def export(tab: Any, kind: str, path: Path) -> str:
    """Save the corrected answer, and what was saved."""
    with tab.expect_download() as waiting:
        tab.get_by_role("button", name=kind, exact=True).click()
    waiting.value.save_as(path)
    return path.read_bytes().decode()


def shown(tab: Any) -> str:
    """The text on the screen and near it, a line for each block."""
    settle(tab)
    return "\n".join(tab.locator(".block").all_text_contents())


def mention_texts(tab: Any, within: str = ".blocks ") -> list[str]:
    """The text of each mention that is drawn, put together from its pieces."""
    settle(tab)
    return tab.locator(f"{within}.m").evaluate_all(
        """elements => {
          const texts = new Map();
          for (const {place, textContent} of elements) texts.set(place, (texts.get(place) ?? "") + textContent);
          return [...texts.values()];
        }"""
    )
