"""Pages and Markdown: what a reader sees of them, and none of what a browser does with them."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("lxml", reason="the extra books is not installed")

from hypothesis import given
from hypothesis import strategies as st

from streamcoref.errors import InputError, Remedy
from streamcoref.formats import format_of_input, read_documents
from streamcoref.text.books import book, html, markdown
from tests.text.books.making import sections, taken_out


def text_of(source: str) -> str:
    return taken_out(html.extract, source.encode()).text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>Anna\n  met <b>Ca</b>rl. </p>\n<p>She left.", "Anna met Carl.\n\nShe left."),
        ("<p>Roses are red,<br>violets <br/> are blue.", "Roses are red,\nviolets\nare blue."),
        ("<div><div><p>One.</p></div></div><ul><li>two<li>three</ul>", "One.\n\ntwo\n\nthree"),
        ("<table><tr><td>a<td>b<tr><td>c</table>", "a\tb\n\nc"),
        ("<p>a &amp; b &lt; c &mdash;&nbsp;d &eacute; &#233; &unknown;", "a & b < c —\xa0d é é &unknown;"),
        ("<p>extra\u00adordi\u00adnary", "extraordinary"),
        ("before <hr> after", "before\n\nafter"),
        ("<pre>\nline one\n  line two\n\nnext</pre>after", "line one\n  line two\n\nnext\n\nafter"),
        ("<pre>a <b>b</b> c</pre>", "a b c"),
        ("", ""),
        ("<p> <b> </b> </p>", ""),
        ("<p>nul \0 and half &#xd800; and &#0;", "nul \ufffd and half \ufffd and \ufffd"),
    ],
)
def test_text_is_as_a_page_shows_it(source: str, expected: str) -> None:
    assert text_of(source) == expected


@pytest.mark.parametrize(
    "unseen",
    [
        "<script>alert('Anna')</script>",
        "<script src='http://127.0.0.1:1/x.js'></script>",
        "<style>p { color: red }</style>",
        "<template><p>Anna</p></template>",
        "<noscript>Turn it on</noscript>",
        "<nav><ul><li>Home</ul></nav>",
        "<svg><text>Anna</text></svg>",
        "<iframe src='http://127.0.0.1:1/'>x</iframe>",
        "<p hidden>Anna</p>",
        "<!-- Anna -->",
        "<?php echo 'Anna' ?>",
        "<textarea>Anna</textarea>",
        "<select><option>Anna</select>",
        "<object data='http://127.0.0.1:1/'>x</object>",
        "<img src='http://127.0.0.1:1/x.png' alt='a picture of Anna'>",
        "<span class='pagenum'>[Pg 12]</span>",
        "<a epub:type='noteref' href='#n'>12</a>",
        "<a role='doc-noteref'>12</a>",
        "<head><title>Anna</title></head>",
    ],
)
def test_what_is_no_prose_is_left_out(unseen: str) -> None:
    assert text_of(f"<p>before</p>{unseen}<p>after</p>") == "before\n\nafter"


def test_headings_become_sections(tmp_path: Path) -> None:
    path = tmp_path / "story.html"
    path.write_text(
        "<h2>One <i>more</i></h2><p>Anna left.</p><h4>Inside</h4>It rained.<h2></h2><h2><img alt='Two'></h2><p>End.</p>"
    )
    assert format_of_input(path).name == "html"
    assert sections(path) == [
        ("One more", 1, "One more\n\nAnna left.\n\nInside\n\nIt rained.\n\n"),
        ("Inside", 2, "Inside\n\nIt rained.\n\n"),
        ("Two", 1, "End."),
    ]
    (document,) = read_documents(path)
    assert document.key == "story"


def test_an_image_may_be_the_first_letter_of_a_chapter() -> None:
    assert text_of("<p><img alt='A'>lice was tired.") == "Alice was tired."


def test_elements_inside_each_other_without_end_are_refused() -> None:
    with pytest.raises(InputError, match="more than 5,000 elements stand inside each other"):
        text_of("<div>" * 200_000 + "Anna")
    assert text_of("<b>" * 3000 + "Anna") == "Anna"


def test_a_text_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(book, "LONGEST_TEXT", 1000)
    with pytest.raises(InputError, match="more than 1,000 characters of text"):
        text_of("<p>Anna left. " * 200)
    monkeypatch.setattr(html, "LARGEST_PAGE", 1 << 20)
    with pytest.raises(InputError, match="more than 1 megabytes"):
        text_of(" " * (2 << 20))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<p>Café".encode(), "Café"),
        ("\ufeff<p>Café".encode(), "Café"),
        ("<p>Café".encode("utf-16"), "Café"),
        ('<meta charset="windows-1252"><p>“Café”'.encode("cp1252"), "“Café”"),
        (
            '<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-1"><p>“Café”'.encode("cp1252"),
            "“Café”",
        ),
        ('<?xml version="1.0" encoding="iso-8859-2"?><html><p>Łódź</p></html>'.encode("iso-8859-2"), "Łódź"),
        ('<meta charset="no-such"><p>Café'.encode(), "Café"),
        ('<meta charset="utf-16"><p>Café'.encode(), "Café"),
    ],
)
def test_encodings_are_those_that_a_page_says(content: bytes, expected: str) -> None:
    assert taken_out(html.extract, content).text == expected


def test_an_encoding_that_is_not_said_can_be_named() -> None:
    content = "<p>Café".encode("cp1252")
    with pytest.raises(InputError, match=r"^book:1: not valid utf-8: byte 0xe9 at offset 6") as caught:
        taken_out(html.extract, content)
    assert caught.value.remedy is Remedy.BAD_BYTES
    assert taken_out(html.extract, content, encoding="cp1252").text == "Café"


MARKDOWN = """\
---
title: not prose
---
# The Book

Anna *met* [Carl](http://127.0.0.1:1/)
in the **harbour**.\\
She left.

Two
---

- one
- `two`

| a | b |
|---|---|
| c | d |

<script>alert(1)</script>

He said <em>no</em> ~~yes~~ ![picture](x.png).
"""


def test_markdown(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_text(MARKDOWN)
    assert format_of_input(path).name == "markdown"
    (document,) = read_documents(path)
    text = (
        "The Book\n\nAnna met Carl in the harbour.\nShe left.\n\nTwo\n\none\n\ntwo\n\na\tb\n\nc\td\n\nHe said no yes ."
    )
    assert (document.key, document.text) == ("notes", text)
    assert [(title, level) for title, level, _ in sections(path)] == [("The Book", 1), ("Two", 2)]
    with pytest.raises(InputError, match=r"book:1: not valid utf-8: byte 0xeb"):
        taken_out(markdown.extract, "# Zoë".encode("cp1252"))
    assert taken_out(markdown.extract, b"Anna <meta charset='cp1252'> ran \xc3\xa9").text == "Anna ran é"


@pytest.mark.parametrize("source", ["[" * 5000, "> " * 5000 + "a", "*a " * 5000, "`" * 5000, "<" * 5000])
def test_markdown_that_is_hard_to_read_is_read(source: str) -> None:
    taken_out(markdown.extract, source.encode())


PARTS = st.sampled_from([*"ab <>/\n&;'\"=!-#*`[]()|", "<p>", "</b>", "<h1>", "</h1>", "<pre>", "&amp;", "<?xml "])


@given(st.lists(PARTS, max_size=60).map("".join))
def test_any_markup_gives_a_text_whose_headings_are_in_it(source: str) -> None:
    for extract in (html.extract, markdown.extract):
        found = taken_out(extract, source.encode())
        assert found.text == found.text.rstrip("\n")
        assert all(0 <= one.start <= len(found.text) for one in found.headings)
        assert [one.start for one in found.headings] == sorted(one.start for one in found.headings)
        found.document("any")
