"""The HTML page as it is written; tests/page/ looks at it in a browser."""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamcoref import Document
from streamcoref.formats.html_out import write
from streamcoref.page import one_script
from streamcoref.text import document_from_text

VOID = {"meta", "input"}


class Page(HTMLParser):
    """Fails on a wrong closing tag; collects the text of each article and what is known of it."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.articles: list[str] = []
        self.labels: list[str] = []
        self.known: list[dict[str, Any]] = []
        self.tags: list[str] = []
        self.feed(html)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag == "article":
            self.articles.append("")
            self.labels.append(dict(attrs)["aria-label"] or "")
        if tag not in VOID:
            self.open.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tag, found = self.open[-1] if self.open else ("", {})
        if tag == "article":
            self.articles[-1] += data
        if tag == "script" and found.get("type") == "application/json":
            self.known.append(json.loads(data))


def page(*documents: Document) -> tuple[str, Page]:
    stream = io.StringIO()
    write(documents, stream)
    return stream.getvalue(), Page(stream.getvalue())


def check(document: Document, parsed: Page, number: int = 0) -> None:
    document = document.with_text()
    known = parsed.known[number]
    assert document.text is not None
    assert parsed.articles[number] == document.text.replace("\0", "\u2400")
    assert [document.text[place] for place in known["nuls"]] == ["\0"] * document.text.count("\0")
    assert (known["key"], known["words"]) == (document.key, len(document.words))
    for entity, told in zip(document.entities, known["entities"], strict=True):
        spans = list(zip(told["spans"][::2], told["spans"][1::2], strict=True))
        assert told["name"] == entity.name or (len(told["name"]) == 200 and entity.name.startswith(told["name"][:-1]))
        assert spans == [(mention.start, mention.end) for mention in entity.mentions]


spans = st.tuples(st.integers(0, 11), st.integers(1, 6)).map(lambda pair: (pair[0], min(pair[0] + pair[1], 12)))


@given(st.lists(st.lists(spans, min_size=1, max_size=4), max_size=6))
def test_any_mentions_make_a_proper_tree_that_keeps_the_text(clusters: list[list[tuple[int, int]]]) -> None:
    text = "one two\n\nthree four  five. Six <b>&amp;\r\nseven\0 eight\r"
    base = document_from_text("d", text)
    assert len(base.words) >= 12
    document = replace(base, clusters=tuple(map(tuple, clusters)))
    _, parsed = page(document)
    check(document, parsed)


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_any_text_and_key_come_back_from_the_page(text: str, key: str) -> None:
    document = document_from_text(key, text)
    count = len(document.words)
    _, parsed = page(replace(document, clusters=(((0, count),),)) if count else document)
    check(document if not count else replace(document, clusters=(((0, count),),)), parsed)


def test_everything_is_escaped() -> None:
    attack = "<script>alert(\"x\")</script> & 'y' </article><img src=x onerror=alert(1)> <!-- <script>"
    document = document_from_text(attack, attack)
    count = len(document.words)
    document = replace(document, clusters=(((0, count), (0, 3)),), speakers=(attack,) * count)
    html, parsed = page(document)
    check(document, parsed)
    assert "img" not in parsed.tags
    assert parsed.tags.count("script") == 2, "what is known of the document, and the page's own"
    assert parsed.labels == [attack]
    assert parsed.known[0]["turns"] == [[0, attack]]
    assert "<!--" not in html.split("</style>")[1].split('<script type="module">')[0]


def test_the_page_loads_nothing() -> None:
    html, _ = page(document_from_text("d", "No links."))
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|url\(|@import|<link|src=|^import ", html, re.MULTILINE)


def test_its_scripts_are_one() -> None:
    """Every module in the order of need, and nothing left of their imports."""
    script = one_script("documents.js")
    assert "export " not in script
    defined: set[str] = set()
    for line in script.splitlines():
        if used := re.match(r'const \{.*\} = modules\["(.*)"\];', line):
            assert used[1] in defined
        if given := re.match(r'modules\["(.*)"\] = ', line):
            defined.add(given[1])
    assert {"answer.js", "reader.js", "documents.js"} <= defined
    assert not defined & {"main.js", "api.js"}, "what needs a server"


def test_speakers_are_told_where_they_begin() -> None:
    document = document_from_text("d", "Hi.\n\nHo.\nHe.")
    _, parsed = page(replace(document, speakers=("A", "A", "B", "B", "", "")))
    assert parsed.known[0]["turns"] == [[0, "A"], [5, "B"], [9, ""]]


def test_several_documents_are_written_one_by_one() -> None:
    one = replace(document_from_text("one", "Ann ran. She fell."), clusters=(((0, 1), (3, 4)),))
    two = Document("two", (), ())
    stream = io.StringIO()

    def documents() -> Iterator[Document]:
        yield one
        assert stream.getvalue().endswith("</script>\n")
        yield two
        yield replace(one, key="three")

    write(documents(), stream)
    parsed = Page(stream.getvalue())
    assert len(parsed.articles) == 3
    check(one, parsed, 0)
    check(replace(one, key="three"), parsed, 2)
    assert parsed.labels == ["one", "two", "three"]


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
