"""Paragraphs from who speaks."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamcoref import Document, InputError
from streamcoref.corpora import with_paragraphs
from streamcoref.model.words import document_words

TALK = Document.from_sentences(
    "talk",
    [
        ["It", "rained", "."],
        ["Anna", "said", ":", "“", "No", ".", "”"],
        ["“", "Never", ".", "”"],
        ["“", "Why", "?", "”", "he", "asked", "."],
        ["“", "So", ".", "”"],
    ],
    clusters=[[(3, 4), (17, 18)]],
)
QUOTATIONS = (
    "QUOTE\tQ1\t1\t3\t1\t6\t“ No . ”\nQUOTE\tQ2\t2\t0\t2\t3\t“ Never . ”\nQUOTE\tQ3\t3\t0\t3\t3\t“ Why ? ”\n"
    "QUOTE\tQ4\t4\t0\t4\t3\t“ So . ”\nATTRIB\tQ1\tAnna-1\nATTRIB\tQ2\tAnna-1\nATTRIB\tQ3\tBen-2\nATTRIB\tQ4\tAnna-1\n"
)


def test_one_begins_where_another_one_speaks(tmp_path: Path) -> None:
    (tmp_path / "talk.ann").write_text(QUOTATIONS, encoding="utf-8")
    found = with_paragraphs(TALK, tmp_path)
    assert found.text == "It rained .\n\nAnna said : “ No . ” “ Never . ”\n\n“ Why ? ” he asked .\n\n“ So . ”"
    assert (found.words, found.sentence_ends, found.clusters) == (TALK.words, TALK.sentence_ends, TALK.clusters)
    assert [word.text for word in document_words(found) if word.paragraph] == ["Anna", "“", "“"]
    assert not any(word.paragraph for word in document_words(TALK))
    assert with_paragraphs(found, tmp_path) is found  # a text has its own


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("QUOTE\tQ1\t9\t0\t9\t3\tx\n", "has no word 0 in sentence 9"),
        ("QUOTE\tQ1\t0\t3\t9\t3\tx\n", "has no word 3 in sentence 0"),
        ("QUOTE\tQ1\tx\t3\t9\t3\tx\n", "neither a quotation"),
        ("ATTRIB\tQ1\tAnna\n", "neither a quotation"),
        ("nonsense\n", "neither a quotation"),
    ],
)
def test_files_that_are_no_quotations(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "talk.ann").write_text(content, encoding="utf-8")
    with pytest.raises(InputError, match=said) as raised:
        with_paragraphs(TALK, tmp_path)
    assert "talk.ann" in str(raised.value)


def test_a_document_without_quotations_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no quotations for the document talk"):
        with_paragraphs(TALK, tmp_path)
