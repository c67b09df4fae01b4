"""The HTML page: its tree is checked by a strict parser here, its behaviour in a browser where there is one."""

from __future__ import annotations

import io
import math
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref import Document
from streamcoref.formats.html_out import write
from streamcoref.text import document_from_text

VOID = {"meta", "input"}


class Page(HTMLParser):
    """Fails on a wrong closing tag; collects the text of each article and the text under each mention's pieces."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.articles: list[str] = []
        self.mentions: dict[tuple[int, str, str], str] = {}
        self.names: list[str] = []
        self.tags: set[str] = set()
        self.ids: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        found = dict(attrs)
        self.ids += [value for name, value in attrs if name == "id" and value]
        if tag == "article":
            self.articles.append("")
        if found.get("class") == "name":
            self.names.append("")
        if tag not in VOID:
            self.open.append((tag, found))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if any(tag == "article" for tag, _ in self.open):
            self.articles[-1] += data
        if self.open and self.open[-1][1].get("class") == "name":
            self.names[-1] += data
        for _, found in self.open:
            if (found.get("class") or "").split()[:1] == ["m"]:
                key = (len(self.articles) - 1, str(found["data-e"]), str(found["data-m"]))
                self.mentions[key] = self.mentions.get(key, "") + data


def page(*documents: Document) -> tuple[str, Page]:
    stream = io.StringIO()
    write(documents, stream)
    return stream.getvalue(), Page(stream.getvalue())


def check(document: Document, parsed: Page, number: int = 0) -> None:
    document = document.with_text()
    assert parsed.articles[number] == document.text
    for entity in document.entities:
        for i, mention in enumerate(entity.mentions):
            assert parsed.mentions[number, str(entity.id), str(i)] == mention.text


spans = st.tuples(st.integers(0, 11), st.integers(1, 6)).map(lambda pair: (pair[0], min(pair[0] + pair[1], 12)))


@given(st.lists(st.lists(spans, min_size=1, max_size=4), max_size=6))
def test_any_mentions_make_a_proper_tree_that_keeps_the_text(clusters: list[list[tuple[int, int]]]) -> None:
    text = "one two\n\nthree four  five. Six <b>&amp;\r\nseven eight"
    base = document_from_text("d", text)
    assert len(base.words) >= 12
    document = replace(base, clusters=tuple(map(tuple, clusters)))
    _, parsed = page(document)
    check(document, parsed)
    assert len(parsed.ids) == len(set(parsed.ids))


def test_crossing_mentions_keep_their_entities() -> None:
    document = Document.from_sentences("d", [["a", "b", "c", "d"]], clusters=[[(0, 3)], [(1, 4)]])
    html, parsed = page(document)
    check(document, parsed)
    assert html.count('data-e="1" data-m="0"') == 2, "the later one is in two pieces"
    assert html.count('data-e="0" data-m="0"') == 1
    assert html.count('tabindex="0"') == 2, "each mention is one stop for the keyboard"


def test_words_that_share_their_characters_are_shown_once() -> None:
    offsets = ((0, 3), (4, 6), (4, 6), (7, 10))
    clusters = (((0, 1), (2, 4)), ((1, 2),))
    document = Document("d", ("fin", "de", "le", "jeu"), (4,), clusters, text="fin du jeu", offsets=offsets)
    _, parsed = page(document)
    check(document, parsed)


def test_everything_is_escaped() -> None:
    attack = "<script>alert(\"x\")</script> & 'y' </article><img src=x onerror=alert(1)>"
    document = document_from_text(attack, attack)
    count = len(document.words)
    document = replace(document, clusters=(((0, count), (0, 3)),), speakers=(attack,) * count)
    html, parsed = page(document)
    check(document, parsed)
    assert "img" not in parsed.tags
    assert html.count("<script") == 1
    assert parsed.names == [document.entities[0].name]


def test_the_page_loads_nothing() -> None:
    html, parsed = page(document_from_text("d", "No links."))
    assert "input" not in parsed.tags, "without entities there is nothing to find"
    assert not re.search(r"https?:|url\(|@import|<link|src=", html)


def test_entities_are_listed_by_size_and_those_mentioned_once_apart() -> None:
    clusters = [[(0, 1)], [(1, 2), (2, 3)], [(3, 4), (4, 5), (5, 6)]]
    document = Document.from_sentences("d", [list("abcdef")], clusters=clusters)
    html, parsed = page(document)
    assert parsed.names == ["d", "b", "a"]
    assert html.index("1 mentioned once") > html.index(">b</bdi>")
    assert "6 words · 3 entities · 6 mentions" in html
    assert 'class="m once"' in html


def test_paragraphs_speakers_and_direction() -> None:
    document = document_from_text("d", "Hi.\n\nHo.\nHe.")
    html, _ = page(replace(document, speakers=("A", "A", "B", "B", "B", "B")))
    assert html.count('class="paragraph"') == 1
    assert re.findall(r'data-name="(\w)"', html) == ["A", "B"]
    assert '<article dir="auto">' in html


def test_several_documents_are_written_one_by_one() -> None:
    one = replace(document_from_text("one", "Ann ran. She fell."), clusters=(((0, 1), (3, 4)),))
    two = Document("two", (), ())
    stream = io.StringIO()

    def documents() -> Iterator[Document]:
        yield one
        assert stream.getvalue().endswith("</section>\n")
        yield two
        yield replace(one, key="three")

    write(documents(), stream)
    parsed = Page(stream.getvalue())
    assert len(parsed.articles) == 3
    check(one, parsed, 0)
    check(one, parsed, 2)
    assert len(parsed.ids) == len(set(parsed.ids))


def oklch(lightness: float, chroma: float, hue: float) -> tuple[float, float, float]:
    """Linear sRGB, clipped. https://bottosson.github.io/posts/oklab/"""
    a, b = chroma * math.cos(math.radians(hue)), chroma * math.sin(math.radians(hue))
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    red = 4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short
    green = -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short
    blue = -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short
    return min(max(red, 0), 1), min(max(green, 0), 1), min(max(blue, 0), 1)


def hexadecimal(color: str) -> tuple[float, float, float]:
    red, green, blue = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in (red, green, blue)]
    return linear[0], linear[1], linear[2]


def contrast(one: tuple[float, float, float], other: tuple[float, float, float]) -> float:
    """As the Web Content Accessibility Guidelines define it."""
    low, high = sorted(0.2126 * red + 0.7152 * green + 0.0722 * blue for red, green, blue in (one, other))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", [0, 1], ids=["light", "dark"])
def test_colours_are_easy_to_read_at_every_hue(scheme: int) -> None:
    html, _ = page()
    rules = re.findall(r":root \{(.*?)\}", html, re.DOTALL)[scheme]
    value = dict(re.findall(r"--([\w-]+): (#\w+|[\d.]+);", rules))
    ink, paper = hexadecimal(value["ink"]), hexadecimal(value["paper"])
    assert contrast(hexadecimal(value["quiet"]), paper) > 4.5
    assert contrast(hexadecimal(value["quiet"]), hexadecimal(value["raised"])) > 4.5
    for hue in range(360):
        for name in ("tint", "strong"):
            background = oklch(float(value[name]), float(value[f"{name}-chroma"]), hue)
            assert contrast(ink, background) > 7, (name, hue)
        assert contrast(oklch(float(value["mark"]), float(value["mark-chroma"]), hue), paper) > 3, hue


@pytest.mark.browser
def test_the_page_works_in_a_browser(tmp_path: Path) -> None:
    """A click on an entity chooses and focuses its first mention, the right arrow goes to the next one."""
    document = replace(document_from_text("d", "Ann ran. She fell. Bo saw her."), clusters=(((0, 1), (3, 4), (8, 9)),))
    stream = io.StringIO()
    write([document], stream)
    steps = """<script>
      const notes = [], note = (text) => notes.push(text);
      document.querySelector("aside a").click();
      note(document.activeElement.textContent);
      note(document.querySelector("section").className);
      document.activeElement.dispatchEvent(new KeyboardEvent("keydown", {key: "ArrowRight", bubbles: true}));
      note(document.activeElement.textContent);
      const color = (i) => getComputedStyle(document.querySelectorAll(".m")[i]).backgroundColor;
      note(color(0) === color(2) && color(0) !== "rgba(0, 0, 0, 0)");
      document.dispatchEvent(new KeyboardEvent("keydown", {key: "Escape"}));
      note(`[${document.querySelector("section").className}]`);
      document.title = notes.join(" ");
    </script></body>"""
    path = tmp_path / "page.html"
    path.write_text(stream.getvalue().replace("</body>", steps), encoding="utf-8")
    chromium = shutil.which("chromium")
    assert chromium
    flags = (
        "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
        f"--disable-component-update --disable-sync --user-data-dir={tmp_path} --dump-dom"
    )
    result = subprocess.run(
        [chromium, *flags.split(), path.as_uri()],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "<title>Ann chosen She true []</title>" in result.stdout
