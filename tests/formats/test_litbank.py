from __future__ import annotations

import pytest
from generated_documents import content, crosses, documents, read, written
from hypothesis import given

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats.litbank import FORMAT


def row(word: str, brackets: str, unused: str = "_") -> str:
    return "\t".join(["1_book_brat", "0", "0", word, *[unused] * 8, brackets]) + "\n"


def book(*rows: str, part: str = "0") -> str:
    return f"#begin document (1_book_brat); part {part}\n{''.join(rows)}#end document\n"


def test_empty_last_cell_and_several_brackets() -> None:
    (document,) = read(FORMAT, book(row("Sir", "(0|(1)"), row("W", "", unused=""), "\n", row("A", "0)|(1)")))
    assert document.key == "1_book_brat"
    assert document.sentences == (("Sir", "W"), ("A",))
    assert document.clusters == (((0, 1), (2, 3)), ((0, 3),))
    assert document.speakers == ()


def test_part_in_the_key_and_windows_line_ends() -> None:
    (document,) = read(FORMAT, book(row("A", ""), part="2").replace("\n", "\r\n"))
    assert (document.key, document.words) == ("1_book_brat_2", ("A",))


@given(documents(speakers=None))
def test_round_trip(document: Document) -> None:
    if crosses(document):
        with pytest.raises(StreamcorefError, match="cross"):
            written(FORMAT, document)
    else:
        (again,) = read(FORMAT, written(FORMAT, document))
        assert content(again) == content(document)


def test_words_may_have_blanks() -> None:
    document = Document.from_sentences("k k", [["New York", "is"]])
    (again,) = read(FORMAT, written(FORMAT, document))
    assert content(again) == content(document)


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (Document.from_sentences("k", [["a"]], speakers=["X"]), "it has speakers"),
        (Document.from_sentences("k", [["a\tb"]]), "word 0"),
        (Document.from_sentences("k", [[""]]), "word 0"),
        (Document.from_sentences("k\n", [["a"]]), "line end"),
    ],
)
def test_what_it_cannot_hold(document: Document, message: str) -> None:
    with pytest.raises(StreamcorefError, match=f"{message}.*jsonlines"):
        written(FORMAT, document)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        ("a\tb\n", "2 columns between tabs where LitBank has 13"),
        (row("", ""), "the word, is empty"),
        (row("x", "(4"), "never closed"),
        (row("x", "4)"), "no '\\(4' has opened"),
        (row("x", "4"), "not made of brackets"),
    ],
)
def test_bad_lines_are_named(bad: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(FORMAT, book(row("A", ""), bad), "bad.conll")
    assert str(caught.value).startswith("bad.conll:3: ")
