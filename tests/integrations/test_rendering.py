"""The coloured text: exactly the characters of the document, a proper tree, nothing that could run."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given

import streamcoref
from streamcoref import Document, StreamcorefError
from tests import toy_resolver
from tests.formats.generated_documents import documents


class Page(HTMLParser):
    """The text of the inner element that has it, and every mark with the text that is in it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.text = ""
        self.before = ""
        self.marks: list[tuple[str, str]] = []  # name and text
        self._open: list[tuple[str, str, int]] = []  # tag, title, where it begins
        self._inside = False
        self.feed(html)
        self.close()
        assert not self._open, "not every element is closed"

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = dict(attributes)
        self.tags.add(tag)
        self.attributes |= set(values)
        self._inside = self._inside or values.get("dir") == "auto"
        self._open.append((tag, values.get("title") or "", len(self.text)))

    def handle_endtag(self, tag: str) -> None:
        opened, title, start = self._open.pop()
        assert opened == tag
        if tag == "span" and self._inside:
            self.marks.append((title, self.text[start:]))
        self._inside = self._inside and tag != "div"

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.text += data
        else:
            self.before += data


@given(documents())
def test_the_characters_are_those_of_the_text(document: Document) -> None:
    page = Page(streamcoref.render(document))
    assert page.text == document.with_text().text
    assert page.tags <= {"div", "p", "span"}
    assert page.attributes <= {"style", "title", "dir"}
    marked = [text for _, text in page.marks]
    for entity in document.with_text().entities:
        for mention in entity.mentions:
            assert mention.text in marked or any(text and text in mention.text for text in marked)


def test_nested_and_crossing_mentions() -> None:
    words = ("the", "captain", "of", "the", "ship", "left")
    document = Document("d", words, (6,), (((0, 5),), ((3, 5),), ((4, 6),), ((5, 6),)))
    page = Page(streamcoref.render(document))
    assert page.marks == [
        ("the ship left"[4:], "ship"),
        ("the ship", "the ship"),
        ("the captain of the ship", "the captain of the ship"),
        ("left", "left"),
        ("ship left", " left"),
    ]


def test_nothing_of_a_text_is_markup() -> None:
    words = ("<script>alert(1)</script>", "said", "\"'&<b>", "<script>alert(1)</script>")
    document = Document("d", words, (4,), (((0, 1), (3, 4)), ((2, 3),)))
    html = streamcoref.render(document)
    assert "<script" not in html
    assert "<b>" not in html
    assert Page(html).text == " ".join(words)
    assert Page(html).marks[0] == (words[0], words[0])


def test_long_texts_are_cut_with_a_note() -> None:
    document = toy_resolver.resolver().resolve(toy_resolver.plain_text(2, 3000))
    text = document.text or ""
    shown = Page(document._repr_html_())
    assert 4900 < len(shown.text) <= 5000
    assert text.startswith(shown.text)
    assert f"{len(text) - len(shown.text):,} more characters are not shown" in shown.before
    assert len(document._repr_html_()) < 250_000
    assert Page(streamcoref.render(document)).text == text
    assert "not shown" not in streamcoref.render(document)
    short = Page(streamcoref.render(document, limit=30))
    assert len(short.text) <= 30
    with pytest.raises(StreamcorefError, match="limit is 0"):
        streamcoref.render(document, limit=0)


def test_a_mention_that_the_end_cuts_is_cut() -> None:
    words = ("the", "old", "captain")
    page = Page(streamcoref.render(Document("d", words, (3,), (((0, 3),),)), limit=9))
    assert page.text == "the old"
    assert page.marks == [("the old captain", "the old")]


def test_an_entity_has_one_colour_and_stands_in_the_list() -> None:
    document = Document("d", ("Ann", "and", "Bob", "and", "Ann"), (5,), (((0, 1), (4, 5)), ((2, 3),)))
    html = streamcoref.render(document)
    marks = [part.partition(">")[0] for part in html.split("<span")[1:]]
    assert [mark.split('"')[1] for mark in marks] == ["Ann", "Bob", "Ann", "Bob", "Ann"]
    assert marks[0] == marks[2] == marks[4] != marks[1] == marks[3]
    many = Document("m", tuple(f"w{i}" for i in range(20)), (20,), tuple(((i, i + 1),) for i in range(20)))
    assert "and 8 more" in Page(streamcoref.render(many)).before
    assert "No entities" in Page(streamcoref.render(Document("e", (), ()))).before


def test_what_a_notebook_shows() -> None:
    document = toy_resolver.resolver().resolve("Anna left. She saw him.")
    markup = streamcoref.render(document)
    assert isinstance(markup, str)
    assert markup._repr_html_() == str(markup) == document._repr_html_()
    with pytest.raises(StreamcorefError, match="not a str"):
        streamcoref.render("Anna left.")  # type: ignore[arg-type]


def test_a_doc_of_spacys() -> None:
    spacy = pytest.importorskip("spacy", reason="spaCy is not installed: pip install 'streamcoref[spacy]'")
    from streamcoref.integrations.spacy_docs import put_answer, unanswered

    doc = spacy.blank("en")("Anna  left. She saw him \n there.")
    put_answer(doc, toy_resolver.resolver().resolve(document=unanswered(doc), singletons=True))
    page = Page(streamcoref.render(doc))
    assert page.text == doc.text
    assert page.marks
