"""A text is pasted, or an example tried; its entities are walked through, by mouse and by keyboard."""

from __future__ import annotations

from typing import Any

import pytest

from tests.page.reading import TEXT, done, mention_texts, paste, rows, settle, shown
from tests.toy_resolver import resolver

pytestmark = pytest.mark.browser


def test_a_pasted_text_shows_what_python_finds(home: Any) -> None:
    paste(home, TEXT)
    document = resolver().resolve(TEXT)
    assert shown(home).split() == TEXT.split()
    largest = sorted(document.entities, key=lambda entity: -entity.size)
    assert sorted(rows(home), key=lambda row: -row[1])[:10] == [(entity.name, entity.size) for entity in largest[:10]]
    mentions = sum(entity.size for entity in document.entities)
    counts = f"{len(document.words)} words · {len(document.entities)} entities · {mentions} mentions"
    assert home.locator(".counts").text_content() == counts
    assert home.locator(".m[role=link]").count() == mentions
    strips = home.locator("[role=option] path").evaluate_all("paths => paths.map(path => path.getAttribute('d'))")
    assert all(strip.startswith("M") for strip in strips)


def test_text_appears_as_it_is_read(home: Any) -> None:
    """A longer text comes in parts, with a bar that grows."""
    text = "\n\n".join([TEXT] * 30)
    home.evaluate(
        """() => {
          const [bar, counts] = document.querySelectorAll("progress, .counts");
          window.seen = {values: [], counts: []};
          const look = () => { seen.values.push(bar.value); seen.counts.push(counts.textContent); };
          const all = {attributes: true, childList: true, subtree: true};
          for (const element of [bar, counts]) new MutationObserver(look).observe(element, all);
        }"""
    )
    paste(home, text)
    seen = home.evaluate("seen")
    assert len(set(seen["values"])) > 2
    assert len(set(seen["counts"])) > 2
    assert home.locator(".counts").text_content().startswith(f"{len(resolver().resolve(text).words):,} words")


def test_an_entity_is_walked_through(home: Any) -> None:
    paste(home, TEXT)
    entity = max(resolver().resolve(TEXT).entities, key=lambda entity: entity.size)
    home.locator("[role=option]").first.click()
    texts = []
    for number in range(entity.size):
        assert home.locator(".where").text_content() == f"{number + 1} of {entity.size}"
        current = home.locator(".current[role=link]")
        texts.append(" ".join(current.text_content().split()))
        assert current.evaluate("element => element.classList.contains('on')")
        home.keyboard.press("n")
    assert texts == [" ".join(mention.text.split()) for mention in entity.mentions]
    assert home.locator(".where").text_content() == f"1 of {entity.size}", "from the last to the first"
    home.keyboard.press("p")
    assert home.locator(".where").text_content() == f"{entity.size} of {entity.size}"
    home.keyboard.press("Escape")
    assert home.locator(".card").is_hidden()
    assert home.locator(".text.chosen").count() == 0


def test_keys_go_through_the_entities_and_find_words(home: Any) -> None:
    paste(home, TEXT)
    names = [name for name, _ in rows(home)]
    for name in names[:3]:
        home.keyboard.press("j")
        assert home.locator(".card .name").text_content() == name
    home.keyboard.press("k")
    assert home.locator(".card .name").text_content() == names[1]
    home.keyboard.press("Escape")
    home.keyboard.press("/")
    home.keyboard.type("harbour")
    places = TEXT.count("harbour")
    assert home.locator(".hits").text_content() == f"{places} places in the text"
    home.locator(".hits").click()
    assert home.locator(".hit").all_text_contents() == ["harbour"]
    assert home.locator(".where").text_content() == f"1 of {places}"
    home.keyboard.press("n")
    assert home.locator(".where").text_content() == f"2 of {places}"
    home.keyboard.press("/")
    home.keyboard.press("Escape")
    assert home.locator("[type=search]").input_value() == ""


def test_the_list_shows_only_names_that_fit(home: Any) -> None:
    paste(home, TEXT)
    wanted = rows(home)[0][0]
    home.locator("[type=search]").fill(wanted.upper())
    assert wanted in [name for name, _ in rows(home)]
    assert all(wanted.lower() in name.lower() for name, _ in rows(home))
    home.locator("[type=search]").fill("nobody of this name")
    assert rows(home) == []
    assert home.locator(".nothing").is_visible()


def test_a_mention_in_the_text_chooses_its_entity(home: Any) -> None:
    paste(home, TEXT)
    mention = home.locator(".m[role=link]:not(:has(.m))").nth(3)
    title = mention.get_attribute("title")
    mention.click()
    name, where = title.rsplit(" · ", 1)
    assert home.locator(".card .name").text_content() == name
    assert home.locator(".where").text_content() == where
    assert home.locator("[role=option][aria-selected=true] .name").text_content() == name


@pytest.mark.parametrize("name", ["A story", "A chat", "Verse"])
def test_examples_can_be_tried(home: Any, name: str) -> None:
    home.get_by_role("button", name=name).click()
    done(home)
    assert home.locator("h1 bdi").last.text_content() == name
    assert home.locator(".block").count() > 0


def test_line_ends_are_kept_and_can_be_joined(home: Any) -> None:
    home.get_by_role("button", name="Verse").click()
    done(home)
    verse = home.locator(".block").first
    assert verse.text_content().count("\n") == 3
    lines = verse.evaluate(
        "block => block.getBoundingClientRect().height / parseFloat(getComputedStyle(block).lineHeight)"
    )
    assert round(lines) == 4
    home.get_by_label("Join lines").check()
    settle(home)
    joined = home.locator(".block").first
    assert joined.evaluate("b => b.getBoundingClientRect().height / parseFloat(getComputedStyle(b).lineHeight)") < 3.5


def test_a_text_that_cannot_be_read_is_a_sentence(home: Any) -> None:
    home.expected.append("413")
    home.route(
        "**/v1/resolve", lambda route: route.fulfill(status=413, json={"error": "a text of <b>9</b> characters"})
    )
    home.fill("#text", "Ann ran.")
    home.get_by_role("button", name="Read it").click()
    home.get_by_text("A text of <b>9</b> characters.").wait_for()


def test_what_was_typed_is_there_after_a_reload(home: Any) -> None:
    home.fill("#text", "A draft of a letter.")
    home.reload()
    assert home.locator("#text").input_value() == "A draft of a letter."


def test_wide_characters_do_not_move_mentions(home: Any) -> None:
    text = "👍🏽 𝔊ood. " + TEXT.replace(" ", " 👨\u200d👩\u200d👧 ", 5)
    paste(home, text)
    document = resolver().resolve(text)
    expected = sorted(mention.text for entity in document.entities for mention in entity.mentions)
    assert sorted(mention_texts(home)) == expected
