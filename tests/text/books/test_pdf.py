"""PDF: the text layer as running text, chapters by the outline, and what has no text or is not to be read."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest

pytest.importorskip("pypdf", reason="the extra books is not installed")

import pypdf

from streamcoref.errors import InputError
from streamcoref.formats import format_of_input, read_documents
from streamcoref.text.books import pdf as reading
from streamcoref.text.books.pdf import extract
from streamcoref.text.books.pdf_lines import joined_pages
from tests.text.books.making import complaint, damaged_copies, pdf, sections, taken_out

FULL = "and so it went on for a good while, line after line,"


def test_pages_become_one_text_with_the_outline_as_sections(tmp_path: Path) -> None:
    path = tmp_path / "novel.pdf"
    path.write_bytes(
        pdf(
            [
                ["Chapter One", "Anna met Carl (the captain)", "on the", "ship."],
                ["Chapter Two", "She left.", "A Letter", "He wrote."],
                ["The end."],
            ],
            [("Chapter One", 1, 0), ("Chapter  two", 1, 1), ("A Letter", 2, 1), ("Not to be found", 1, 2)],
        )
    )
    assert format_of_input(path).name == "pdf"
    (document,) = read_documents(path)
    text = document.text or ""
    assert document.key == "novel"
    assert " ".join(text.split()) == (
        "Chapter One Anna met Carl (the captain) on the ship. Chapter Two She left. A Letter He wrote. The end."
    )
    assert [text[a:b] for a, b in document.offsets] == list(document.words)
    assert [(title, level, part.split("\n")[0]) for title, level, part in sections(path)] == [
        ("Chapter One", 1, "Chapter One"),
        ("Chapter two", 1, "Chapter Two"),
        ("A Letter", 2, "A Letter"),
        ("Not to be found", 1, "The end."),
    ]


def test_without_an_outline_headings_that_are_plain_to_see(tmp_path: Path) -> None:
    path = tmp_path / "plain.pdf"
    path.write_bytes(
        pdf([["CHAPTER I", "Anna went on,", FULL, "and left."], ["CHAPTER II", "He wrote to her,", FULL, "and left."]])
    )
    assert [title for title, *_ in sections(path)] == ["CHAPTER I", "CHAPTER II"]


@pytest.mark.parametrize(
    ("pages", "expected"),
    [
        (["Anna had an extra-", "ordinary day."], "Anna had an extraordinary day."),
        (["a well-known man, and a well-", "known ship"], "a well-known man, and a well-known ship"),
        (["the Anglo-", "Saxons"], "the Anglo-\nSaxons"),
        (["soft\u00ad", "ly"], "softly"),
        ([f"{FULL}", "it ended.", "A new one began,", f"{FULL}"], f"{FULL}\nit ended.\n\nA new one began,\n{FULL}"),
        ([FULL, "it ended.", "and went on"], f"{FULL}\nit ended.\nand went on"),
        ([FULL, "", "Anna"], f"{FULL}\n\nAnna"),
        (["a", "", "b", "", "c", "", "d"], "a\nb\nc\nd"),
        (["", ""], ""),
    ],
)
def test_lines_become_paragraphs(pages: list[str], expected: str) -> None:
    assert joined_pages(["\n".join(pages)]) == (expected, [0])


def test_a_sentence_goes_on_over_the_page_without_what_is_printed_there() -> None:
    pages = [
        f"THE HARBOUR {number + 9}\nIn part {number} Anna walked to the har-\nbour, and the sea before\n-{number + 9}-"
        for number in range(4)
    ]
    text, starts = joined_pages(pages)
    assert "THE HARBOUR" not in text
    assert text.replace("\n", " ").startswith("In part 0 Anna walked to the harbour, and the sea before In part 1")
    assert [text[start:][:9] for start in starts] == [f"In part {number}" for number in range(4)]


def test_numbers_and_lines_that_are_no_page_numbers_stay() -> None:
    pages = [
        "CHAPTER 1\nAnna left.",
        "CHAPTER 2\nShe wrote.",
        "CHAPTER 7\nHe came.",
        "1815\nWar.",
        "“Yes.”\nno",
        "“Yes.”\na",
    ]
    text, _ = joined_pages(pages)
    assert all(line in text for page in pages for line in page.split("\n"))
    # a heading that is repeated above its pages stays where it stands first
    text, _ = joined_pages([f"CHAPTER I\nAnna {word}." for word in ("left", "wrote", "came", "saw")])
    assert text.count("CHAPTER I") == 1
    assert text.startswith("CHAPTER I")


def test_an_empty_page_starts_where_the_next_one_does() -> None:
    assert joined_pages(["", "Anna left.", "", ""]) == ("Anna left.", [0, 0, 10, 10])


def test_characters_that_no_text_has() -> None:
    assert joined_pages(["An\0na \ud800 left"]) == ("An\ufffdna \ufffd left", [0])


def test_images_of_pages_have_no_text() -> None:
    with pytest.raises(InputError, match=r"^book: this PDF has no text layer, .* \(OCR\) add one first$"):
        taken_out(extract, pdf([[], []]))


def test_with_a_password_it_is_refused_and_without_one_it_is_read() -> None:
    with pytest.raises(InputError, match=r"^book: this PDF is encrypted; save it without a password first$"):
        taken_out(extract, pdf([["Anna left."]], password="secret"))
    assert taken_out(extract, pdf([["Anna left."]], password="")).text == "Anna left."


@pytest.mark.parametrize("content", [b"%PDF-1.7\n", b"", b"%PDF-1.7\n1 0 obj\n<<", pdf([["Anna left."]])[:250]])
def test_damaged_ones_are_one_sentence(content: bytes) -> None:
    with pytest.raises(InputError, match=r"^book: this PDF (is damaged|has no text)") as caught:
        taken_out(extract, content)
    assert "\n" not in str(caught.value)


def test_damage_anywhere_is_a_sentence_or_does_no_harm() -> None:
    content = pdf([["Anna left."], ["She wrote."]], [("One", 1, 0), ("Two", 2, 1)])
    assert all("\n" not in complaint(extract, copy) for copy in damaged_copies(content, 150, 7))


def test_nothing_is_printed_of_what_its_reader_passes_over(capfd: pytest.CaptureFixture[str]) -> None:
    content = pdf([["Anna left."]]).replace(b"startxref\n", b"startxref\n9")
    logging.getLogger("pypdf").handlers.clear()
    assert taken_out(extract, content).text == "Anna left."
    assert capfd.readouterr().err == ""


def test_what_has_no_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    content = pdf([["Anna left."]] * 5)
    monkeypatch.setattr(reading, "MOST_PAGES", 3)
    with pytest.raises(InputError, match="or 3 pages, as no book has"):
        taken_out(extract, content)
    monkeypatch.setattr(reading, "MOST_PAGES", 100)
    monkeypatch.setattr(reading, "LONGEST_TEXT", 20)
    with pytest.raises(InputError, match="more than 20 characters"):
        taken_out(extract, content)


def test_a_stream_that_unpacks_without_end_is_stopped() -> None:
    """By its reader: the content of the page is 200 MB of blanks."""
    import zlib

    packed = zlib.compress(b" " * 200_000_000, 9)
    content = pdf([["Anna left."]])
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(content))
    stream = pypdf.generic.EncodedStreamObject()
    stream[pypdf.generic.NameObject("/Filter")] = pypdf.generic.NameObject("/FlateDecode")
    stream._data = packed
    writer.pages[0][pypdf.generic.NameObject("/Contents")] = writer._add_object(stream)
    written = io.BytesIO()
    writer.write(written)
    assert len(written.getvalue()) < 1_000_000
    with pytest.raises(InputError, match="this PDF is damaged: LimitReachedError"):
        taken_out(extract, written.getvalue())
