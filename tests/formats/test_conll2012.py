from __future__ import annotations

from pathlib import Path

import pytest
from generated_documents import content, crosses, documents, read, written
from hypothesis import given

from streamcoref.document import Document
from streamcoref.errors import InputError, StreamcorefError
from streamcoref.formats.conll2012 import FORMAT, read_raw

TWO_PARTS = """\
#begin document (bc/cctv/00/cctv_0001); part 000
bc/cctv/00/cctv_0001   0   0    Ann    NNP  (TOP(S*   -   -   -   Speaker#1  (PERSON)   *   (0|(1)
bc/cctv/00/cctv_0001   0   1   left    VBD          *   -   -   -   Speaker#1    *   (V*)      -
bc/cctv/00/cctv_0001   0   2     /.      .        *))   -   -   -   -    *   *     0)

bc/cctv/00/cctv_0001   0   0     Why   WRB  (TOP*   -   -   -   Bob    *   -
bc/cctv/00/cctv_0001   0   1     /?      .     *)   -   -   -   Bob    *   (1)

#end document
#begin document (bc/cctv/00/cctv_0001); part 012
#end document
"""


def test_many_parts_with_speakers_genre_and_escaped_punctuation() -> None:
    first, second = read(FORMAT, TWO_PARTS)
    assert first.key == "bc/cctv/00/cctv_0001_0"
    assert first.genre == "bc"
    assert first.sentences == (("Ann", "left", "."), ("Why", "?"))
    assert first.speakers == ("Speaker#1", "Speaker#1", "", "Bob", "Bob")
    assert first.clusters == (((0, 1), (4, 5)), ((0, 3),))
    assert (second.key, second.words) == ("bc/cctv/00/cctv_0001_12", ())


def test_line_ends_of_windows() -> None:
    assert read(FORMAT, TWO_PARTS.replace("\n", "\r\n")) == read(FORMAT, TWO_PARTS)


@pytest.mark.parametrize(
    ("line", "key"),
    [
        ("#begin document (a/b); part 003", "a/b_3"),
        ("#begin document (LuoTestCase); ", "LuoTestCase"),
        ("# begin document wiki", "wiki"),
        ("#begin document (x (y));", "x (y)"),
    ],
)
def test_ways_to_begin_a_document(line: str, key: str) -> None:
    (document,) = read(FORMAT, f"{line}\na 0 0 word -\n#end document\n")
    assert document.key == key


def test_columns_of_the_official_scorer() -> None:
    (five,) = read(FORMAT, "#begin document (a);\nt\t0\t0\tone\t(0)\n\nu\t0\t0\ttwo\t-\n#end document\n")
    assert five.sentences == (("one",), ("two",))
    (two,) = read(FORMAT, "#begin document (a); part 000\na (7\na 7)\n\na (7)\n#end document\n")
    assert two.words == ("_", "_", "_")
    assert two.clusters == (((0, 2), (2, 3)),)


def test_raw_clusters_are_neither_merged_nor_cleaned() -> None:
    text = "#begin document (a);\na 0 0 x (1)|(1)|(2)\na 0 1 y (2)\n#end document\n"
    (raw,) = read_raw(text.splitlines(), Path("a"))
    assert raw.clusters == [[(0, 1), (0, 1)], [(0, 1), (1, 2)]]
    (document,) = read(FORMAT, text)
    assert document.clusters == (((0, 1), (1, 2)),)


def test_closing_bracket_ends_the_latest_of_its_entity() -> None:
    rows = ["(0", "(0", "0)", "0)|(0", "0)"]
    text = "".join(f"d 0 {i} w {cell}\n" for i, cell in enumerate(rows))
    (document,) = read(FORMAT, f"#begin document (d);\n{text}#end document\n")
    assert document.clusters == (((0, 4), (1, 3), (3, 5)),)


@pytest.mark.parametrize(
    ("body", "line", "message"),
    [
        ("d 0 0 w (3\nd 0 1 w -\n#end document\n", 2, r"'\(3' opens a mention that is never closed"),
        ("d 0 0 w -\nd 0 1 w 3)\n#end document\n", 3, r"'3\)' closes a mention that no"),
        ("d 0 0 w -\nd 0 w -\n#end document\n", 3, "4 columns; a word needs at least 5"),
        ("d 0 0 w x x -\nd 0 1 w -\n#end document\n", 3, "5 columns where .* calls for 7"),
        ("d\n#end document\n", 2, "1 column;"),
        ("d 0 0 w 3\n#end document\n", 2, "not made of brackets"),
        ("d 0 0 w -\n", 1, "no '#end document'"),
        ("#begin document (e);\n", 2, "no '#end document' before this"),
        ("#end document\nd 0 0 w -\n", 3, "outside a document"),
        ("#end document\n#end document\n", 3, "without a '#begin document'"),
    ],
)
def test_bad_lines_are_named(body: str, line: int, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        read(FORMAT, f"#begin document (d);\n{body}", "bad.conll")
    assert str(caught.value).startswith(f"bad.conll:{line}: ")


def test_a_full_line_that_lost_a_column() -> None:
    lost = TWO_PARTS.replace("Bob    *   -", "Bob    -")
    with pytest.raises(InputError, match=r"f:6: 11 columns where .* 12 or more"):
        read(FORMAT, lost, "f")


@given(documents())
def test_round_trip(document: Document) -> None:
    if crosses(document):
        with pytest.raises(StreamcorefError, match=r"are of one entity and cross.*jsonlines"):
            written(FORMAT, document)
    else:
        (again,) = read(FORMAT, written(FORMAT, document))
        assert content(again) == content(document)


def test_every_line_has_the_columns_of_the_task() -> None:
    document = Document.from_sentences("nw/a_3", [["He", "left"]], [[(0, 1), (0, 2)]], speakers=["X", ""])
    assert written(FORMAT, document).split("\n") == [
        "#begin document (nw/a); part 003",
        "nw/a\t3\t0\tHe\t-\t*\t-\t-\t-\tX\t*\t(0|(0)",
        "nw/a\t3\t1\tleft\t-\t*\t-\t-\t-\t-\t*\t0)",
        "",
        "#end document",
        "",
    ]


def test_the_prediction_is_written_if_there_is_one() -> None:
    document = Document.from_sentences("a", [["x", "y"]], [[(0, 1)]], predicted_clusters=[[(1, 2)]])
    (again,) = read(FORMAT, written(FORMAT, document))
    assert again.clusters == (((1, 2),),)


@pytest.mark.parametrize("word", ["", "two words", "tab\tword", "line\n", "/.", "/?"])
def test_words_it_cannot_hold(word: str) -> None:
    with pytest.raises(StreamcorefError, match=r"document 'k': word 1 is .*jsonlines"):
        written(FORMAT, Document.from_sentences("k", [["ok", word]]))


@pytest.mark.parametrize("speaker", ["-", "two words"])
def test_speakers_it_cannot_hold(speaker: str) -> None:
    with pytest.raises(StreamcorefError, match="speaker of word 0"):
        written(FORMAT, Document.from_sentences("k", [["ok"]], speakers=[speaker]))


def test_key_it_cannot_hold() -> None:
    with pytest.raises(StreamcorefError, match="line end"):
        written(FORMAT, Document.from_sentences("a\nb", [["ok"]]))


def test_documents_come_out_before_the_file_is_read() -> None:
    lines_read = 0

    def endless() -> object:
        nonlocal lines_read
        while True:
            for line in ("#begin document (d);\n", "d 0 0 w (0)\n", "#end document\n"):
                lines_read += 1
                yield line

    documents_read = FORMAT.read(endless(), Path("endless"))  # type: ignore[misc, arg-type]
    for number in range(1, 4):
        next(documents_read)
        assert lines_read == 3 * number
