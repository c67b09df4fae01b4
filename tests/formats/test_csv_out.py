"""CSV out."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

import pytest

from streamcoref import Document, StreamcorefError
from streamcoref.formats import csv_writer
from streamcoref.formats.csv_out import COLUMNS
from streamcoref.text import document_from_text


def rows(*documents: Document, defuse: bool = False) -> list[dict[str, str]]:
    stream = io.StringIO()
    csv_writer(defuse=defuse)(documents, stream)
    assert "\r" not in stream.getvalue().replace("\r\nand", "")
    return list(csv.DictReader(io.StringIO(stream.getvalue(), newline="")))


def test_one_row_a_mention_in_the_order_of_the_text() -> None:
    document = replace(
        document_from_text('d, "1"', 'Ann, "Bo"\r\nand I left. We sang.'),
        clusters=(((0, 7), (9, 10)), ((6, 7),)),
        scores={(6, 7): 0.5},
    )
    first, second, third = rows(document)
    assert first == {
        "document": 'd, "1"',
        "entity": "0",
        "name": 'Ann, "Bo" and I',
        "size": "2",
        "text": 'Ann, "Bo"\r\nand I',
        "start": "0",
        "end": "16",
        "word_start": "0",
        "word_end": "7",
        "sentence": "0",
        "score": "",
    }
    assert (second["text"], second["entity"], second["score"]) == ("I", "1", "0.5")
    assert (third["text"], third["entity"], third["sentence"], third["start"]) == ("We", "0", "1", "23")


def test_the_header_is_there_without_mentions() -> None:
    stream = io.StringIO()
    csv_writer(defuse=False)([Document("e", (), ())], stream)
    assert stream.getvalue() == ",".join(COLUMNS) + "\n"


def test_types_have_columns_where_there_are_any() -> None:
    one = Document.from_sentences(
        "one", [["Ann", "ran"], ["She", "fell"]], predicted_clusters=[[(0, 1), (2, 3)], [(1, 2)]]
    )
    typed = replace(one, types={(0, 1): ("person", 0.75)})
    found = rows(Document("none", (), ()), typed)
    assert [(row["text"], row["type"], row["type_score"]) for row in found] == [
        ("Ann", "person", "0.75"),
        ("ran", "", ""),
        ("She", "person", "0.75"),
    ]
    assert list(found[0]) == [*COLUMNS, "type", "type_score"]
    assert list(rows(one)[0]) == list(COLUMNS)
    assert [row["type"] for row in rows(typed, one)] == ["person", "", "person", "", "", ""]
    with pytest.raises(StreamcorefError, match="'two': its entities have types and those of documents before it"):
        rows(one, replace(typed, key="two"))


def test_several_documents_and_no_text() -> None:
    one = Document.from_sentences("one", [["A", "b"]], clusters=[[(0, 2)]])
    found = rows(one, replace(one, key="two"))
    assert [(row["document"], row["text"], row["start"], row["end"]) for row in found] == [
        ("one", "A b", "0", "3"),
        ("two", "A b", "0", "3"),
    ]


def test_cells_that_a_spreadsheet_would_run_are_defused_if_asked() -> None:
    texts = ["=cmd()", "+1", "-x", "@SUM", "\tx", "＝1", "a=b"]
    ends = tuple(range(1, len(texts) + 1))
    document = Document("=k", tuple(texts), ends, tuple(((i, i + 1),) for i in range(len(texts))))
    assert [row["text"] for row in rows(document)] == texts
    defused = rows(document, defuse=True)
    assert [row["text"] for row in defused] == [*(f"'{text}" for text in texts[:-1]), "a=b"]
    assert {row["document"] for row in defused} == {"'=k"}
    assert [row["name"] for row in defused][:3] == ["'=cmd()", "'+1", "'-x"]
