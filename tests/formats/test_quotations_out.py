"""Quotations as a table."""

from __future__ import annotations

import csv
import io
from dataclasses import replace

from streamcoref import Document, Quotation
from streamcoref.formats import FORMATS, format_of_output, quotations_writer
from streamcoref.formats.quotations_out import COLUMNS
from streamcoref.text import document_from_text

TEXT = '"I am here, Ben," said Ann. "=1+1", and "no".'
TALK = replace(
    document_from_text("talk", TEXT),
    predicted_clusters=(((1, 2), (8, 9)), ((5, 6),)),
    quotations=(
        Quotation(15, 18, None, None, None, None, "unknown", 0.0),
        Quotation(0, 8, None, None, 0, 1, "named", 0.94),
    ),
)


def rows(*documents: Document, defuse: bool = False) -> list[dict[str, str]]:
    stream = io.StringIO()
    quotations_writer(defuse=defuse)(documents, stream)
    return list(csv.DictReader(io.StringIO(stream.getvalue(), newline="")))


def test_one_row_a_quotation_in_the_order_of_the_text() -> None:
    document = replace(TALK, predicted_clusters=(((1, 2), (9, 10)), ((5, 6),)))
    first, second = rows(document)
    assert first == {
        "document": "talk",
        "speaker": "0",
        "speaker_name": "Ann",
        "addressee": "1",
        "addressee_name": "Ben",
        "text": '"I am here, Ben,"',
        "start": "0",
        "end": "17",
        "word_start": "0",
        "word_end": "8",
        "kind": "named",
        "score": "0.94",
    }
    names = ("speaker", "speaker_name", "addressee", "addressee_name", "kind", "score")
    assert [second[name] for name in names] == ["", "", "", "", "unknown", "0.0"]
    assert TEXT[int(second["start"]) : int(second["end"])] == second["text"]


def test_the_header_is_there_without_quotations_and_words_are_joined_without_a_text() -> None:
    stream = io.StringIO()
    quotations_writer(defuse=False)([Document("e", (), ())], stream)
    assert stream.getvalue() == ",".join(COLUMNS) + "\n"
    words = Document("w", ('"', "No", '"'), (3,), quotations=(Quotation(0, 3, None, None, None, None, "unknown", 0.0),))
    (row,) = rows(words)
    assert (row["text"], row["start"], row["end"]) == ('" No "', "0", "6")


def test_cells_that_a_spreadsheet_would_run_are_defused_if_asked() -> None:
    said = Quotation(0, 2, None, None, 0, None, "named", 0.5)
    document = Document("=k", ("-", "no", "@Ann"), (3,), predicted_clusters=(((2, 3),),), quotations=(said,))
    (plain,), (defused,) = rows(document), rows(document, defuse=True)
    assert (plain["document"], plain["text"], plain["speaker_name"]) == ("=k", "- no", "@Ann")
    assert (defused["document"], defused["text"], defused["speaker_name"]) == ("'=k", "'- no", "'@Ann")
    assert defused["score"] == "0.5"


def test_the_name_of_a_file_tells() -> None:
    assert format_of_output("talk.quotations.csv").name == "quotations"
    assert format_of_output("talk.csv").name == "csv"
    assert [known.name for known in FORMATS.values() if known.write_defused] == ["csv", "quotations"]
