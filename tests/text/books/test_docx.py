"""Word files: paragraphs and headings as Word shows them now, of files by python-docx and of hostile ones."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

pytest.importorskip("docx", reason="python-docx, which writes these files, is not installed")
pytest.importorskip("lxml", reason="the extra books is not installed")

import docx

from streamcoref.errors import InputError
from streamcoref.formats import format_of_input, read_documents
from streamcoref.text.books import packed
from streamcoref.text.books.docx import extract
from tests.text.books.making import complaint, damaged_copies, sections, taken_out, zipped

W = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def story() -> bytes:
    document = docx.Document()
    document.add_heading("The Harbour", 0)
    document.add_heading("Chapter One", 1)
    paragraph = document.add_paragraph("Anna met ")
    paragraph.add_run("Ca").bold = True
    paragraph.add_run("rl.\nShe\tleft.")
    document.add_heading("Later", 2)
    document.add_paragraph("  He   wrote to her.  ")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "left", "right"
    document.add_heading("Chapter Two", 1)
    document.add_paragraph("End.")
    document.sections[0].header.paragraphs[0].text = "A running title"
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def body(content: str, styles: str = "") -> bytes:
    """A Word file with this in its body."""
    parts = {
        "word/document.xml": f'<w:document xmlns:w="{W}" xmlns:mc="http://schemas.openxmlformats.org/'
        f'markup-compatibility/2006" xmlns:a="urn:other"><w:body>{content}</w:body></w:document>'
    }
    if styles:
        parts["word/styles.xml"] = f'<w:styles xmlns:w="{W}">{styles}</w:styles>'
    return zipped(parts)


def text_of(content: str) -> str:
    return taken_out(extract, body(content)).text


def test_paragraphs_and_headings(tmp_path: Path) -> None:
    path = tmp_path / "story.docx"
    path.write_bytes(story())
    assert format_of_input(path).name == "docx"
    (document,) = read_documents(path)
    text = (
        "The Harbour\n\nChapter One\n\nAnna met Carl.\nShe left.\n\nLater\n\nHe wrote to her.\n\nleft\n\nright\n\n"
        "Chapter Two\n\nEnd."
    )
    assert (document.key, document.text) == ("story", text)
    assert [text[a:b] for a, b in document.offsets] == list(document.words)
    assert [(title, level) for title, level, _ in sections(path)] == [
        ("Chapter One", 1),
        ("Later", 2),
        ("Chapter Two", 1),
    ]
    assert sections(path)[-1][2] == "Chapter Two\n\nEnd."


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("<w:p><w:r><w:t>An</w:t></w:r><w:ins><w:r><w:t>na</w:t></w:r></w:ins></w:p>", "Anna"),
        ("<w:p><w:del><w:r><w:delText>Ben</w:delText></w:r></w:del><w:r><w:t>Anna</w:t></w:r></w:p>", "Anna"),
        ("<w:p><w:moveFrom><w:r><w:t>Ben</w:t></w:r></w:moveFrom><w:r><w:t>Anna</w:t></w:r></w:p>", "Anna"),
        ("<w:sdt><w:sdtContent><w:p><w:r><w:t>Anna</w:t></w:r></w:p></w:sdtContent></w:sdt>", "Anna"),
        ("<w:p><w:hyperlink><w:r><w:t>Anna</w:t></w:r></w:hyperlink></w:p>", "Anna"),
        ("<w:p><w:r><w:instrText>PAGEREF x</w:instrText><w:t>Anna</w:t></w:r></w:p>", "Anna"),
        ("<w:p><w:r><w:t>a</w:t><w:noBreakHyphen/><w:t>b</w:t><w:softHyphen/><w:t>c</w:t></w:r></w:p>", "a-bc"),
        ("<w:p><w:r><w:t>a</w:t><w:br/><w:t>b</w:t><w:br w:type='page'/><w:t>c</w:t></w:r></w:p>", "a\nb c"),
        ("<w:p><a:t>other</a:t><w:r><w:t>Anna</w:t></w:r></w:p>", "Anna"),
        ("<w:p/><w:p/><w:p><w:r><w:t>Anna</w:t></w:r></w:p><w:p/>", "Anna"),
        ("", ""),
        (
            "<w:p><w:r><w:t>Anna</w:t></w:r><w:r><mc:AlternateContent><mc:Choice><w:txbxContent><w:p><w:r>"
            "<w:t>a box</w:t></w:r></w:p></w:txbxContent></mc:Choice>"
            "<mc:Fallback><w:txbxContent><w:p><w:r><w:t>a box</w:t></w:r></w:p>"
            "</w:txbxContent></mc:Fallback></mc:AlternateContent></w:r><w:r><w:t> left.</w:t></w:r></w:p>",
            "Anna left.\n\na box",
        ),
    ],
)
def test_what_word_shows(content: str, expected: str) -> None:
    assert text_of(content) == expected


def test_outline_levels_of_styles_and_of_paragraphs() -> None:
    styles = (
        '<w:style w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:pPr><w:outlineLvl w:val="0"/></w:pPr></w:style>'
        '<w:style w:styleId="Mine"><w:name w:val="Mine"/><w:basedOn w:val="Kapitel"/></w:style>'
        '<w:style w:styleId="h3"><w:name w:val="heading 3"/></w:style>'
        '<w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style>'
    )

    def paragraph(style: str, text: str, more: str = "") -> str:
        return f'<w:p><w:pPr><w:pStyle w:val="{style}"/>{more}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>'

    content = (
        paragraph("Kapitel", "One")
        + paragraph("Loop", "Prose.")
        + paragraph("h3", "Inside")
        + paragraph("Mine", "Two")
        + paragraph("Mine", "Prose after all.", '<w:outlineLvl w:val="9"/>')
        + paragraph("None", "Three", '<w:outlineLvl w:val="0"/>')
        + paragraph("Kapitel", "")
    )
    book = taken_out(extract, body(content, styles))
    assert [(one.title, one.level) for one in book.headings] == [("One", 1), ("Inside", 2), ("Two", 1), ("Three", 1)]


def test_other_files_of_office_are_no_word_files() -> None:
    relation = (
        '<Relationships><Relationship Type="http://x/relationships/officeDocument" Target="xl/workbook.xml"/>'
        "</Relationships>"
    )
    sheet = zipped({"[Content_Types].xml": "<Types/>", "_rels/.rels": relation, "xl/workbook.xml": "<workbook/>"})
    with pytest.raises(InputError, match=r"^book: this is no Word file; "):
        taken_out(extract, sheet)
    with pytest.raises(InputError, match=r"^book: this is no Word file; "):
        taken_out(extract, zipped({"a.txt": "Anna"}))


def test_a_main_part_of_another_name() -> None:
    relation = (
        '<Relationships><Relationship Type="http://x/officeDocument" Target="/word/document2.xml"/></Relationships>'
    )
    document = f'<w:document xmlns:w="{W}"><w:body><w:p><w:r><w:t>Anna</w:t></w:r></w:p></w:body></w:document>'
    assert taken_out(extract, zipped({"_rels/.rels": relation, "word/document2.xml": document})).text == "Anna"


def test_hostile_files_are_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("a secret")
    laughs = f'<!DOCTYPE w [<!ENTITY a SYSTEM "{secret.as_uri()}">]>'
    with pytest.raises(InputError, match=r"its part word/document\.xml has a document type"):
        taken_out(extract, zipped({"word/document.xml": f"{laughs}<w>&a;</w>"}))
    with pytest.raises(InputError, match=r"its part word/document\.xml is no XML of Word"):
        taken_out(extract, zipped({"word/document.xml": "<w:p>"}))
    with pytest.raises(InputError, match="this Word file is damaged"):
        text_of("<w:p>" * 1500 + "</w:p>" * 1500)
    monkeypatch.setattr(packed, "LARGEST_PART", 1 << 20)
    with pytest.raises(InputError, match="more than 1 megabytes when it is unpacked"):
        text_of("<w:p><w:r><w:t>" + "Anna " * 400_000 + "</w:t></w:r></w:p>")


def test_damage_anywhere_is_a_sentence_or_does_no_harm() -> None:
    content = story()
    assert all("\n" not in complaint(extract, copy) for copy in damaged_copies(content, 150, 6))
